// The errors this library throws. Each message is one line that says where, what, and what is
// allowed.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tamis/export.hpp"

namespace tamis {

class TAMIS_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument or option is out of range, or two of them do not go together.
class TAMIS_EXPORT InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// The content of a data or model file, or of an array, is not acceptable.
class TAMIS_EXPORT DataError : public Error {
 public:
  using Error::Error;
};

/// A DataError at a known place of a text file: "file:line:column: message". Line and column count
/// from 1.
class TAMIS_EXPORT ParseError : public DataError {
 public:
  ParseError(const std::string& file, std::int64_t line, std::int64_t column,
             const std::string& message)
      : DataError(file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                  message),
        line_(line),
        column_(column) {}
  std::int64_t line() const { return line_; }
  std::int64_t column() const { return column_; }

 private:
  std::int64_t line_;
  std::int64_t column_;
};

/// A file cannot be opened, read, written or renamed.
class TAMIS_EXPORT IoError : public Error {
 public:
  using Error::Error;
};

/// The work does not fit into the memory budget.
class TAMIS_EXPORT ResourceError : public Error {
 public:
  using Error::Error;
};

/// The caller cancelled work that has no usable partial result (see RunControl::cancel).
class TAMIS_EXPORT Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace tamis
