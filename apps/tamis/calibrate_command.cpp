#include <fmt/format.h>

#include "model_rows.hpp"
#include "session.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/io.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

class CalibrateCommand : public Command {
 public:
  CalibrateCommand() : Command("calibrate", "add probabilities to a model") {}

  void declare(Options& options) override {
    options.argument("MODEL", model_path_, true, "model of Tamis or of LIBSVM");
    options.data("DATA", data_path_, read_,
                 "labeled rows the model was not trained on; - is standard input");
    options.output("-o,--output", output_, "model file with probabilities");
    options.choice("--how", how_, {"sigmoid", "isotonic"}, "NAME",
                   "a sigmoid (two parameters per binary SVM), or any non-decreasing function "
                   "(needs more rows)");
    options.reading(read_);
    options.common(common_);
    options.example("tamis calibrate train.model held-out.svm -o calibrated.model");
  }

  int run(Session& session) override {
    if (output_.empty()) throw UsageError("give --output a file for the model with probabilities");
    session.files()
        .reads("MODEL", model_path_)
        .reads("DATA", data_path_, read_)
        .writes("--output", output_, "MODEL")
        .require_distinct();
    const Model model =
        session.timed("load", [&] { return load_model(model_path_, session.control()); });
    const Dataset data = read_rows_for(session, model, data_path_, read_);
    const Model calibrated = session.timed("fit", [&] {
      return calibrate(model, data, parse_calibration_method(how_), session.control());
    });
    const Evaluation result =
        session.timed("predict", [&] { return evaluate(calibrated, data, session.control()); });
    session.timed("write",
                  [&] { save_model(calibrated, output_, ModelFormat::native, session.writing()); });
    if (output_ != "-") {
      session.summarize(fmt::format("{} on {}: log loss {:.6g}, Brier score {:.6g}", how_,
                                    counted(data.rows(), "row"), result.log_loss, result.brier));
      session.summarize(fmt::format("model written to {}", output_));
    }
    auto& json = session.report();
    json["model"] = model_path_;
    json["data"] = data_path_;
    json["output"] = output_;
    json["how"] = how_;
    json["rows"] = data.rows();
    json["log_loss"] = result.log_loss;
    json["brier"] = result.brier;
    return kExitOk;
  }

 private:
  std::string model_path_;
  std::string data_path_;
  std::string output_;
  std::string how_ = "sigmoid";
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> make_calibrate_command() { return std::make_unique<CalibrateCommand>(); }

}  // namespace tamis::cli
