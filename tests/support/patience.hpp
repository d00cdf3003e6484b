// How long a test waits for what ought to be quick.
#pragma once

namespace tamis::testing {

/// Times as long with sanitizers, which slow everything down.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kPatience = 10;
#else
inline constexpr double kPatience = 1;
#endif

}  // namespace tamis::testing
