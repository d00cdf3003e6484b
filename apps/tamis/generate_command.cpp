#include <fmt/format.h>

#include <limits>

#include "session.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

class GenerateCommand : public Command {
 public:
  GenerateCommand()
      : Command("generate", "generate synthetic data of any size from a random seed") {}

  void declare(Options& options) override {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    OptionInfo& name = options.argument("NAME", name_, true, "data set");
    for (const auto known : generator_names()) name.choices.emplace_back(known);
    options.integer("--rows", generate_.rows, 1, kMost, "N", "number of rows");
    options.integer("--seed", seed_, 0, kMost, "N",
                    "random seed; another one gives other rows of the same distribution");
    options
        .number(
            "--noise", generate_.noise, 0, std::numeric_limits<double>::infinity(), "X",
            "fraction of flipped labels (checkerboard, halfspaces), or standard deviation of the "
            "points (spirals) or of the target (regression); default: 0.03, 0, 0.035, 0.1")
        .no_default();
    options
        .integer("--features", generate_.features, 1, kMost, "N",
                 "features of ndcc (default 5), gaussians and halfspaces (default 10), words "
                 "(default 47236); the others have 2")
        .no_default();
    options.flag("--regression", generate_.regression, "gaussians: numeric targets, not classes");
    options.output("-o,--output", output_, "output file; - is standard output");
    options.format("--format", write_.format, "format of the output (default: by its name)");
    options.index_base("--index-base", write_.index_base, "svmlight: number of the first feature");
    options.common(common_);
    options.example(
        "tamis generate checkerboard --rows 100000 -o train.svm\n"
        "tamis generate checkerboard --rows 20000 --seed 2 -o test.svm");
  }

  int run(Session& session) override {
    session.files().writes("--output", output_, write_).require_distinct();
    generate_.seed = static_cast<std::uint64_t>(seed_);
    const GeneratorFacts facts = make(session);
    std::string remark = fmt::format("{}: {}, {}, seed {}", name_, counted(generate_.rows, "row"),
                                     counted(facts.features, "feature"), seed_);
    if (facts.bayes_error >= 0)
      remark += fmt::format("; no classifier is right on more than {:.2f} % of such rows",
                            100 * (1 - facts.bayes_error));
    if (output_ != "-") session.note(remark);
    auto& report = session.report();
    report["generator"] = name_;
    report["rows"] = generate_.rows;
    report["features"] = facts.features;
    report["seed"] = seed_;
    report["bayes_error"] = nullptr;
    if (facts.bayes_error >= 0) report["bayes_error"] = facts.bayes_error;
    report["output"] = output_;
    return kExitOk;
  }

 private:
  // NumPy arrays are written as the rows are made, in little memory; text is not.
  GeneratorFacts make(Session& session) {
    if (files_written(output_, write_).size() > 1) {
      session.timed("generate",
                    [&] { generate_npy(name_, generate_, output_, session.control()); });
      return describe_generator(name_, generate_);
    }
    const Generated made =
        session.timed("generate", [&] { return generate(name_, generate_, session.control()); });
    session.timed("write", [&] { write_dataset(output_, made.data, write_, session.control()); });
    return {made.data.cols(), made.bayes_error};
  }

  std::string name_;
  GenerateOptions generate_;
  std::int64_t seed_ = 1;
  std::string output_ = "-";
  WriteOptions write_;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace tamis::cli
