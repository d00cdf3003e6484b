// What `auto` tells: remarks for people as soon as they are known, and details of the report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "selection/candidates.hpp"
#include "tamis/control.hpp"
#include "tamis/report.hpp"

namespace tamis {

/// The parameters by name, each after a comma: ", cost 4, gamma 0.5".
std::string parameter_words(const TrainOptions& options);

class AutoReport {
 public:
  /// `asked` is what the user set, for data with `rows` rows.
  AutoReport(const TrainOptions& asked, Index rows, const RunControl& control);

  /// A remark, at once and in the report.
  void say(std::string line);

  /// Before the long part: what was chosen, its forecast, and why. `compared` are the candidates in
  /// the order of their first forecasts; none: no trial was possible.
  void announce(const Candidate& best, std::span<const Candidate> compared, double choose_seconds);

  /// After it: forecast and outcome, remarks and details. `cross_validation_error` is that of the
  /// pilot.
  void complete(const Candidate& best, double cross_validation_error, double choose_seconds,
                double total_seconds, TrainReport* report);

 private:
  std::string error_text(double error) const;
  std::string comparison(std::span<const Candidate> compared) const;

  const TrainOptions& asked_;
  Index rows_;
  const RunControl& control_;
  std::vector<std::string> remarks_;
};

}  // namespace tamis
