#include <cstdio>
#include <cstdlib>

#include "program.hpp"

namespace {

// How many processes a launcher has started together with this one, as far as it says.
int launched_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* size = std::getenv(name)) return std::atoi(size);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  // Each of them would do the whole work, and write the same files.
  if (const int count = launched_together(); count > 1) {
    std::fprintf(stderr,
                 "tamis: mpirun started %d copies, and each would do all the work: use tamis-mpi\n",
                 count);
    return tamis::cli::kExitUsage;
  }
  return tamis::cli::run_program(argc, argv);
}
