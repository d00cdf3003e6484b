// Internal assertions: they fire on bugs of this library only, never on bad input, and stay on in
// release builds.
#pragma once

#include <stdexcept>
#include <string>

namespace tamis {

[[noreturn]] inline void fail_check(const char* condition, const char* file, int line) {
  throw std::logic_error(std::string("tamis bug: ") + condition + " at " + file + ":" +
                         std::to_string(line));
}

}  // namespace tamis

#define TAMIS_CHECK(condition)                                             \
  do {                                                                     \
    if (!(condition)) ::tamis::fail_check(#condition, __FILE__, __LINE__); \
  } while (false)
