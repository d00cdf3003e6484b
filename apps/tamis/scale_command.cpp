#include <fmt/format.h>

#include <limits>

#include "range_file.hpp"
#include "session.hpp"
#include "tamis/io.hpp"
#include "tamis/scaling.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

class ScaleCommand : public Command {
 public:
  ScaleCommand() : Command("scale", "scale features to comparable ranges") {}

  bool runs_together() const override { return true; }

  void declare(Options& options) override {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    options.data("DATA", input_, read_, "rows to scale; - is standard input");
    options.output("-o,--output", output_, "output file; - is standard output");
    const auto learned = [this] {
      return load_.empty() ? "" : "--load-ranges decides the scaling";
    };
    const auto limits = [this, learned] {
      if (!load_.empty() || method_ == "minmax") return std::string(learned());
      return fmt::format("it is for the method minmax, not for {}", method_);
    };
    options
        .choice("--method", method_, {"minmax", "standard", "maxabs", "robust", "quantile"}, "NAME",
                "each column to [lower, upper], to mean 0 and standard deviation 1, divided by its "
                "largest magnitude (zeros stay zero), to median 0 and the quartiles of a normal "
                "distribution, or to normal scores")
        .idle_if(learned);
    options.number("-l,--lower", lower_, -kInfinity, kInfinity, "X", "minmax: smallest value")
        .idle_if(limits);
    options.number("-u,--upper", upper_, -kInfinity, kInfinity, "X", "minmax: largest value")
        .idle_if(limits);
    options.output("-s,--save-ranges", save_, "save the scaling learned from these rows");
    options.text("-r,--load-ranges", load_, "FILE",
                 "apply a saved scaling instead of learning one");
    options.format("--to", write_.format, "format of the output (default: by its name)");
    options.reading(read_);
    options.common(common_);
    options.example(
        "tamis scale train.svm -s ranges.json -o train.scaled.svm\n"
        "tamis scale test.svm -r ranges.json -o test.scaled.svm");
  }

  int run(Session& session) override {
    session.files()
        .reads("DATA", input_, read_)
        .reads("--load-ranges", load_)
        .writes("--output", output_, write_, "DATA")
        .writes("--save-ranges", save_)
        .require_distinct();
    if (!load_.empty() && !save_.empty())
      throw UsageError("--save-ranges and --load-ranges do not go together");
    if (!(lower_ < upper_))
      throw UsageError(
          fmt::format("--lower is {} and --upper {}: lower must be less", lower_, upper_));
    Scaling scaling;
    if (!load_.empty()) {
      scaling = load_ranges(load_);
      read_.min_features = static_cast<Index>(scaling.offset.size());
      read_.max_features = read_.min_features;
    }
    Dataset data =
        session.timed("read", [&] { return read_dataset(input_, read_, session.control()); });
    if (load_.empty())
      scaling = session.timed("fit", [&] {
        return Scaling::fit(data.features(), parse_scaling_method(method_), lower_, upper_,
                            session.control());
      });
    else
      data =
          data.with_features(data.features().with_cols(static_cast<Index>(scaling.offset.size())));
    data = session.timed("apply", [&] {
      return data.with_features(scaling.apply(data.features(), session.control()));
    });
    if (write_.format == DataFormat::automatic && output_ == "-") write_.format = read_.format;
    if (resolve_format(write_.format, output_) == DataFormat::svmlight)
      write_.index_base = read_.index_base;
    session.timed("write", [&] { write_dataset(output_, data, write_, session.control()); });
    if (!save_.empty() && session.is_root()) save_ranges(save_, scaling, session.writing());

    auto& report = session.report();
    report["input"] = input_;
    report["output"] = output_;
    report["method"] = scaling_name(scaling.method);
    const std::int64_t rows = session.sum(data.rows());
    report["rows"] = rows;
    report["features"] = data.cols();
    if (output_ != "-")
      session.note(fmt::format("{}: {}, {}, {} scaling", output_, counted(rows, "row"),
                               counted(data.cols(), "feature"), scaling_name(scaling.method)));
    return kExitOk;
  }

 private:
  std::string input_;
  std::string output_ = "-";
  std::string method_ = "minmax";
  double lower_ = 0;
  double upper_ = 1;
  std::string save_;
  std::string load_;
  ReadOptions read_;
  WriteOptions write_;
};

}  // namespace

std::unique_ptr<Command> make_scale_command() { return std::make_unique<ScaleCommand>(); }

}  // namespace tamis::cli
