# Options every target of this project is compiled with. No -march: instruction sets are chosen at
# run time (src/kernels). -ffp-contract=off keeps scalar arithmetic the same on every machine.
add_library(tamis_compile_options INTERFACE)
target_compile_options(tamis_compile_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                       -Wno-sign-conversion -ffp-contract=off)
# For ccache, which must see what a precompiled header holds.
target_compile_options(tamis_compile_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
if(TAMIS_WARNINGS_AS_ERRORS)
  target_compile_options(tamis_compile_options INTERFACE -Werror)
endif()
if(TAMIS_SANITIZE)
  set(sanitize -fsanitize=${TAMIS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(TAMIS_SANITIZE_PARTS)
    # For those parts, the program and the tests. A sanitizer makes the compiler see errors that are not there.
    set(TAMIS_SANITIZE_OPTIONS ${sanitize} -O1 -g1 -UNDEBUG -D_GLIBCXX_ASSERTIONS -Wno-error)
  else()
    target_compile_options(tamis_compile_options INTERFACE ${sanitize})
  endif()
  target_link_options(tamis_compile_options INTERFACE -fsanitize=${TAMIS_SANITIZE})
endif()
