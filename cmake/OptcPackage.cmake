# The installed tree: bin/, lib/, include/optc/<folder>/File.h and the CMake package `optc`. Plugins are built against it.
set(OPTC_HEADERS)
foreach(d compiler codegen dialects passes)
  file(GLOB_RECURSE _headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${d}/*.h ${CMAKE_SOURCE_DIR}/${d}/*.td)
  list(APPEND OPTC_HEADERS ${_headers})
endforeach()
# The importer's own headers need the ONNX sources, which are not part of the interface.
list(FILTER OPTC_HEADERS EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/compiler/import/")
list(APPEND OPTC_HEADERS ${CMAKE_SOURCE_DIR}/compiler/import/Import.h ${CMAKE_SOURCE_DIR}/dialects/onnx/OpTable.inc)

# compiler/BuildId.h: what plugins are held against.
set(_build_id ${OPTC_GENERATED_DIR}/compiler/BuildId.h)
get_target_property(_libmlir MLIR LOCATION)
add_custom_command(
  OUTPUT ${_build_id}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/build_id.py ${_build_id} ${LLVM_PACKAGE_VERSION} ${_libmlir}
          ${CMAKE_SOURCE_DIR} ${OPTC_HEADERS}
  DEPENDS ${CMAKE_SOURCE_DIR}/cmake/build_id.py ${_libmlir} ${OPTC_HEADERS} VERBATIM)
add_custom_target(optc_build_id DEPENDS ${_build_id})
optc_generated(optc_build_id)

# Called once, after all targets are there.
function(optc_install)
  include(CMakePackageConfigHelpers)
  foreach(h ${OPTC_HEADERS})
    file(RELATIVE_PATH _path ${CMAKE_SOURCE_DIR} ${h})
    get_filename_component(_folder ${_path} DIRECTORY)
    install(FILES ${h} DESTINATION include/optc/${_folder})
  endforeach()
  foreach(d onnx kernel)
    install(DIRECTORY ${OPTC_GENERATED_DIR}/dialects/${d} DESTINATION include/optc/dialects
      FILES_MATCHING PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
  endforeach()
  install(FILES ${OPTC_GENERATED_DIR}/passes/Passes.h.inc DESTINATION include/optc/passes)
  install(FILES ${OPTC_GENERATED_DIR}/compiler/BuildId.h ${OPTC_GENERATED_DIR}/compiler/Version.h
    DESTINATION include/optc/compiler)

  install(TARGETS optc optc-opt RUNTIME DESTINATION bin)
  set_target_properties(optc_lib PROPERTIES EXPORT_NAME optc)
  target_include_directories(optc_lib INTERFACE $<INSTALL_INTERFACE:include>)
  install(TARGETS optc_lib EXPORT optcTargets LIBRARY DESTINATION lib)
  install(EXPORT optcTargets NAMESPACE optc:: DESTINATION lib/cmake/optc)
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/optcConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/optcConfig.cmake
    INSTALL_DESTINATION lib/cmake/optc)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/optcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/cmake/optcConfig.cmake ${CMAKE_BINARY_DIR}/cmake/optcConfigVersion.cmake
    DESTINATION lib/cmake/optc)
endfunction()
