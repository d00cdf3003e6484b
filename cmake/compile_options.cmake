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
  target_compile_options(tamis_compile_options INTERFACE -fsanitize=${TAMIS_SANITIZE} -fno-omit-frame-pointer
                                                         -fno-sanitize-recover=all)
  target_link_options(tamis_compile_options INTERFACE -fsanitize=${TAMIS_SANITIZE})
endif()
