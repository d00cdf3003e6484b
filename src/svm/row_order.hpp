// The order in which a machine's rows are handed to the solver.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "svm/binary_task.hpp"

namespace tamis {

/// The task with its rows in an order that depends on what they hold - values, target, cost - and
/// not on where they are. A solver that stops at a tolerance gives an answer that depends on the
/// order of its points; with this one, shuffled data give the same machine to the last bit. The
/// task gets its keys.
BinaryTask ordered_by_content(const Matrix& features, std::span<const double> cost,
                              const BinaryTask& task);

/// The same from the hash_rows() of all rows, for who trains on many small parts of them: without
/// keys.
BinaryTask ordered_by_content(std::span<const std::uint64_t> hashes, std::span<const double> cost,
                              const BinaryTask& task);

/// The places of the rows that has_many_far_pairs() looks at: those with the smallest keys.
std::vector<std::size_t> far_sample(const BinaryTask& task);

/// One number a row, from its values.
RowVector<std::uint64_t> hash_rows(const Matrix& features, const RowStore& store = {});
/// Of some rows.
RowVector<std::uint64_t> hash_rows(const Matrix& features, std::span<const Index> rows,
                                   const RowStore& store = {});

/// The column in which these rows vary most, judged by up to 256 of them; -1: in none.
Index widest_column(const Matrix& features, std::span<const Index> rows);

/// The same rows with near ones close to one another: runs of 64 rows fill small boxes. Parts the
/// rows near the median of the column that varies most, again and again, never between equal
/// values.
BinaryTask near_rows_together(const Matrix& features, const BinaryTask& task);

}  // namespace tamis
