# The official ONNX C++ sources (schemas, checker, function bodies, inliner) as the static library `onnx_sources`.
# They live in a namespace of their own, with hidden symbols: a process that has another ONNX loaded is safe.
find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
set(_onnx ${CMAKE_BINARY_DIR}/_deps/onnx)
execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fetch_onnx.py ${_onnx}
  RESULT_VARIABLE _rc ERROR_VARIABLE _err)
if(NOT _rc EQUAL 0)
  message(FATAL_ERROR "${_err}")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fetch_onnx.py)

# The package name of a .proto is the C++ namespace of its messages. file(CONFIGURE) writes only what changed.
set(_onnx_gen ${CMAKE_BINARY_DIR}/_deps/onnx-gen)
set(_onnx_pb)
set(_onnx_pb_h)
set(_onnx_proto)
foreach(p onnx-ml onnx-operators-ml onnx-data)
  file(READ ${_onnx}/onnx/${p}.proto _text)
  string(REPLACE "package onnx;" "package optc_onnx;" _text "${_text}")
  file(CONFIGURE OUTPUT ${_onnx_gen}/onnx/${p}.proto CONTENT "${_text}" @ONLY)
  list(APPEND _onnx_pb ${_onnx_gen}/onnx/${p}.pb.cc)
  list(APPEND _onnx_pb_h ${_onnx_gen}/onnx/${p}.pb.h)
  list(APPEND _onnx_proto onnx/${p}.proto)
endforeach()
list(TRANSFORM _onnx_proto PREPEND ${_onnx_gen}/ OUTPUT_VARIABLE _onnx_proto_paths)
add_custom_command(
  OUTPUT ${_onnx_pb} ${_onnx_pb_h}
  COMMAND protobuf::protoc --cpp_out=${_onnx_gen} -I${_onnx_gen} ${_onnx_proto}
  DEPENDS ${_onnx_proto_paths} VERBATIM)

file(GLOB _onnx_sources ${_onnx}/onnx/defs/*.cc ${_onnx}/onnx/defs/*/*.cc ${_onnx}/onnx/common/*.cc
  ${_onnx}/onnx/inliner/*.cc ${_onnx}/onnx/shape_inference/*.cc ${_onnx}/onnx/version_converter/*.cc
  ${_onnx}/onnx/checker.cc)
add_library(onnx_sources STATIC ${_onnx_sources} ${_onnx_pb})
set_target_properties(onnx_sources PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON EXCLUDE_FROM_ALL ON)
# These two specialise, or instantiate, templates that other files of a unity group would instantiate before.
set_source_files_properties(${_onnx_pb} ${_onnx}/onnx/defs/tensor_proto_util.cc ${_onnx}/onnx/defs/schema.cc
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# -O1: registering the schemas takes 10 ms of every run of the compiler, against 46 ms at -O0.
target_compile_options(onnx_sources PRIVATE -O1 -g0 -fexceptions -w)
target_compile_definitions(onnx_sources PUBLIC ONNX_ML=1 ONNX_NAMESPACE=optc_onnx ONNX_USE_LITE_PROTO=1)
target_include_directories(onnx_sources SYSTEM PUBLIC ${_onnx_gen} ${_onnx})
target_link_libraries(onnx_sources PUBLIC protobuf::libprotobuf-lite)
# Users include generated headers.
add_custom_target(onnx_headers DEPENDS ${_onnx_pb_h})
optc_generated(onnx_headers)
