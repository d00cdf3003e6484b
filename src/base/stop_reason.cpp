#include "tamis/report.hpp"

namespace tamis {

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::converged:
      return "converged";
    case StopReason::precision_limit:
      return "precision limit";
    case StopReason::iteration_limit:
      return "iteration limit";
    case StopReason::time_limit:
      return "time limit";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace tamis
