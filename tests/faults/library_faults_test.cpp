// Every allocation of the library made to fail once, in the process of the caller: an exception
// comes out, nothing ends the process, and the next call works.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>

#include "format/temporary_file.hpp"
#include "support/random_data.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace {

std::atomic<long> calls{0};
std::atomic<long> failing_call{0};  // 0: none
std::atomic<int> new_bytes{-1};     // what new memory holds; -1: whatever it held

void* allocate(std::size_t size, std::size_t alignment) {
  if (++calls == failing_call) throw std::bad_alloc();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (block == nullptr) throw std::bad_alloc();
  if (new_bytes >= 0) std::memset(block, new_bytes, size);
  return block;
}

}  // namespace

// Not inlined: the compiler would see a delete that frees what another function gave.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}

namespace tamis {
namespace {

constexpr long kMost = 400;  // calls that fail, spread over all

// Runs `work` with one allocation after the other failing; it must throw bad_alloc or an Error, or
// find another way.
void fail_each(const std::function<void()>& work) {
  work();  // what is made once and kept
  calls = 0;
  work();
  const long all = calls;
  ASSERT_GT(all, 0);
  for (long call = 1; call <= all; call += std::max(1L, all / kMost)) {
    calls = 0;
    failing_call = call;
    try {
      work();
    } catch (const std::bad_alloc&) {
    } catch (const Error&) {
    }
    failing_call = 0;
  }
  work();
}

RunControl one_thread() {
  RunControl control;
  control.threads = 1;
  return control;
}

TrainOptions options_of(const std::string& method) {
  TrainOptions options;
  options.method = method;
  options.gamma = 0.5;
  options.scaling = ScalingMethod::standard;
  options.local.k = 20;
  return options;
}

class LibraryFaults : public ::testing::TestWithParam<std::string> {};

TEST_P(LibraryFaults, TrainSaveLoadPredict) {
  const Dataset data =
      testing::named(testing::clouds(60, 3, 3, 1), std::vector<std::string>{"a", "b", "c"});
  const TemporaryFile file;
  fail_each([&] {
    const Model model = train(data, options_of(GetParam()), one_thread()).model;
    save_model(model, file.path());
    const Model loaded = load_model(file.path(), one_thread());
    EXPECT_TRUE(predict(loaded, data.features(), one_thread()) ==
                predict(model, data.features(), one_thread()));
  });
}

// What new memory happens to hold must not show. As floats, these bytes are 0, 3.4e38 and NaN.
TEST_P(LibraryFaults, NeverReadWhatWasNotWritten) {
  const Dataset data =
      testing::named(testing::clouds(203, 3, 2, 1, 0.5), std::vector<std::string>{"a", "b"});
  std::vector<std::string> models;
  for (const int bytes : {0x00, 0x7F, 0xFF}) {
    new_bytes = bytes;
    models.push_back(model_to_bytes(train(data, options_of(GetParam()), one_thread()).model));
    new_bytes = -1;
  }
  EXPECT_TRUE(models[0] == models[1]);
  EXPECT_TRUE(models[0] == models[2]);
}

INSTANTIATE_TEST_SUITE_P(Methods, LibraryFaults,
                         ::testing::Values("exact", "linear", "falk", "knn-svm", "knn",
                                           "random-subset"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The scratch folder is looked through for what killed runs left.
TEST(CellFaults, TrainBesideManyFiles) {
  const TemporaryFile folder;
  std::filesystem::create_directory(folder.path());
  for (int i = 0; i < 20; ++i)
    std::ofstream(folder.path() + "/" + std::string(60, 'x') + std::to_string(i)) << i;
  const Dataset data =
      testing::named(testing::clouds(150, 2, 2, 1), std::vector<std::string>{"a", "b"});
  TrainOptions options = options_of("falk");
  options.local.cell_rows = 100;
  RunControl control = one_thread();
  control.scratch_folder = folder.path();
  fail_each([&] { train(data, options, control); });
  const std::filesystem::directory_iterator begin(folder.path());
  EXPECT_EQ(std::distance(begin, std::filesystem::directory_iterator()), 20)
      << "a folder of cells was left";
  std::filesystem::remove_all(folder.path());
}

TEST(DataFaults, ReadAndWrite) {
  const Dataset data =
      testing::named(testing::clouds(50, 3, 2, 1), std::vector<std::string>{"a", "b c"});
  const TemporaryFile file;
  ReadOptions read;
  WriteOptions write;
  read.format = write.format = DataFormat::csv;
  fail_each([&] {
    write_dataset(file.path(), data, write, one_thread());
    EXPECT_EQ(read_dataset(file.path(), read, one_thread()).rows(), 50);
  });
}

}  // namespace
}  // namespace tamis
