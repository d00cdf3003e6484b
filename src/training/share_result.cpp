#include "training/share_result.hpp"

#include <fmt/format.h>

#include "base/group.hpp"
#include "base/message.hpp"
#include "io/input_bytes.hpp"
#include "io/native_model.hpp"
#include "methods/common/report_stats.hpp"
#include "svm/train_local.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis {

void share_report(Group& group, MethodResult* result) {
  if (group.size() == 1) return;
  TrainReport& report = result->report;
  MessageWriter writer;
  writer.put(result->machine != nullptr);
  writer.put(stats_of(report));
  writer.put(report.machines);
  writer.put_list(report.machine_iterations);
  writer.put_list(report.support_rows);
  writer.put_list(report.chosen_rows);
  const Group::Message message = group.broadcast(writer.take(), 0);
  MessageReader reader(message);
  const auto has_machine = reader.get<bool>();
  set_stats(reader.get<MachineStats>(), &report);
  if (!has_machine) {
    throw Error(fmt::format("stopped by {} before anything was trained: there is no model",
                            stop_reason_name(report.stop_reason)));
  }
  report.machines = reader.get<Index>();
  report.machine_iterations = reader.get_list<std::int64_t>();
  report.support_rows = reader.get_list<Index>();
  report.chosen_rows = reader.get_list<Index>();
}

Model share_model(Group& group, Model mine) {
  if (group.size() == 1 || !any_of_all(group, mine.empty())) return mine;
  Group::Message message;
  if (group.rank() == 0) {
    const std::string bytes = model_to_bytes(mine);
    const auto raw = std::as_bytes(std::span(bytes));
    message.assign(raw.begin(), raw.end());
  }
  message = group.broadcast(std::move(message), 0);
  if (!mine.empty()) return mine;
  const auto owner = std::make_shared<const Group::Message>(std::move(message));
  const std::string_view bytes(reinterpret_cast<const char*>(owner->data()), owner->size());
  return parse_native_model({bytes, owner, std::ssize(bytes), nullptr, nullptr}, train_for_query);
}

}  // namespace tamis
