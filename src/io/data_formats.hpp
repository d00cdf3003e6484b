// The parsers behind read_dataset(), apart from files: text in, Dataset out. Each runs in the
// caller's task arena (see with_threads). The result and the error thrown depend neither on the
// threads nor on `chunk_bytes`, which is a parameter so that tests can make it tiny.
#pragma once

#include <string>

#include "io/input_bytes.hpp"
#include "io/text_chunks.hpp"
#include "tamis/io.hpp"

namespace tamis {

struct ParseInput {
  std::string name;  // for messages
  InputBytes input;
};

/// `label idx:val idx:val ... # comment`. An optional qid:n is ignored. Throws ParseError.
Dataset parse_svmlight(const ParseInput& source, const ReadOptions& options,
                       const RunControl& control, std::int64_t chunk_bytes = kTextChunkBytes);

/// The format `format` stands for, given the name of the file.
DataFormat resolve_format(DataFormat format, const std::string& path);

}  // namespace tamis
