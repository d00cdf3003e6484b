#include "base/group.hpp"

namespace tamis {
namespace {

class Alone : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<Message> all_gather(std::span<const std::byte> message) override {
    return {{message.begin(), message.end()}};
  }
  std::vector<Message> exchange(std::vector<Message> to_each) override { return to_each; }
  Message broadcast(Message message, int /*root*/) override { return message; }
};

}  // namespace

Group::~Group() = default;

void Group::count_call(std::int64_t bytes_sent) {
  ++num_calls_;
  bytes_sent_ += bytes_sent;
}

Group& alone() {
  static Alone group;  // without state: safe from any number of threads
  return group;
}

}  // namespace tamis
