# Installs the library, its headers and a package that find_package(tamis CONFIG) finds. The components are those of the
# Debian packages (packages.cmake).
include(CMakePackageConfigHelpers)

install(TARGETS tamis EXPORT tamis-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tamis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/tamis/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tamis
        COMPONENT development)

# Whoever links a static tamis links what it uses too, as shared libraries; who links a shared one need not have their headers.
get_target_property(tamis_type tamis TYPE)
set(TAMIS_IS_STATIC OFF)
set(TAMIS_PC_REQUIRES "")
set(TAMIS_PC_LIBS "")
if(tamis_type STREQUAL "STATIC_LIBRARY")
  set(TAMIS_IS_STATIC ON)
  set(TAMIS_PC_REQUIRES "tbb fmt libhwy zlib liblzma libzstd")
  # bzip2 has no .pc in Debian; the C++ library and libm are for programs that a C compiler links.
  set(TAMIS_PC_LIBS "-lbz2 -lstdc++ -lm")
endif()

set(TAMIS_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
install(EXPORT tamis-targets NAMESPACE tamis:: DESTINATION ${TAMIS_CMAKE_DIR} COMPONENT development)
if(TAMIS_BUILD_MPI)
  install(EXPORT tamis-mpi-targets NAMESPACE tamis:: DESTINATION ${TAMIS_CMAKE_DIR} COMPONENT mpi)
endif()
configure_package_config_file(cmake/tamis-config.cmake.in ${PROJECT_BINARY_DIR}/tamis-config.cmake
                              INSTALL_DESTINATION ${TAMIS_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tamis-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tamis-config.cmake ${PROJECT_BINARY_DIR}/tamis-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindZstd.cmake
        DESTINATION ${TAMIS_CMAKE_DIR} COMPONENT development)

# The prefix is found from the file's own place, so that it holds wherever --prefix put it.
file(RELATIVE_PATH TAMIS_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/tamis.pc.in ${PROJECT_BINARY_DIR}/tamis.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tamis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
