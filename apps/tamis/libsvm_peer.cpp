#include "libsvm_peer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/scaling.hpp"

namespace tamis::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone when this is.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tamis-libsvm-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw IoError(name + ": cannot make the folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Seconds the program ran. Throws Cancelled, and Error when it fails or takes too long.
double run_program(const std::vector<std::string>& words, double max_seconds,
                   const RunControl& control) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw Error(fmt::format("{} cannot be started: is libsvm-tools installed?", words[0]));
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const bool late = max_seconds > 0 && seconds() > max_seconds;
    if (control.cancelled() || late) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      if (!late) throw Cancelled();
      throw Error(fmt::format("{} took more than {:g} s", words[0], max_seconds));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    if (control.cancelled()) throw Cancelled();
    throw Error(fmt::format("{} failed", words[0]));
  }
  return seconds();
}

std::vector<std::string> train_words(const TrainOptions& options, const Matrix& features) {
  if (options.loss == SlackLoss::l2) throw InvalidArgument("LIBSVM has no squared slacks");
  if (options.balanced) throw InvalidArgument("LIBSVM has no balanced class weights");
  if (options.kernel_or_default() == KernelType::precomputed)
    throw InvalidArgument("no row for LIBSVM with a precomputed kernel");
  if (options.missing != MissingValues::refuse || options.text_columns != TextColumns::refuse)
    throw InvalidArgument("LIBSVM takes neither missing values nor text columns");
  if (options.kernel_or_default() == KernelType::laplacian)
    throw InvalidArgument("LIBSVM has no Laplacian kernel");
  std::vector<std::string> words{"svm-train", "-q", "-m", "1000"};
  const auto add = [&](const char* letter, double value) {
    words.emplace_back(letter);
    words.push_back(fmt::format("{}", value));
  };
  add("-s", options.task == Task::regression ? 3 : 0);
  add("-t", static_cast<int>(options.kernel_or_default()));
  add("-d", options.degree);
  add("-g", resolve_gamma(options.gamma_or_default(), features));
  add("-r", options.coef0);
  add("-c", options.cost_or_default());
  add("-p", options.tube_or_default());
  add("-e", options.eps);
  for (const auto& [label, factor] : options.class_weights) add(("-w" + label).c_str(), factor);
  return words;
}

// The error of the labels that svm-predict wrote.
double error_of(const std::string& path, const Labels& truth, Task task) {
  std::ifstream file(path);
  double sum = 0;
  for (Index i = 0; i < truth.size(); ++i) {
    double predicted = 0;
    if (!(file >> predicted)) throw Error("svm-predict wrote too few labels");
    const double difference = predicted - truth.number(i);
    sum += task == Task::regression ? difference * difference : (difference == 0 ? 0 : 1);
  }
  return sum / static_cast<double>(truth.size());
}

}  // namespace

ComparisonRow libsvm_row(const std::function<Split(Index)>& data_of_run, Index runs,
                         const TrainOptions& options, const RunControl& control) {
  ComparisonRow row;
  row.name = row.method = "libsvm";
  std::vector<double> predict_seconds;
  std::vector<double> support_vectors;
  std::vector<double> bytes;
  std::vector<double> rows;
  try {
    if (data_of_run(0).train.labels().kind() != LabelKind::numeric)
      throw InvalidArgument("LIBSVM reads no words as labels");
    for (Index run = 0; run < runs; ++run) {
      const TemporaryFolder folder;
      Split data = data_of_run(run);
      const Scaling scaling =
          Scaling::fit(data.train.features(), options.scaling_or_default(), 0, 1, control);
      data.train = data.train.with_features(scaling.apply(data.train.features(), control));
      data.test = data.test.with_features(
          scaling.apply(data.test.features().with_cols(data.train.cols()), control));
      write_dataset(folder.file("train"), data.train, {DataFormat::svmlight}, control);
      write_dataset(folder.file("test"), data.test, {DataFormat::svmlight}, control);
      std::vector<std::string> words = train_words(options, data.train.features());
      words.push_back(folder.file("train"));
      words.push_back(folder.file("model"));
      row.seconds.push_back(run_program(words, options.max_seconds, control));
      predict_seconds.push_back(run_program(
          {"svm-predict", folder.file("test"), folder.file("model"), folder.file("out")}, 0,
          control));
      bytes.push_back(static_cast<double>(fs::file_size(folder.file("model"))));
      row.errors.push_back(error_of(folder.file("out"), data.test.labels(), options.task));
      const Model model = load_model(folder.file("model"));
      support_vectors.push_back(static_cast<double>(model.num_support_vectors()));
      rows.push_back(static_cast<double>(data.train.rows()));
      ++row.runs;
    }
  } catch (const Cancelled&) {
    (row.runs == 0 ? row.failure : row.note) = "interrupted";
  } catch (const Error& error) {
    row.failure = error.what();
  }
  row.error = spread_of(row.errors);
  row.train_seconds = spread_of(row.seconds);
  row.predict_seconds = spread_of(predict_seconds);
  row.support_vectors = spread_of(support_vectors);
  row.model_bytes = spread_of(bytes);
  row.rows_used = spread_of(rows);
  if (row.runs > 0 && row.note.empty()) row.note = "whole processes, reading included";
  return row;
}

}  // namespace tamis::cli
