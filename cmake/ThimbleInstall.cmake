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
if(THIMBLE_BUILD_ML_TRAIN)
  install(TARGETS thimble_ml_train EXPORT thimbleTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY include/ml_train DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  # What the static library needs beside it.
  set(ml_train_private_libraries -lfmt -lhwy -lz -lprotobuf-lite)
  if(THIMBLE_URING_INCLUDE AND THIMBLE_URING)
    list(APPEND ml_train_private_libraries -luring)
  endif()
  list(APPEND ml_train_private_libraries -ldl -lpthread)
  list(JOIN ml_train_private_libraries " " ml_train_private_libraries)
  # From the libraries to the headers, wherever the package is.
  file(RELATIVE_PATH ml_train_include /${CMAKE_INSTALL_LIBDIR} /${CMAKE_INSTALL_INCLUDEDIR})
  # The second name is the one that clients of NNTrainer ask for.
  foreach(package thimble-ml-train ccapi-ml-training)
    configure_file(cmake/ml_train.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endif()
