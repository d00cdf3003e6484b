// The options of training on the command line of a command, made from the library's table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "tamis/options.hpp"

namespace tamis::cli {

/// Adds one training option to a command's, with everything the library's table says of it.
OptionInfo& declare_training_option(Options& options, const OptionDescription& described,
                                    std::function<void(const std::string&)> assign);

class TrainingOptions {
 public:
  /// Adds every training option to a command's; `with_method`: also --method.
  void declare(Options& options, bool with_method = true);

  TrainOptions& values() { return values_; }
  bool was_given(std::string_view name) const;
  /// The options that were given, as words for a shell: " --scale standard --seed 7"; without the
  /// method, and without those that have no effect in this training.
  std::string given_words(const TrainOptions& training) const;
  /// An option that none of the methods uses for the task would be silently ignored: UsageError.
  /// `draws_rows`: the command itself uses the seed, for folds or splits.
  void require_used_by(std::span<const std::string> methods, bool draws_rows = false) const;
  /// The same for one that the other options leave without an effect in all of these trainings: a
  /// parameter of another kernel, C next to nu.
  void require_effect(std::span<const TrainOptions> trainings) const;

 private:
  TrainOptions values_;
  struct Given {
    const OptionDescription* option;
    std::string text;
  };
  std::vector<Given> given_;
};

}  // namespace tamis::cli
