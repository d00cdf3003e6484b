// Rows of a matrix as messages from rank to rank.
#pragma once

#include <span>
#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/group.hpp"

namespace tamis {

/// The given rows, for unpack_rows() on another rank of the same kind of computer.
Group::Message pack_rows(const Matrix& matrix, std::span<const Index> rows);
/// `like` has as many columns, and is sparse if the packed matrix was. Dense rows stay where they
/// are: the matrix keeps the message.
Matrix unpack_rows(Group::Message message, const Matrix& like);
/// The rows of several messages, one after the other.
Matrix unpack_all(std::vector<Group::Message> messages, const Matrix& like);

/// Row after row, each the next one of the part it is to come from. The parts are alike.
Matrix interleave_rows(std::span<const Matrix> parts, std::span<const std::int32_t> part_of_row);

}  // namespace tamis
