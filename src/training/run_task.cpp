#include "methods/ensemble/member_task.hpp"
#include "tamis/tasks.hpp"

namespace tamis {

TaskGroup::~TaskGroup() = default;

std::vector<Group::Message> TaskGroup::all_gather(std::span<const std::byte> message) {
  return {{message.begin(), message.end()}};
}

std::string run_task(std::string_view task, std::string_view shared) {
  return run_member_task(task, shared);
}

}  // namespace tamis
