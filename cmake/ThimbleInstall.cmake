# Install target and package files for find_package(thimble).
include(CMakePackageConfigHelpers)
install(TARGETS thimble EXPORT thimbleTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/thimble ${THIMBLE_GENERATED_INCLUDE_DIR}/thimble
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(EXPORT thimbleTargets NAMESPACE thimble:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thimble)
configure_package_config_file(cmake/thimbleConfig.cmake.in ${PROJECT_BINARY_DIR}/thimbleConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thimble)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/thimbleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/thimbleConfig.cmake ${PROJECT_BINARY_DIR}/thimbleConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thimble)
if(THIMBLE_BUILD_APPS)
  install(TARGETS thimble_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
