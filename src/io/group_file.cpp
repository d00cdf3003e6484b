#include "io/group_file.hpp"

#include "base/checked.hpp"

namespace tamis {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 22;

// The piece of rank `from` on the first; on the others a byte in its place. Empty: it was the last.
Group::Message pass(Group& group, int from, Group::Message piece) {
  std::vector<Group::Message> to_each(usize(group.size()));
  if (group.rank() == from) {
    if (!piece.empty()) to_each.assign(to_each.size(), Group::Message(1));
    to_each[0] = std::move(piece);
  }
  return std::move(group.exchange(std::move(to_each))[usize(from)]);
}

class Sender : public ByteSink {
 public:
  explicit Sender(Group& group) : group_(group) {}

  using ByteSink::write;
  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view some = bytes.substr(0, kPieceBytes - piece_.size());
      const auto raw = std::as_bytes(std::span(some));
      piece_.insert(piece_.end(), raw.begin(), raw.end());
      bytes.remove_prefix(some.size());
      if (piece_.size() == kPieceBytes) send();
    }
  }
  /// The last piece, and an empty one, which ends them.
  void finish() {
    if (!piece_.empty()) send();
    send();
  }

 private:
  void send() {
    pass(group_, group_.rank(), std::move(piece_));
    piece_.clear();
  }

  Group& group_;
  Group::Message piece_;
};

}  // namespace

GroupFile::GroupFile(const std::string& path, Group& group, const RunControl& control)
    : group_(group) {
  if (group.rank() == 0) file_.emplace(path, control);
}

void GroupFile::write_once(std::string_view bytes) {
  if (file_) file_->write(bytes);
}

void GroupFile::write_in_turn(const std::function<void(ByteSink&)>& write_own) {
  if (file_) write_own(*file_);
  for (int turn = 1; turn < group_.size(); ++turn) {
    if (group_.rank() == turn) {
      Sender sender(group_);
      write_own(sender);
      sender.finish();
      continue;
    }
    for (;;) {
      const Group::Message piece = pass(group_, turn, {});
      if (piece.empty()) break;
      if (file_) file_->write(piece.data(), piece.size());
    }
  }
}

void GroupFile::commit() {
  if (file_) file_->commit();
}

}  // namespace tamis
