# Installs a build tree into an empty prefix and builds a program against what is there, as a user of the library would:
# with find_package, and with pkg-config where that is installed. Takes BUILD, SOURCE (of the consumer), C_SOURCE (a program
# in C), WORK, CXX, CC, LIBDIR, PAGE (with the example for MPI) and MPI (whether tamis_mpi was built).
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    string(JOIN " " line ${ARGN})
    message(FATAL_ERROR "${line}: ${status}\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX} -DPAGE=${PAGE})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
if(MPI AND NOT EXISTS ${WORK}/build/together)
  message(FATAL_ERROR "find_package(tamis COMPONENTS mpi) found nothing, though tamis_mpi was built")
endif()
if(EXISTS ${prefix}/bin/tamis)
  run(${prefix}/bin/tamis --version)
endif()

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig
                          ${PKG_CONFIG} --cflags --libs tamis
                  OUTPUT_VARIABLE flags ERROR_VARIABLE error OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "pkg-config: ${error}")
  endif()
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${CXX} -std=c++20 ${SOURCE}/main.cpp -o ${WORK}/with_pkg_config ${flags})
  run(${WORK}/with_pkg_config)
  run(${CC} -std=c11 ${C_SOURCE} -o ${WORK}/in_c ${flags})
  run(${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/in_c)
endif()
