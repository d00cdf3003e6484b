// Damaged model files: each must give an error of ours or a model that works; nothing else.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "calibration/calibration.hpp"
#include "format/edited_header.hpp"
#include "format/local_cases.hpp"
#include "format/temporary_file.hpp"
#include "io/libsvm_model.hpp"
#include "io/native_model.hpp"
#include "model/expansion_fixtures.hpp"
#include "model/model_parts.hpp"
#include "model/weighted_ensemble.hpp"
#include "svm/train_local.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

using testing::edited;
using testing::with_header;

std::string save_small(bool sparse, ModelFormat format) {
  Random random(1);
  Matrix vectors = random_rows(4, 3, random);
  if (sparse) vectors = vectors.to_sparse();
  const Scaling scaling =
      format == ModelFormat::libsvm ? Scaling() : Scaling::fit(vectors, ScalingMethod::standard);
  auto machine = std::make_shared<const KernelExpansion>(
      random_parts({}, vectors, Decision::one_vs_one, 3, random));
  const Labels classes = sparse && format == ModelFormat::native ? Labels::text({"a", "b", "c"})
                                                                 : Labels::numeric({1, 2, 3});
  const TemporaryFile file;
  auto calibration = std::make_shared<Calibration>();
  calibration->decision = Decision::one_vs_one;
  calibration->num_classes = 3;
  calibration->machines = {{-1, 0.5, {}, {}}, {-2, 0, {}, {}}, {-0.5, 0, {}, {}}};
  if (sparse && format == ModelFormat::native) {
    calibration->method = CalibrationMethod::isotonic;
    calibration->machines = {
        {0, 0, {-1, 1}, {0.2, 0.8}}, {0, 0, {0}, {0.5}}, {0, 0, {-1, 0, 1}, {0, 0.5, 1}}};
  }
  const Model model = make_model(Task::classification, classes, scaling, machine, "exact");
  save_model(with_calibration(model, calibration), file.path(), format);
  return file.read();
}

std::string saved_bytes(const Model& model) {
  const TemporaryFile file;
  save_model(model, file.path());
  return file.read();
}

// Two classes, an ensemble of three members that share support vectors.
std::string save_ensemble(bool sparse) {
  Random random(2);
  EnsembleParts parts;
  parts.support_vectors = random_rows(4, 3, random);
  if (sparse) parts.support_vectors = parts.support_vectors.to_sparse();
  parts.member_begin = {0, 3};
  parts.offsets = {0.5};
  parts.weights = {1, -0.5, 0.25};
  parts.gammas = {0.5, 2, 0.5};
  parts.member_offsets = {0, 0.1, -0.2};
  parts.term_begin = {0, 2, 4, 7};
  parts.term_vectors = {0, 2, 1, 3, 0, 1, 2};
  parts.coefficients = {1, -1, 2, -2, 0.5, 0.5, -1};
  const TemporaryFile file;
  save_model(
      make_model(Task::classification, Labels::numeric({1, -1}), {},
                 std::make_shared<const WeightedEnsemble>(std::move(parts)), "random-subset"),
      file.path());
  return file.read();
}

// From memory that is exactly as long as the file, so that a read beyond it is found out.
bool loads(const std::string& bytes) {
  const std::shared_ptr<void> copy(std::malloc(bytes.size()), [](void* p) { std::free(p); });
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(copy.get()));
  const InputBytes input{{static_cast<const char*>(copy.get()), bytes.size()}, copy, 0};
  try {
    const Model model = is_libsvm_model(bytes) ? parse_libsvm_model("x", input)
                                               : parse_native_model(input, train_for_query);
    Random random(1);
    const Labels labels = predict(model, random_rows(3, 3, random));
    EXPECT_EQ(labels.size(), 3);
    if (model.has_probabilities()) {
      EXPECT_EQ(probabilities(model, random_rows(3, 3, random)).rows, 3);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(CorruptModel, CutAnywhere) {
  for (const bool sparse : {false, true}) {
    const std::string native = save_small(sparse, ModelFormat::native);
    ASSERT_TRUE(loads(native));
    for (std::size_t size = 0; size < native.size(); ++size)
      ASSERT_FALSE(loads(native.substr(0, size))) << size;
    EXPECT_FALSE(loads(native + "x"));
    const std::string ensemble = save_ensemble(sparse);
    ASSERT_TRUE(loads(ensemble));
    for (std::size_t size = 0; size < ensemble.size(); ++size)
      ASSERT_FALSE(loads(ensemble.substr(0, size))) << size;
    const std::string libsvm = save_small(sparse, ModelFormat::libsvm);
    ASSERT_TRUE(loads(libsvm));
    for (std::size_t size = 0; size < libsvm.size(); ++size)
      loads(libsvm.substr(0, size));  // a number cut short is still a number
  }
}

constexpr int kFlips[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF};
constexpr char kBytes[] = {'0', '9', '-', '"', '{', ']', ',', '\n', '\0'};

void change_any_byte(const std::string& saved, std::span<const int> flips,
                     std::span<const char> bytes) {
  for (std::size_t i = 0; i < saved.size(); ++i) {
    std::string changed = saved;
    for (const int flip : flips) {
      changed[i] = static_cast<char>(saved[i] ^ flip);
      loads(changed);
    }
    for (const char byte : bytes) {
      changed[i] = byte;
      loads(changed);
    }
  }
}

TEST(CorruptModel, AnyByteChanged) {
  for (const bool sparse : {false, true}) {
    for (const ModelFormat format : {ModelFormat::native, ModelFormat::libsvm})
      change_any_byte(save_small(sparse, format), kFlips, kBytes);
    change_any_byte(save_ensemble(sparse), kFlips, kBytes);
  }
}

TEST(CorruptModel, LocalMachinesCutAnywhere) {
  for (const bool sparse : {false, true}) {
    for (const auto& [name, model] : testing::local_cases(12, 6, sparse)) {
      SCOPED_TRACE(name);
      const std::string saved = saved_bytes(model);
      ASSERT_TRUE(loads(saved));
      for (std::size_t size = 0; size < saved.size(); ++size)
        ASSERT_FALSE(loads(saved.substr(0, size))) << size;
    }
  }
}

TEST(CorruptModel, AnyByteOfLocalMachinesChanged) {
  // Enough to reach other signs, exponents, digits and names; each of these models is asked, too.
  constexpr int kFewFlips[] = {0x01, 0xC0};
  constexpr char kFewBytes[] = {'9', '-'};
  for (const bool sparse : {false, true}) {
    for (const auto& [name, model] : testing::local_cases(8, 4, sparse)) {
      if (sparse && name != "falk-c of two classes" && name != "knn of two classes") continue;
      SCOPED_TRACE(name);
      change_any_byte(saved_bytes(model), kFewFlips, kFewBytes);
    }
  }
}

TEST(CorruptModel, ManyChanges) {
  const std::string native = save_small(true, ModelFormat::native);
  const std::string libsvm = save_small(true, ModelFormat::libsvm);
  const std::string ensemble = save_ensemble(true);
  EXPECT_TRUE(rc::check("changes", [&] {
    std::string bytes = *rc::gen::element(native, libsvm, ensemble);
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const int changes = *rc::gen::inRange(1, 8);
    for (int c = 0; c < changes && !bytes.empty(); ++c) {
      const auto at = static_cast<std::size_t>(random.below(static_cast<Index>(bytes.size())));
      const auto length = static_cast<std::size_t>(random.below(12));
      switch (random.below(4)) {
        case 0:
          bytes.erase(at, length);
          break;
        case 1:
          bytes.insert(at, bytes.substr(at / 2, length));
          break;
        case 2:
          bytes[at] = static_cast<char>(random.below(256));
          break;
        default:
          bytes.insert(at, "99999999999999999999");
      }
    }
    loads(bytes);
  }));
}

// Well-formed files whose words and numbers are not what a writer would put there.
TEST(CorruptModel, HostileSettingsOfLocalMachines) {
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"num_classes", "0"},
      {"num_classes", "1"},
      {"num_classes", "2"},
      {"num_classes", "3"},
      {"num_classes", "2147483647"},
      {"k", "0"},
      {"k", "1"},
      {"k", "2147483647"},
      {"task", "regression"},
      {"task", "classification"},
      {"kind", "local-models"},
      {"kind", "knn"},
      {"kind", "knn-svm"},
      {"kind", "kernel-expansion"},
      {"kernel", R"({"type":"linear","gamma":1,"coef0":0,"degree":3})"},
      {"kernel", R"({"type":"sigmoid","gamma":1,"coef0":-1,"degree":3})"},
      {"kernel", R"({"type":"polynomial","gamma":1e30,"coef0":1e30,"degree":100})"},
      {"kernel", R"({"type":"rbf","gamma":1e300,"coef0":0,"degree":3})"},
      {"kernel", R"({"type":"precomputed","gamma":1,"coef0":0,"degree":3})"},
      {"training", R"({"squared_slacks":false,"tube":0,"eps":1e-300,"max_iterations":0,"seed":1})"},
      {"training",
       R"({"squared_slacks":true,"tube":1e300,"eps":1e300,"max_iterations":1,"seed":1})"},
      {"training",
       R"({"squared_slacks":true,"tube":0.1,"eps":0.001,"max_iterations":-1,"seed":1})"},
  };
  for (const auto& [name, model] : testing::local_cases(12, 6, false)) {
    SCOPED_TRACE(name);
    const std::string saved = saved_bytes(model);
    const auto loads_with = [&](const std::string& key, const std::string& value) {
      return loads(edited(saved, [&](auto& header) { header["__metadata__"][key] = value; }));
    };
    for (const auto& setting : settings) {
      SCOPED_TRACE(setting.first + " = " + setting.second);
      loads_with(setting.first, setting.second);
    }
    // A cast of such a number to an integer is undefined.
    for (const char* numbers :
         {R"("max_iterations":1e300,"seed":1)", R"("max_iterations":1,"seed":-8e96)"}) {
      const bool is_used = name.find("knn-svm") != std::string::npos;
      EXPECT_EQ(loads_with("training", std::string(R"({"squared_slacks":true,"tube":0,"eps":1,)") +
                                           numbers + "}"),
                !is_used);
    }
    // Rows of no columns take no bytes, however many they are.
    EXPECT_FALSE(loads(edited(saved, [](auto& header) {
      const auto at = header["rows"]["data_offsets"][0];
      header["filler"] = header["rows"];
      header["rows"] = {
          {"dtype", "F32"}, {"shape", {std::int64_t{1} << 60, 0}}, {"data_offsets", {at, at}}};
      header["__metadata__"]["columns"] = "0";
      header["__metadata__"]["scaling"] = "none";
    })));
  }
}

TEST(CorruptModel, HostileHeaders) {
  EXPECT_FALSE(loads(with_header("{\"a\":" + std::string(1000000, '['))));
  EXPECT_FALSE(loads(with_header(
      R"({"a":{"dtype":"F64","shape":[4611686018427387904,8],"data_offsets":[0,0]}})")));
  EXPECT_FALSE(loads(with_header(
      R"({"a":{"dtype":"F64","shape":[0,4611686018427387904],"data_offsets":[9999,9999]}})")));
  EXPECT_FALSE(loads(with_header(R"({"a":{"dtype":"F64","shape":[-1],"data_offsets":[0,0]}})")));
  EXPECT_FALSE(loads(with_header(R"({"a":{"dtype":"F64","shape":[1.5],"data_offsets":[0,0]}})")));
  EXPECT_FALSE(loads(with_header(R"({"a":{"dtype":1,"shape":[],"data_offsets":[0,8]}})")));
  EXPECT_FALSE(loads(with_header(R"({"a":7})")));
  EXPECT_FALSE(loads(with_header(R"({"__metadata__":{"format":1}})")));
  EXPECT_FALSE(loads(with_header(R"([1,2])")));
  EXPECT_FALSE(loads(std::string(8, '\xff') + "{}"));
}

}  // namespace
}  // namespace tamis
