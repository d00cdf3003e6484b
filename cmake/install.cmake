# Installs the library, its headers and a package that find_package(tamis CONFIG) finds.
include(CMakePackageConfigHelpers)

install(TARGETS tamis EXPORT tamis-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tamis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/include/tamis/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tamis)

set(TAMIS_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
install(EXPORT tamis-targets NAMESPACE tamis:: DESTINATION ${TAMIS_CMAKE_DIR})
configure_package_config_file(cmake/tamis-config.cmake.in ${PROJECT_BINARY_DIR}/tamis-config.cmake
                              INSTALL_DESTINATION ${TAMIS_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tamis-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tamis-config.cmake ${PROJECT_BINARY_DIR}/tamis-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindZstd.cmake
        DESTINATION ${TAMIS_CMAKE_DIR})

# The prefix is found from the file's own place, so that it holds wherever --prefix put it.
file(RELATIVE_PATH TAMIS_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# Whoever links a static tamis links what it uses too, as shared libraries; --static would ask for theirs as well.
get_target_property(tamis_type tamis TYPE)
set(TAMIS_PC_REQUIRES Requires.private)
set(TAMIS_PC_LIBS "")
if(tamis_type STREQUAL "STATIC_LIBRARY")
  set(TAMIS_PC_REQUIRES Requires)
  set(TAMIS_PC_LIBS -lbz2)  # which has no .pc in Debian
endif()
configure_file(cmake/tamis.pc.in ${PROJECT_BINARY_DIR}/tamis.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tamis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
