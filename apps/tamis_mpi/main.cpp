// tamis with its rows spread over the processes of an MPI job: the same commands and options.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <thread>

#include "program.hpp"
#include "tamis/mpi.hpp"
#include "tamis/system.hpp"

namespace {

// mpirun binds each of two processes to one core unless it is told otherwise.
void warn_of_binding(const tamis::Group& group) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (group.rank() != 0 || group.size() >= cores || tamis::available_threads() > 1) return;
  std::fprintf(stderr,
               "tamis-mpi: each process may use 1 of %d cores: mpirun has bound it; --bind-to none "
               "frees it\n",
               cores);
}

int run(int argc, char** argv) {
  const std::unique_ptr<tamis::Group> group = tamis::mpi_group();
  warn_of_binding(*group);
  const int code = tamis::cli::run_program(argc, argv, group.get());
  // A limit that was met is no failure. Any other code may be this process's alone, and then the
  // others wait for it: all end here.
  if (code != tamis::cli::kExitOk && code != tamis::cli::kExitLimit && group->size() > 1) {
    if (code == tamis::cli::kExitGroup) std::this_thread::sleep_for(std::chrono::seconds(5));
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads) != MPI_SUCCESS) return 1;
  int code = 1;
  try {
    code = run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tamis-mpi: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
