#include "program.hpp"

int main(int argc, char** argv) { return tamis::cli::run_program(argc, argv); }
