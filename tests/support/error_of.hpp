#pragma once

#include <string>

#include "tamis/error.hpp"

namespace tamis::test {

/// The message of the tamis::Error thrown, or "" if none is.
template <typename Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace tamis::test
