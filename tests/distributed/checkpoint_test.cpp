// A training that is broken off and continued, on other numbers of ranks, ends with the same model.
#include "tamis/checkpoint.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>

#include "base/group.hpp"
#include "base/thread_group.hpp"
#include "distributed/part_of.hpp"
#include "io/output_file.hpp"
#include "qp/solver_state.hpp"
#include "support/random_data.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("tamis-checkpoint-" + name())) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.string(); }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> result;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      result.push_back(entry.path());
    return result;
  }

 private:
  static std::string name() {
    return std::to_string(reinterpret_cast<std::uintptr_t>(
               ::testing::UnitTest::GetInstance()->current_test_info())) +
           "-" + std::to_string(getpid());
  }
  std::filesystem::path path_;
};

// Fails at some call of save, before or after it has written its part.
class Breaking : public CheckpointStore {
 public:
  Breaking(const std::string& folder, Group& group, int breaks_at)
      : files_(file_checkpoints(folder, &group)), breaks_at_(breaks_at) {}
  std::vector<std::string> load(const std::string& name) override { return files_->load(name); }
  void save(const std::string& name, const std::string& part) override {
    if (++calls_ == breaks_at_ && breaks_at_ % 2 == 0) throw IoError("broken off");
    files_->save(name, part);
    if (calls_ == breaks_at_) throw IoError("broken off");
  }
  void clear() override { files_->clear(); }

 private:
  std::unique_ptr<CheckpointStore> files_;
  int breaks_at_;
  int calls_ = 0;
};

// The model's bytes; "" when it was broken off.
std::string run(int ranks, const Dataset& data, const TrainOptions& options,
                const std::string& folder, int breaks_at) {
  std::string bytes;
  std::mutex mutex;
  try {
    run_as_group(ranks, [&](Group& group) {
      Breaking store(folder, group, breaks_at);
      RunControl control;
      control.threads = 1;
      control.group = ranks > 1 ? &group : nullptr;
      control.checkpoint = &store;
      control.checkpoint_seconds = 0;
      const TrainResult result = train(part_of(data, group), options, control);
      const std::lock_guard lock(mutex);
      bytes = model_to_bytes(result.model);
    });
  } catch (const IoError&) {
    return "";
  }
  return bytes;
}

TrainOptions exact_options() {
  TrainOptions options;
  options.method = "exact";
  options.cost = 10;
  options.gamma = 20;
  return options;
}

TEST(Checkpoint, ContinuesOnAnyNumberOfRanks) {
  const Dataset data = generate("checkerboard", {.rows = 6000, .seed = 5}).data;
  const std::string expected = model_to_bytes(train(data, exact_options()).model);
  const Folder folder;
  const int ranks[] = {1, 3, 2, 1, 2, 4, 1, 1, 3, 2};
  int broken = 0;
  std::string bytes;
  for (std::size_t k = 0; bytes.empty(); ++k) {
    ASSERT_LT(k, 200U);
    bytes = run(ranks[k % std::size(ranks)], data, exact_options(), folder.path(),
                2 + static_cast<int>(k % 3));
    broken += bytes.empty() ? 1 : 0;
  }
  EXPECT_EQ(bytes, expected);
  EXPECT_GT(broken, 5);
}

TEST(Checkpoint, ManyClassesAndRegression) {
  const Clouds clouds_of_three = clouds(7500, 4, 3, 6);
  TrainOptions options = exact_options();
  options.gamma = 0.3;
  const Dataset classes = named(clouds_of_three, {1, 2, 3});
  std::vector<double> targets;
  for (Index i = 0; i < 7500; ++i)
    targets.push_back(std::sin(static_cast<double>(clouds_of_three.features.at(i, 0))));
  const Dataset numbers(clouds_of_three.features, Labels::numeric(targets));
  for (const bool regression : {false, true}) {
    options.task = regression ? Task::regression : Task::classification;
    const Dataset& data = regression ? numbers : classes;
    const std::string expected = model_to_bytes(train(data, options).model);
    const Folder folder;
    std::string bytes;
    for (int k = 0; bytes.empty() && k < 100; ++k)
      bytes = run(1 + k % 3, data, options, folder.path(), 15 + k % 3);
    EXPECT_EQ(bytes, expected);
  }
}

// Finished candidates of an ensemble are not trained again, on any number of ranks.
TEST(Checkpoint, MembersOfEnsembles) {
  const Dataset data = named(clouds(3000, 4, 3, 6), {1, 2, 3});
  for (const std::string method : {"random-subset", "ransac"}) {
    TrainOptions options;
    options.method = method;
    options.cost = 10;
    options.gamma = 0.3;
    options.ensemble.members = 10;
    options.ensemble.trials = 40;
    options.ensemble.subset_rows = 150;
    const std::string expected = model_to_bytes(train(data, options).model);
    const Folder folder;
    const int ranks[] = {1, 3, 2, 1, 4};
    int broken = 0;
    std::string bytes;
    for (std::size_t k = 0; bytes.empty(); ++k) {
      ASSERT_LT(k, 100U) << method;
      bytes = run(ranks[k % std::size(ranks)], data, options, folder.path(),
                  1 + static_cast<int>(k % 3));
      broken += bytes.empty() ? 1 : 0;
    }
    EXPECT_EQ(bytes, expected) << method;
    EXPECT_GT(broken, 0) << method;
    // All candidates are there now: nothing is left to save.
    EXPECT_EQ(run(1, data, options, folder.path(), 1), expected) << method;
    EXPECT_EQ(run(3, data, options, folder.path(), 1), expected) << method;
    options.gamma = 0.4;
    EXPECT_THROW(run(1, data, options, folder.path(), 100), DataError) << method;
    options.gamma = 0.3;
    EXPECT_THROW(run(2, named(clouds(3000, 4, 3, 7), {1, 2, 3}), options, folder.path(), 100),
                 DataError)
        << method;
  }
}

TEST(Checkpoint, OtherRowsOrOptionsAreRefused) {
  const Dataset data = generate("checkerboard", {.rows = 6000, .seed = 5}).data;
  const Folder folder;
  ASSERT_EQ(run(1, data, exact_options(), folder.path(), 3), "");
  TrainOptions other = exact_options();
  other.gamma = 21;
  EXPECT_THROW(run(1, data, other, folder.path(), 100), DataError);
  const Dataset more = generate("checkerboard", {.rows = 6001, .seed = 5}).data;
  EXPECT_THROW(run(1, more, exact_options(), folder.path(), 100), DataError);
}

TEST(Checkpoint, DamagedFilesAreRefused) {
  const Dataset data = generate("checkerboard", {.rows = 6000, .seed = 5}).data;
  const Folder folder;
  ASSERT_EQ(run(2, data, exact_options(), folder.path(), 3), "");
  const auto files = folder.files();
  ASSERT_EQ(files.size(), 3U);  // two parts, and which generation they are of
  for (const auto& file : files) {
    std::string bytes;
    {
      std::ifstream in(file, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    const auto write = [&](const std::string& text) {
      std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    };
    std::string changed = bytes;
    changed[changed.size() / 2] ^= 1;
    for (const std::string& damaged : {std::string(), bytes.substr(0, bytes.size() / 2), changed}) {
      write(damaged);
      EXPECT_THROW(run(1, data, exact_options(), folder.path(), 100), DataError);
    }
    write(bytes);
  }
}

TEST(Checkpoint, FilesOfKilledProcessesAreRemovedWithTheRest) {
  const Folder folder;
  const auto store = file_checkpoints(folder.path());
  store->save("state", "bytes");
  const std::string abandoned = folder.path() + "/.tamis-0123456789abcdef-0.tmp";
  const std::string of_others = folder.path() + "/notes.tmp";
  std::ofstream(abandoned) << "half a st";
  std::ofstream(of_others) << "kept";
  // One that is being written by somebody else, who holds its lock.
  OutputFile held(folder.path() + "/other");
  held.write("a file that is not whole yet");
  store->clear();
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_TRUE(std::filesystem::exists(of_others));
  held.commit();
  EXPECT_EQ(folder.files().size(), 2U);
}

// The folder may be one that is used for other things as well, such as ".".
TEST(Checkpoint, FilesOfOthersStay) {
  const Folder folder;
  const auto store = file_checkpoints(folder.path());
  store->save("svm-0", "bytes");
  const std::string cells = folder.path() + "/cells";
  std::filesystem::create_directories(cells + "/7.rows");
  const std::vector<std::string> kept{folder.path() + "/mine.checkpoint", cells + "/thesis.txt",
                                      cells + "/7.rows/notes", cells + "/x7.part"};
  const std::vector<std::string> gone{cells + "/lock", cells + "/rows", cells + "/12.trained",
                                      cells + "/3.part"};
  for (const auto& list : {kept, gone}) {
    for (const std::string& path : list) std::ofstream(path) << "precious";
  }
  EXPECT_EQ(store->folder(), folder.path());  // who asks has cells there
  store->clear();
  for (const std::string& path : kept) EXPECT_TRUE(std::filesystem::exists(path)) << path;
  for (const std::string& path : gone) EXPECT_FALSE(std::filesystem::exists(path)) << path;
  EXPECT_EQ(store->load("svm-0"), std::vector<std::string>());
}

// Such as one that was stopped by a limit and is to go on.
TEST(Checkpoint, TheStateOfAnotherTrainingStays) {
  const Folder folder;
  const auto stopped = file_checkpoints(folder.path());
  stopped->save("svm-0", "bytes");
  stopped->save("svm-10", "bytes");
  stopped->save("svm-10", "later bytes");
  std::filesystem::create_directories(folder.path() + "/cells");
  std::ofstream(folder.path() + "/cells/3.part") << "a cell";
  const auto other = file_checkpoints(folder.path());
  other->save("svm-1", "more bytes");
  other->clear();
  EXPECT_EQ(other->load("svm-1"), std::vector<std::string>());
  EXPECT_EQ(stopped->load("svm-0"), std::vector<std::string>{"bytes"});
  EXPECT_EQ(stopped->load("svm-10"), std::vector<std::string>{"later bytes"});
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/cells/3.part"));
  stopped->clear();
  EXPECT_EQ(stopped->load("svm-10"), std::vector<std::string>());
  EXPECT_EQ(folder.files().size(), 1U);  // cells
}

TEST(Checkpoint, AFolderInThePlaceOfAFileIsRefused) {
  const Folder folder;
  const auto store = file_checkpoints(folder.path());
  std::filesystem::create_directories(folder.path() + "/svm-0.checkpoint");
  EXPECT_THROW(store->load("svm-0"), DataError);
}

TEST(Checkpoint, AStateOfAnyBytesIsReadOrRefused) {
  qp::SolverState state;
  state.progress = {7, 1.5, 0.1, 0.2, 9, 1, 2};
  state.newest = {4, 5};
  state.points = {{4, 0.5, 1.5, 0}, {5, 0, 2.5, 2}};
  state.remembered = {{4, 0.25, 1}};
  const std::string bytes = qp::to_bytes(state);
  EXPECT_EQ(qp::to_bytes(qp::state_from_bytes(bytes)), bytes);
  Random random(1);
  for (int k = 0; k < 2000; ++k) {
    std::string damaged = bytes.substr(0, usize(random.below(std::ssize(bytes) + 1)));
    if (!damaged.empty())
      damaged[usize(random.below(std::ssize(damaged)))] = static_cast<char>(random.below(256));
    try {
      qp::state_from_bytes(damaged);
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace tamis::testing
