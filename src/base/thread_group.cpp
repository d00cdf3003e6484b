#include "base/thread_group.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/checked.hpp"

namespace tamis {
namespace {

/// Where the ranks meet. A meeting has two halves: all have come, all have read.
class Meeting {
 public:
  explicit Meeting(int size) : size_(size), posted_(usize(size)) {}

  /// Leaves `messages` (to every rank, or one to all) and returns everybody's.
  /// `read` sees what all ranks have posted; nobody posts again before everybody has read.
  template <typename Read>
  auto meet(int rank, std::vector<Group::Message> messages, const Read& read) {
    std::unique_lock lock(mutex_);
    await(lock, [&] { return !reading_; });
    posted_[usize(rank)] = std::move(messages);
    if (++here_ == size_) {
      reading_ = true;
      changed_.notify_all();
    }
    await(lock, [&] { return reading_; });
    auto result = read(posted_);
    if (--here_ == 0) {
      reading_ = false;
      changed_.notify_all();
    }
    return result;
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  template <typename Condition>
  void await(std::unique_lock<std::mutex>& lock, const Condition& condition) {
    changed_.wait(lock, [&] { return failed_ || condition(); });
    if (failed_) throw GroupFailure("another rank has failed");
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<Group::Message>> posted_;
  int here_ = 0;
  bool reading_ = false;
  bool failed_ = false;
};

class ThreadRank : public Group {
 public:
  ThreadRank(Meeting& meeting, int rank, int size) : meeting_(meeting), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<Message> all_gather(std::span<const std::byte> message) override {
    count_call(static_cast<std::int64_t>(message.size()) * (size_ - 1));
    return meeting_.meet(rank_, {Message(message.begin(), message.end())}, [](const auto& posted) {
      std::vector<Message> all;
      all.reserve(posted.size());
      for (const auto& of_rank : posted) all.push_back(of_rank[0]);
      return all;
    });
  }

  std::vector<Message> exchange(std::vector<Message> to_each) override {
    std::int64_t bytes = 0;
    for (std::size_t r = 0; r < to_each.size(); ++r) {
      if (static_cast<int>(r) != rank_) bytes += static_cast<std::int64_t>(to_each[r].size());
    }
    count_call(bytes);
    return meeting_.meet(rank_, std::move(to_each), [this](const auto& posted) {
      std::vector<Message> mine;
      mine.reserve(posted.size());
      for (const auto& of_rank : posted) mine.push_back(of_rank[usize(rank_)]);
      return mine;
    });
  }

  Message broadcast(Message message, int root) override {
    if (rank_ == root) count_call(static_cast<std::int64_t>(message.size()) * (size_ - 1));
    std::vector<Message> own;
    own.push_back(rank_ == root ? std::move(message) : Message());
    return meeting_.meet(rank_, std::move(own),
                         [root](const auto& posted) { return posted[usize(root)][0]; });
  }

 private:
  Meeting& meeting_;
  const int rank_;
  const int size_;
};

}  // namespace

void run_as_group(int size, const std::function<void(Group&)>& work) {
  Meeting meeting(size);
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  threads.reserve(usize(size));
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRank group(meeting, rank, size);
      try {
        work(group);
      } catch (const GroupFailure&) {
        // The rank that failed has said why.
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        meeting.fail();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace tamis
