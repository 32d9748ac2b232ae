# One precompiled header for the whole project (REUSE_FROM): 11 s once instead of 5-10 s per file.
file(WRITE ${CMAKE_BINARY_DIR}/optc_pch.cpp.in "")
configure_file(${CMAKE_BINARY_DIR}/optc_pch.cpp.in ${CMAKE_BINARY_DIR}/optc_pch.cpp COPYONLY)
add_library(optc_pch OBJECT ${CMAKE_BINARY_DIR}/optc_pch.cpp)
target_compile_options(optc_pch PRIVATE -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
target_precompile_headers(optc_pch PRIVATE
  <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/PatternMatch.h> <mlir/IR/DialectImplementation.h>
  <mlir/IR/DialectResourceBlobManager.h> <mlir/IR/AsmState.h> <mlir/IR/Matchers.h>
  <mlir/Bytecode/BytecodeOpInterface.h> <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h>
  <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/Bufferization/IR/Bufferization.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Transforms/DialectConversion.h> <llvm/ADT/TypeSwitch.h>)

function(optc_use_pch target)
  set_target_properties(${target} PROPERTIES DEFINE_SYMBOL "")
  target_compile_options(${target} PRIVATE -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
  target_precompile_headers(${target} REUSE_FROM optc_pch)
endfunction()

# optc_add_part(name [DEPENDS target...] [LINK lib...]): every .cpp of this folder becomes part of liboptc.so.
# Sources are globbed: a new pass is a new file.
function(optc_add_part name)
  cmake_parse_arguments(A "" "" "DEPENDS;LINK;SOURCES;EXCLUDE" ${ARGN})
  file(GLOB _sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(e ${A_EXCLUDE})
    list(REMOVE_ITEM _sources ${CMAKE_CURRENT_SOURCE_DIR}/${e})
  endforeach()
  list(APPEND _sources ${A_SOURCES})
  if(NOT _sources)
    return()
  endif()
  add_library(${name} OBJECT ${_sources})
  if(A_DEPENDS)
    add_dependencies(${name} ${A_DEPENDS})
  endif()
  get_property(_gens GLOBAL PROPERTY OPTC_GENERATED)
  if(_gens)
    add_dependencies(${name} ${_gens})
  endif()
  target_link_libraries(${name} PRIVATE ${A_LINK})
  optc_use_pch(${name})
  set_property(GLOBAL APPEND PROPERTY OPTC_PARTS ${name})
  set_property(GLOBAL APPEND PROPERTY OPTC_PART_LINKS ${A_LINK})
endfunction()

# Tablegen targets that every later part waits for.
function(optc_generated target)
  set_property(GLOBAL APPEND PROPERTY OPTC_GENERATED ${target})
endfunction()

# All parts become one shared library: two copies of a dialect load without an error and match nothing.
function(optc_finish_library)
  get_property(_parts GLOBAL PROPERTY OPTC_PARTS)
  get_property(_links GLOBAL PROPERTY OPTC_PART_LINKS)
  set(_objects)
  foreach(p ${_parts})
    list(APPEND _objects $<TARGET_OBJECTS:${p}>)
  endforeach()
  add_library(optc_lib SHARED ${_objects})
  set_target_properties(optc_lib PROPERTIES OUTPUT_NAME optc LINKER_LANGUAGE CXX)
  list(REMOVE_DUPLICATES _links)
  target_link_libraries(optc_lib PUBLIC MLIR LLVM PRIVATE ${_links})
  # The ONNX sources and lld stay private to the library.
  target_link_options(optc_lib PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,defs)
endfunction()

function(optc_add_tool name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE optc_lib MLIR LLVM)
  optc_use_pch(${name})
endfunction()
