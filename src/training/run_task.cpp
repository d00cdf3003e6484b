#include "base/check.hpp"
#include "methods/ensemble/member_task.hpp"
#include "tamis/tasks.hpp"
#include "training/cell_task.hpp"

namespace tamis {

TaskGroup::~TaskGroup() = default;

std::vector<Group::Message> TaskGroup::all_gather(std::span<const std::byte> message) {
  return {{message.begin(), message.end()}};
}

void TaskGroup::run_each(Index count, const std::function<std::string(Index)>& make,
                         const std::function<void(Index, std::string)>& take,
                         const std::shared_ptr<const std::string>& shared,
                         const RunControl& control) {
  for (Index i = 0; i < count && !control.cancelled(); ++i) {
    std::vector<std::string> results = run({make(i)}, shared, control);
    TAMIS_CHECK(results.size() == 1);
    if (!results[0].empty()) take(i, std::move(results[0]));
  }
}

std::string run_task(std::string_view task, std::string_view shared) {
  return is_cell_task(task) ? run_cell_task(task, shared) : run_member_task(task, shared);
}

}  // namespace tamis
