# The Debian packages, one per component: tamis, libtamis0, libtamis-dev and python3-tamis. `tools/make_packages` makes
# them; with TAMIS_BUILD_PACKAGES off, nothing here runs.
set(TAMIS_PACKAGE_CONTACT "Tamis developers <developers@tamis.example>" CACHE STRING "Maintainer of the Debian packages")
if(NOT TAMIS_BUILD_PACKAGES)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT ${TAMIS_PACKAGE_CONTACT})
set(CPACK_PACKAGE_VENDOR "Tamis developers")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program library development python)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The program and the Python module are linked with the library of the same build.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_STRIP_FILES ON)

set(library libtamis${TAMIS_SOVERSION})
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(about "Tamis solves the problem LIBSVM solves, to the same tolerance, with all cores,
SIMD and a memory budget, and takes LIBSVM's files, models and option letters.
For more rows it has local models, models on chosen rows and ensembles.")

# deb_package(COMPONENT NAME SECTION DEPENDS TEXT). The summary is the project's.
macro(deb_package component name section depends text)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${about}\n.\n${text}")
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component})
endmacro()
deb_package(program tamis science "${library} ${same}"
            "This package has the program, its man pages and completions.")
deb_package(library ${library} libs ""
            "This package has the shared library.")
# The headers include nothing of other libraries, and who links the shared library needs no other.
deb_package(development libtamis-dev libdevel "${library} ${same}"
            "This package has the headers for C++ and C, and files for CMake and pkg-config.")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
math(EXPR next "${Python3_VERSION_MINOR} + 1")
deb_package(python python3-tamis python
            "${library} ${same}, python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next}), python3-numpy, python3-scipy, python3-sklearn"
            "This package has estimators for scikit-learn.")
# Debian runs ldconfig by a trigger; the scripts that CPack writes call it as well.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/triggers CONTENT "activate-noawait ldconfig\n")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/shlibs CONTENT "libtamis ${TAMIS_SOVERSION} ${library} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers ${PROJECT_BINARY_DIR}/debian/shlibs)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH where that is set
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/changelog.Debian
     CONTENT "tamis (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- ${TAMIS_PACKAGE_CONTACT}  ${date}\n")
find_program(GZIP_PROGRAM gzip REQUIRED)
execute_process(COMMAND ${GZIP_PROGRAM} -9nkf ${PROJECT_BINARY_DIR}/debian/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
include(CPack)
