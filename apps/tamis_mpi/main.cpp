// tamis with its rows spread over the processes of an MPI job: the same commands and options.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
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

// Apart from all other messages, because processes that fail leave those unanswered.
MPI_Comm failures = MPI_COMM_NULL;
bool has_failed = false;
bool all_failed = false;

// Called by every process that fails. If all do, soon, the first of those with an error of their
// own tells it, and all end in order. One that fails alone tells, and then ends the others.
bool tells_error(bool is_own_error) {
  using std::chrono::milliseconds;
  has_failed = true;
  int rank = 0;
  MPI_Comm_rank(failures, &rank);
  const int mine = is_own_error ? rank : std::numeric_limits<int>::max();
  int first = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, failures, &request);
  const auto start = std::chrono::steady_clock::now();
  int done = 0;
  while (done == 0 && std::chrono::steady_clock::now() - start < milliseconds(500)) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(milliseconds(2));
  }
  all_failed = done != 0;
  return is_own_error && (!all_failed || first == rank);
}

int run(int argc, char** argv) {
  const std::unique_ptr<tamis::Group> group = tamis::mpi_group();
  MPI_Comm_dup(MPI_COMM_WORLD, &failures);
  warn_of_binding(*group);
  const bool is_alone = group->size() == 1;
  const int code =
      tamis::cli::run_program(argc, argv, group.get(), is_alone ? nullptr : &tells_error);
  // Also one that a signal has ended: the others wait for it.
  if (has_failed && !is_alone && !all_failed) {
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
