#include "methods/sampling/point_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/deadline.hpp"
#include "base/group.hpp"
#include "base/message.hpp"
#include "base/progress.hpp"
#include "data/row_messages.hpp"
#include "kernels/kernel_value.hpp"
#include "kernels/plain_kernel.hpp"
#include "model/precise_values.hpp"

namespace tamis {
namespace {

double largest_diagonal_of(const Kernel& kernel, const Matrix& features) {
  constexpr Index kRowsAtOnce = Index{1} << 16;
  // A rank may have no rows, and a kernel no value above 0.
  double largest = -std::numeric_limits<double>::infinity();
  std::vector<Index> rows;
  for (Index begin = 0; begin < features.rows(); begin += kRowsAtOnce) {
    rows.resize(usize(std::min(kRowsAtOnce, features.rows() - begin)));
    std::iota(rows.begin(), rows.end(), begin);
    for (const double value : kernel_diagonal(kernel, features, rows))
      largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

void LocalPointRows::values(const KernelExpansion& expansion, bool in_double,
                            std::span<double> values, const RunControl& control) const {
  expansion_values(expansion, features_, in_double, values, control);
}

double LocalPointRows::largest_diagonal(const Kernel& kernel) const {
  return largest_diagonal_of(kernel, features_);
}

PointWork::PointWork(const AllRows& rows, const TrainContext& context)
    : rows_(rows), context_(context) {
  values_ = rows.coordinator().add(
      [this](std::span<const std::byte> request) { return values(request); });
  diagonal_ = rows.coordinator().add([this](std::span<const std::byte> request) {
    MessageReader reader(request);
    const auto kernel = kernel_of(reader.get<PlainKernel>());
    MessageWriter answer;
    answer.put(largest_diagonal_of(kernel, rows_of(reader.get_list<std::int32_t>())));
    return answer.take();
  });
}

const Matrix& PointWork::rows_of(const std::vector<std::int32_t>& classes) {
  const TrainingSet& mine = rows_.mine();
  if (classes.empty()) return mine.features;
  if (classes_ == classes) return part_;
  std::vector<Index> rows;
  for (Index i = 0; i < mine.rows(); ++i) {
    if (std::count(classes.begin(), classes.end(), mine.codes[usize(i)]) > 0) rows.push_back(i);
  }
  part_ = mine.features.select(rows);
  classes_ = classes;
  return part_;
}

Group::Message PointWork::values(std::span<const std::byte> request) {
  MessageReader reader(request);
  const Matrix& rows = rows_of(reader.get_list<std::int32_t>());
  const auto in_double = reader.get<bool>();
  ExpansionParts parts;
  parts.kernel = kernel_of(reader.get<PlainKernel>());
  parts.coefficients = reader.get_list<double>();
  parts.offsets = {0.0};
  parts.support_vectors =
      unpack_rows({reader.rest().begin(), reader.rest().end()}, rows_.mine().features);
  std::vector<double> values(usize(rows.rows()));
  const Deadline pass(quiet(context_.control), context_.seconds_left());
  if (rows.rows() > 0)
    expansion_values(KernelExpansion(std::move(parts)), rows, in_double, values, pass.control());
  const auto bytes = as_message(std::span<const double>(values));
  return {bytes.begin(), bytes.end()};
}

ChosenRows SpreadPointRows::choose(std::span<const Index> rows) const {
  std::vector<Index> wanted;
  wanted.reserve(rows.size());
  for (const Index row : rows) wanted.push_back(task_rows_[usize(row)]);
  ChosenRows chosen{rows_.features(wanted), std::vector<Index>(rows.size())};
  std::iota(chosen.rows.begin(), chosen.rows.end(), 0);
  return chosen;
}

void SpreadPointRows::values(const KernelExpansion& expansion, bool in_double,
                             std::span<double> values, const RunControl& /*control*/) const {
  const ExpansionParts& parts = expansion.parts();
  MessageWriter request;
  request.put_list(classes_);
  request.put(in_double);
  request.put(plain(parts.kernel));
  request.put_list(parts.coefficients);
  std::vector<Index> all(usize(parts.support_vectors.rows()));
  std::iota(all.begin(), all.end(), 0);
  request.put_rest(pack_rows(parts.support_vectors, all));
  auto next = values.begin();
  for (const Group::Message& answer : rows_.coordinator().ask(work_.values_, request.take())) {
    const auto part = from_message<double>(answer);
    next = std::copy(part.begin(), part.end(), next);
  }
}

double SpreadPointRows::largest_diagonal(const Kernel& kernel) const {
  MessageWriter request;
  request.put(plain(kernel));
  request.put_list(classes_);
  double largest = -std::numeric_limits<double>::infinity();
  for (const Group::Message& answer : rows_.coordinator().ask(work_.diagonal_, request.take()))
    largest = std::max(largest, MessageReader(answer).get<double>());
  return largest;
}

}  // namespace tamis
