// Damaged model files: each must give an error of ours or a model that works; nothing else.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>

#include "format/temporary_file.hpp"
#include "io/libsvm_model.hpp"
#include "io/native_model.hpp"
#include "model/calibration.hpp"
#include "model/expansion_fixtures.hpp"
#include "model/weighted_ensemble.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

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
  const Model model{Task::classification, classes, scaling, machine, "exact"};
  save_model(model.with_calibration(calibration), file.path(), format);
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
  save_model({Task::classification,
              Labels::numeric({1, -1}),
              {},
              std::make_shared<const WeightedEnsemble>(std::move(parts)),
              "random-subset"},
             file.path());
  return file.read();
}

// From memory that is exactly as long as the file, so that a read beyond it is found out.
bool loads(const std::string& bytes) {
  const std::shared_ptr<void> copy(std::malloc(bytes.size()), [](void* p) { std::free(p); });
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(copy.get()));
  const InputBytes input{{static_cast<const char*>(copy.get()), bytes.size()}, copy, 0};
  try {
    const Model model =
        is_libsvm_model(bytes) ? parse_libsvm_model("x", input) : parse_native_model(input);
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

TEST(CorruptModel, AnyByteChanged) {
  for (const bool sparse : {false, true}) {
    for (const std::string& saved :
         {save_small(sparse, ModelFormat::native), save_small(sparse, ModelFormat::libsvm),
          save_ensemble(sparse)}) {
      for (std::size_t i = 0; i < saved.size(); ++i) {
        std::string changed = saved;
        for (const int flip : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF}) {
          changed[i] = static_cast<char>(saved[i] ^ flip);
          loads(changed);
        }
        for (const char byte : {'0', '9', '-', '"', '{', ']', ',', '\n', '\0'}) {
          changed[i] = byte;
          loads(changed);
        }
      }
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

TEST(CorruptModel, HostileHeaders) {
  const auto with_header = [](std::string text) {
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + text;
  };
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
