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

# The package name of a .proto is the C++ namespace of its messages. file(GENERATE)-like: only written on a change.
set(_onnx_gen ${CMAKE_BINARY_DIR}/_deps/onnx-gen)
set(_onnx_pb)
foreach(p onnx-ml onnx-operators-ml)
  file(READ ${_onnx}/onnx/${p}.proto _text)
  string(REPLACE "package onnx;" "package optc_onnx;" _text "${_text}")
  file(CONFIGURE OUTPUT ${_onnx_gen}/onnx/${p}.proto CONTENT "${_text}" @ONLY)
  list(APPEND _onnx_pb ${_onnx_gen}/onnx/${p}.pb.cc)
endforeach()
add_custom_command(
  OUTPUT ${_onnx_pb} ${_onnx_gen}/onnx/onnx-ml.pb.h ${_onnx_gen}/onnx/onnx-operators-ml.pb.h
  COMMAND protobuf::protoc --cpp_out=${_onnx_gen} -I${_onnx_gen} onnx/onnx-ml.proto onnx/onnx-operators-ml.proto
  DEPENDS ${_onnx_gen}/onnx/onnx-ml.proto ${_onnx_gen}/onnx/onnx-operators-ml.proto VERBATIM)

file(GLOB _onnx_sources ${_onnx}/onnx/defs/*.cc ${_onnx}/onnx/defs/*/*.cc ${_onnx}/onnx/common/*.cc
  ${_onnx}/onnx/inliner/*.cc ${_onnx}/onnx/shape_inference/*.cc ${_onnx}/onnx/version_converter/*.cc
  ${_onnx}/onnx/checker.cc)
add_library(onnx_sources STATIC ${_onnx_sources} ${_onnx_pb})
set_target_properties(onnx_sources PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON EXCLUDE_FROM_ALL ON)
set_source_files_properties(${_onnx_pb} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# The schemas are built once per process and are not hot: unoptimised code compiles three times faster.
target_compile_options(onnx_sources PRIVATE -O0 -g0 -fexceptions -w)
target_compile_definitions(onnx_sources PUBLIC ONNX_ML=1 ONNX_NAMESPACE=optc_onnx ONNX_USE_LITE_PROTO=1
  __ONNX_NO_DOC_STRINGS)
target_include_directories(onnx_sources SYSTEM PUBLIC ${_onnx_gen} ${_onnx})
target_link_libraries(onnx_sources PUBLIC protobuf::libprotobuf-lite)
# Users include generated headers.
add_custom_target(onnx_headers DEPENDS ${_onnx_gen}/onnx/onnx-ml.pb.h ${_onnx_gen}/onnx/onnx-operators-ml.pb.h)
optc_generated(onnx_headers)
