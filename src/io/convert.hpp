// The conversion of large texts, for tests that make the blocks tiny.
#pragma once

#include <cstdint>
#include <string>

#include "tamis/io.hpp"

namespace tamis {

/// As convert_dataset(), block by block whatever the size. Input and output are plain files, the
/// input svmlight text or CSV.
Converted convert_in_pieces(const std::string& input, const ReadOptions& read,
                            const std::string& output, const WriteOptions& write,
                            const RunControl& control, std::int64_t block_bytes);

}  // namespace tamis
