// A Group over MPI. In its own library, tamis_mpi, so that libtamis needs no MPI.
#pragma once

#include <memory>

#include "tamis/export.hpp"
#include "tamis/group.hpp"

namespace tamis {

/// All processes of MPI_COMM_WORLD. MPI must have been initialized with MPI_THREAD_SERIALIZED or
/// more, and must not end before the group; throws Error otherwise. The processes must run on the
/// same kind of computer: numbers travel as they lie in memory.
TAMIS_EXPORT std::unique_ptr<Group> mpi_group();

}  // namespace tamis
