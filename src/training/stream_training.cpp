// A first reading for what must be known of all rows, a second one for the leaders, a third one for
// their weights if they get any, and an SVM on these.
#include "training/stream_training.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "data/stack_rows.hpp"
#include "io/dataset_blocks.hpp"
#include "methods/leader/class_thresholds.hpp"
#include "methods/leader/leader_pass.hpp"
#include "methods/leader/leader_stream.hpp"
#include "methods/leader/leader_threshold.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "training/file_survey.hpp"
#include "training/run_method.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kSampleStream = 0x57e4;

void require_streamable(const ReadOptions& read, const TrainOptions& options) {
  const auto require = [](bool ok, std::string_view what) {
    if (!ok) throw InvalidArgument(fmt::format("a stream keeps only leaders: {}", what));
  };
  require(options.method == "leader", "the method must be leader");
  require(options.task == Task::classification, "regression is not supported");
  require(options.scaling_or_default() == ScalingMethod::none, "scale the data before");
  require(options.metric_rounds_or_default() == 0 && options.feature_weights.empty() &&
              options.metric_matrix.empty(),
          "it learns no feature weights");
  require(options.kernel_or_default() != KernelType::precomputed,
          "the kernel cannot be precomputed");
  require(options.missing == MissingValues::refuse, "missing values cannot be imputed");
  require(options.text_columns == TextColumns::refuse, "there are no text columns");
  require(options.leader.refine.value_or(0) == 0, "refine must be 0");
  require(options.leader.boundary == LeaderBoundary::model, "nothing is refined at a boundary");
  require(!options.polish, "they cannot be polished on all rows");
  require(read.label_column != "none", "rows need labels");
}

FileSurvey survey_file(const std::string& path, const ReadOptions& read,
                       const TrainOptions& options, const RunControl& control) {
  FileSurvey survey(threshold_sample_rows(options.leader), Random(options.seed, kSampleStream));
  DatasetBlocks blocks(path, read, control, "survey");
  for (Dataset block = blocks.next(); block.rows() > 0; block = blocks.next()) {
    if (!block.weights().empty())
      throw InvalidArgument("a stream keeps only leaders: rows cannot have weights");
    survey.add(block);
  }
  if (survey.rows() == 0) throw DataError(path + ": no rows");
  if (survey.classes().size() < 2) {
    throw DataError(fmt::format("every row has the label {}: two classes or more are needed",
                                survey.classes().name(0)));
  }
  return survey;
}

Kernel settled_kernel(const TrainOptions& options, const FileSurvey& survey) {
  Kernel kernel{options.kernel_or_default(), 1.0, options.coef0, options.degree};
  const Gamma gamma = options.gamma_or_default();
  if (gamma.rule == Gamma::Rule::value) kernel.gamma = gamma.value;
  if (gamma.rule == Gamma::Rule::scale) kernel.gamma = survey.scale_gamma();
  if (gamma.rule == Gamma::Rule::per_features)
    kernel.gamma = 1 / static_cast<double>(std::max<Index>(1, survey.cols()));
  return kernel;
}

// A block of a file as the survey found the file to be.
struct SurveyedBlock {
  Matrix features;
  std::vector<std::vector<Index>> rows;  // of each class

  SurveyedBlock(const Dataset& block, const FileSurvey& survey, const Labels& classes)
      : features(survey.is_dense() ? block.features().to_dense() : block.features().to_sparse()),
        rows(usize(classes.size())) {
    const std::vector<std::int32_t> codes = encode_labels(block.labels(), classes);
    for (Index i = 0; i < block.rows(); ++i) {
      if (codes[usize(i)] < 0 || features.cols() != survey.cols())
        throw DataError("the file changed while it was read");
      rows[usize(codes[usize(i)])].push_back(i);
    }
  }
};

struct Leaders {
  Dataset data;
  Metric metric;
  std::vector<Index> of_class;
  std::vector<double> thresholds;
  StopReason stop_reason = StopReason::converged;  // else: only some rows were looked at
};

class LeaderPass {
 public:
  LeaderPass(FileSurvey& survey, const TrainContext& context)
      : survey_(survey), context_(context), classes_(survey.classes()) {
    TrainingSet sample = survey.take_sample();
    sample.kernel = settled_kernel(context.options, survey);
    const Metric metric = leader_metric(sample, context.options);
    found_.metric = metric;
    found_.thresholds = leader_thresholds(sample, metric, survey.class_rows(), context);
    for (const double threshold : found_.thresholds) streams_.emplace_back(metric, threshold);
  }

  Leaders run(const std::string& path, ReadOptions read) && {
    read.min_features = survey_.cols();
    DatasetBlocks blocks(path, read, context_.control, "leaders");
    for (Dataset block = blocks.next(); block.rows() > 0; block = blocks.next()) {
      add(block);
      found_.stop_reason = context_.must_stop();
      if (found_.stop_reason != StopReason::converged) break;
    }
    blocks.require_intact();
    found_.data = Dataset(stack_rows(parts_), classes_.select(codes_));
    for (const LeaderStream& stream : streams_) found_.of_class.push_back(stream.size());
    return std::move(found_);
  }

 private:
  void add(const Dataset& block) {
    auto [features, rows] = SurveyedBlock(block, survey_, classes_);
    for (std::size_t c = 0; c < streams_.size(); ++c) {
      const std::vector<Index> taken =
          streams_[c].add(features, std::move(rows[c]), context_.control);
      if (taken.empty()) continue;
      parts_.push_back(features.select(taken));
      held_bytes_ += parts_.back().size_bytes();
      codes_.insert(codes_.end(), taken.size(), static_cast<Index>(c));
    }
    // Once here, once in the index of their class, and once more when the machine is trained.
    require_memory("holding the leaders", resident_memory_bytes() + held_bytes_,
                   resolve_memory_budget(context_.control.memory_bytes));
  }

  const FileSurvey& survey_;
  const TrainContext& context_;
  Labels classes_;
  std::vector<LeaderStream> streams_;  // of each class
  std::vector<Matrix> parts_;
  std::vector<Index> codes_;  // of all leaders
  Index held_bytes_ = 0;
  Leaders found_;
};

// The leaders with weights: how many rows of their class are nearest to each. A run that must stop
// leaves a weight of 1 or more for each.
Dataset with_cluster_weights(const Leaders& leaders, const std::string& path, ReadOptions read,
                             const FileSurvey& survey, const TrainContext& context) {
  const Labels classes = survey.classes();
  const SurveyedBlock all(leaders.data, survey, classes);
  std::vector<ClusterSizes> sizes;
  for (const std::vector<Index>& rows : all.rows)
    sizes.emplace_back(leaders.metric, all.features.select(rows), context.control);
  read.min_features = survey.cols();
  DatasetBlocks blocks(path, read, context.control, "weights");
  for (Dataset block = blocks.next(); block.rows() > 0; block = blocks.next()) {
    const SurveyedBlock surveyed(block, survey, classes);
    for (std::size_t c = 0; c < sizes.size(); ++c)
      sizes[c].add(surveyed.features, surveyed.rows[c], context.control);
    if (context.must_stop() != StopReason::converged) break;
  }
  blocks.require_intact();
  std::vector<double> weights(usize(leaders.data.rows()));
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    for (std::size_t i = 0; i < all.rows[c].size(); ++i)
      weights[usize(all.rows[c][i])] = std::max(1.0, static_cast<double>(sizes[c].rows()[i]));
  }
  return Dataset(leaders.data.features(), leaders.data.labels(), weights);
}

// Costs as if all rows were there.
TrainOptions options_on_leaders(const TrainOptions& options, const FileSurvey& survey,
                                const TrainContext& context) {
  TrainOptions inner = options;
  inner.method = "exact";
  inner.gamma = settled_kernel(options, survey).gamma;
  if (options.max_seconds > 0) inner.max_seconds = context.seconds_left();
  if (options.balanced) {
    inner.balanced = false;
    const Labels classes = survey.classes();
    const std::vector<Index> rows = survey.class_rows();
    for (Index c = 0; c < classes.size(); ++c) {
      inner.class_weights.emplace_back(classes.name(c),
                                       static_cast<double>(survey.rows()) /
                                           static_cast<double>(classes.size() * rows[usize(c)]));
    }
  }
  return inner;
}

}  // namespace

TrainResult run_leader_stream(const std::string& path, const ReadOptions& read,
                              const TrainOptions& options, const RunControl& control) {
  require_streamable(read, options);
  const TrainContext context{options, control, {}};
  FileSurvey survey =
      with_threads(control.threads, [&] { return survey_file(path, read, options, control); });
  const double survey_seconds = context.watch.seconds();
  const Leaders leaders = with_threads(control.threads, [&] {
    Leaders found = LeaderPass(survey, context).run(path, read);
    if (options.leader.weights == LeaderWeights::cluster &&
        found.stop_reason == StopReason::converged) {
      found.data = with_cluster_weights(found, path, read, survey, context);
      found.stop_reason = context.must_stop();
    }
    return found;
  });
  const double leader_seconds = context.watch.seconds() - survey_seconds;

  TrainResult result =
      run_method(leaders.data, options_on_leaders(options, survey, context), control);
  const Model& model = result.model;
  result.model = make_model(model.task(), model.classes(), model.scaling(), shared_machine(model),
                            options.method);
  TrainReport& report = result.report;
  report.method = options.method;
  report.support_rows.clear();  // rows of the leaders, not of the file
  report.chosen_rows.clear();
  report.stop_reason = std::max(report.stop_reason, leaders.stop_reason);
  report.details = {{"rows_used", static_cast<double>(report.rows)}};
  report.rows = survey.rows();
  report.phase_seconds.insert(report.phase_seconds.begin(),
                              {{"survey", survey_seconds}, {"leaders", leader_seconds}});
  ReportTable table{"leaders", {"rows", "leaders", "threshold"}, {}};
  const std::vector<Index> class_rows = survey.class_rows();
  for (std::size_t c = 0; c < class_rows.size(); ++c) {
    table.rows.push_back({static_cast<double>(class_rows[c]),
                          static_cast<double>(leaders.of_class[c]), leaders.thresholds[c]});
  }
  report.tables.push_back(std::move(table));
  report.train_seconds = context.watch.seconds();
  return result;
}

}  // namespace tamis
