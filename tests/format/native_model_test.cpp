#include "io/native_model.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>

#include "calibration/calibration.hpp"
#include "format/edited_header.hpp"
#include "format/local_cases.hpp"
#include "format/temporary_file.hpp"
#include "io/machine_format.hpp"
#include "io/tensor_file.hpp"
#include "model/ensemble_fixtures.hpp"
#include "model/expansion_fixtures.hpp"
#include "model/linear_machine.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/version.hpp"

namespace tamis {
namespace {

void expect_round_trip(const Model& model, const Matrix& rows) {
  const TemporaryFile file;
  save_model(model, file.path());
  const Model loaded = load_model(file.path());
  EXPECT_EQ(loaded.task(), model.task());
  EXPECT_EQ(loaded.method(), model.method());
  EXPECT_EQ(loaded.classes(), model.classes());
  EXPECT_EQ(loaded.describe(), model.describe());
  EXPECT_EQ(loaded.scaling().offset, model.scaling().offset);
  EXPECT_EQ(loaded.scaling().factor, model.scaling().factor);
  EXPECT_EQ(loaded.scaling().lower, model.scaling().lower);
  EXPECT_EQ(loaded.scaling().matrix, model.scaling().matrix);
  EXPECT_EQ(decision_values(loaded, rows).values, decision_values(model, rows).values);
  EXPECT_EQ(predict(loaded, rows), predict(model, rows));
  // What is written is a function of the model.
  const TemporaryFile again;
  save_model(loaded, again.path());
  EXPECT_EQ(again.read(), file.read());
  EXPECT_EQ(model_to_bytes(model), file.read());
  EXPECT_EQ(model_to_bytes(model_from_bytes(file.read())), file.read());
}

TEST(NativeModel, KeepsEverything) {
  EXPECT_TRUE(rc::check("round trip", [] {
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const Index cols = *rc::gen::inRange<Index>(1, 9);
    const auto decision =
        *rc::gen::element(Decision::single, Decision::one_vs_one, Decision::one_vs_rest);
    const Index classes = decision == Decision::single ? 2 : *rc::gen::inRange<Index>(1, 5);
    Matrix vectors = random_rows(*rc::gen::inRange<Index>(0, 40), cols, random);
    if (*rc::gen::arbitrary<bool>()) vectors = vectors.to_sparse();
    const Matrix rows = random_rows(20, cols, random);
    auto machine = std::make_shared<const KernelExpansion>(random_parts(
        *rc::gen::elementOf(all_kernels()), std::move(vectors), decision, classes, random));
    const auto method =
        *rc::gen::element(ScalingMethod::none, ScalingMethod::minmax, ScalingMethod::standard,
                          ScalingMethod::maxabs, ScalingMethod::robust, ScalingMethod::quantile);
    Scaling scaling = Scaling::fit(rows, method, -1, 1);
    if (method != ScalingMethod::minmax && *rc::gen::arbitrary<bool>())
      scaling = scaling.with_weights(std::vector<float>(usize(cols), 0.25F));
    if (method != ScalingMethod::minmax && *rc::gen::arbitrary<bool>()) {
      std::vector<float> matrix(usize(cols * cols), 0.5F);
      for (Index j = 0; j < cols; ++j) matrix[usize(j * cols + j)] = static_cast<float>(j + 1);
      scaling = scaling.with_matrix(matrix);
    }
    std::vector<double> numbers;
    std::vector<std::string> words;
    for (Index c = 0; c < classes; ++c) {
      numbers.push_back(random.uniform(-5, 5));
      // any character of ASCII, and others
      words.push_back(std::to_string(c) + "\xc3\xa9" +
                      *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127)));
    }
    const bool is_text = *rc::gen::arbitrary<bool>();
    expect_round_trip(
        make_model(Task::classification, is_text ? Labels::text(words) : Labels::numeric(numbers),
                   scaling, machine, "exact"),
        rows);
    if (decision == Decision::single)
      expect_round_trip(make_model(Task::regression, {}, scaling, machine, "exact"), rows);
    RC_ASSERT(!::testing::Test::HasFailure());
  }));
}

Model linear_model(Decision decision, Index classes, Random& random) {
  LinearParts parts;
  parts.decision = decision;
  parts.num_features = 3;
  const Index machines = num_machines(decision, classes);
  for (Index k = 0; k < 3 * machines; ++k) parts.weights.push_back(random.normal());
  for (Index m = 0; m < machines; ++m) parts.offsets.push_back(random.normal());
  std::vector<double> labels;
  for (Index c = 0; c < classes; ++c) labels.push_back(static_cast<double>(c));
  return make_model(Task::classification, Labels::numeric(labels), {},
                    std::make_shared<const LinearMachine>(parts), "linear");
}

TEST(NativeModel, KeepsLinearMachinesAndProbabilities) {
  Random random(7);
  const Matrix rows = random_rows(30, 3, random);
  for (const auto& [decision, classes] : {std::pair{Decision::single, Index{2}},
                                          {Decision::one_vs_one, 3},
                                          {Decision::one_vs_rest, 3}}) {
    const Model plain = linear_model(decision, classes, random);
    expect_round_trip(plain, rows);
    for (const auto method : {CalibrationMethod::sigmoid, CalibrationMethod::isotonic}) {
      auto calibration = std::make_shared<Calibration>();
      calibration->method = method;
      calibration->decision = decision;
      calibration->num_classes = classes;
      for (Index m = 0; m < num_machines(decision, classes); ++m) {
        Calibrator one;
        if (method == CalibrationMethod::sigmoid) {
          one.slope = random.normal();
          one.intercept = random.normal();
        } else {
          one.values = {-1, 0.5, 2};
          one.probabilities = {0.1, 0.1, random.uniform(0.5, 0.9)};
          if (m == 1) one = Calibrator{0, 0, {0.3}, {0.4}};
        }
        calibration->machines.push_back(one);
      }
      const Model model = with_calibration(plain, calibration);
      expect_round_trip(model, rows);
      const TemporaryFile file;
      save_model(model, file.path());
      EXPECT_EQ(probabilities(load_model(file.path()), rows).values,
                probabilities(model, rows).values);
    }
  }
}

TEST(NativeModel, KeepsLocalMachines) {
  const Matrix queries = testing::random_matrix(40, 3, 4);
  for (const bool sparse : {false, true}) {
    for (const auto& [name, model] : testing::local_cases(60, 20, sparse)) {
      SCOPED_TRACE(name);
      expect_round_trip(model, queries);
    }
  }
}

TEST(NativeModel, KeepsEnsembles) {
  Random random(9);
  const Matrix rows = random_rows(50, 4, random);
  for (const auto& [decision, classes] : {std::pair{Decision::single, Index{2}},
                                          {Decision::one_vs_one, 3},
                                          {Decision::one_vs_rest, 3}}) {
    for (const bool sparse : {false, true}) {
      EnsembleParts parts = random_ensemble(
          Kernel{}, sparse ? random_rows(30, 4, random).to_sparse() : random_rows(30, 4, random),
          decision, num_machines(decision, classes), random);
      if (sparse) parts = with_kernels_and_sigmoids(parts, random);
      expect_round_trip(
          make_model(Task::classification,
                     Labels::numeric(classes == 2 ? std::vector<double>{1, -1}
                                                  : std::vector<double>{1, 2, 3}),
                     Scaling::fit(rows, ScalingMethod::minmax),
                     std::make_shared<const WeightedEnsemble>(parts), "random-subset"),
          rows);
    }
  }
}

TEST(NativeModel, KeepsOnlyTheRowsThatLocalMachinesNeed) {
  const auto parts_of = [](const Model& model) {
    return dynamic_cast<const LocalModels&>(machine_of(model)).parts();
  };
  // Two clouds far apart: neighbourhoods of one class, which need no support vectors.
  const Dataset apart =
      testing::named(testing::clouds(200, 3, 2, 5, 40), std::vector<double>{1, 2});
  const TemporaryFile file;
  save_model(train(apart, testing::local_case_options("falk", 20)).model, file.path());
  EXPECT_EQ(parts_of(load_model(file.path())).rows.rows(), 200);
  save_model(train(apart, testing::local_case_options("falk-c", 20)).model, file.path());
  const Model centres = load_model(file.path());
  EXPECT_LE(parts_of(centres).rows.rows(),
            parts_of(centres).anchors.size() + centres.num_support_vectors());
  EXPECT_LT(parts_of(centres).rows.rows(), 100);
}

TEST(NativeModel, RefusesProbabilitiesThatDoNotFit) {
  Random random(8);
  const Model plain = linear_model(Decision::single, 2, random);
  const auto refused = [&](CalibrationMethod method, std::vector<Calibrator> machines) {
    auto calibration = std::make_shared<Calibration>();
    calibration->method = method;
    calibration->num_classes = 2;
    calibration->machines = std::move(machines);
    const TemporaryFile file;
    save_model(with_calibration(plain, calibration), file.path());
    EXPECT_THROW(load_model(file.path()), DataError);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  refused(CalibrationMethod::sigmoid, {});
  refused(CalibrationMethod::sigmoid, {{1, 0, {}, {}}, {1, 0, {}, {}}});
  refused(CalibrationMethod::sigmoid, {{infinity, 0, {}, {}}});
  refused(CalibrationMethod::isotonic, {{0, 0, {}, {}}});
  refused(CalibrationMethod::isotonic, {{0, 0, {1, 1}, {0.2, 0.3}}});
  refused(CalibrationMethod::isotonic, {{0, 0, {1, 2}, {0.3, 0.2}}});
  refused(CalibrationMethod::isotonic, {{0, 0, {1, 2}, {0.3, 1.2}}});
}

TEST(NativeModel, IsASafetensorsFile) {
  Random random(1);
  auto machine = std::make_shared<const KernelExpansion>(
      random_parts({}, random_rows(5, 3, random), Decision::single, 2, random));
  const TemporaryFile file;
  save_model(make_model(Task::classification, Labels::text({"yes", "no"}), {}, machine, "exact"),
             file.path());
  const std::string bytes = file.read();
  EXPECT_EQ((8 + testing::header_length(bytes)) % 64, 0U);
  const auto header = testing::header_of(bytes);
  EXPECT_EQ(header["__metadata__"]["format"], "tamis");
  EXPECT_EQ(header["__metadata__"]["format_version"], "1");
  EXPECT_EQ(header["__metadata__"]["kind"], "kernel-expansion");
  EXPECT_EQ(header["support_vectors"]["dtype"], "F32");
  EXPECT_EQ(header["support_vectors"]["shape"], nlohmann::json({5, 3}));
}

std::string message_of(const std::string& path) {
  try {
    load_model(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(NativeModel, SaysWhatIsNoModel) {
  const TemporaryFile file;
  EXPECT_EQ(message_of(file.path()), file.path() + ": cannot open: No such file or directory");
  file.write("");
  EXPECT_EQ(message_of(file.path()), file.path() + ": not a model file: it is empty");
  file.write("hello, this is not a model at all");
  EXPECT_EQ(message_of(file.path()),
            file.path() + ": not a model file: neither tamis's format nor LIBSVM text");
  const std::string folder = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(message_of(folder), folder + ": cannot read: it is a folder");
  const std::string other = R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})";
  file.write(std::string("\x35\0\0\0\0\0\0\0", 8) + other);
  ASSERT_EQ(other.size(), 0x35U);
  EXPECT_EQ(message_of(file.path()),
            file.path() + ": not a model file: the metadata do not say that the format is tamis");
}

TEST(NativeModel, DamagedBytesInMemoryAreRefused) {
  EXPECT_THROW(model_from_bytes(""), DataError);
  EXPECT_THROW(model_from_bytes("svm_type c_svc"), DataError);
  EXPECT_THROW(model_to_bytes(Model()), InvalidArgument);
}

// Loads a small model after one of its metadata was set; the message without the file's name.
std::string message_with(const std::string& key, const std::string& value) {
  Random random(2);
  auto machine = std::make_shared<const KernelExpansion>(
      random_parts({}, random_rows(1, 1, random), Decision::single, 2, random));
  auto calibration = std::make_shared<Calibration>();
  calibration->num_classes = 2;
  calibration->machines.resize(1);
  const Model model =
      make_model(Task::classification, Labels::numeric({1, 2}), {}, machine, "exact");
  const TemporaryFile file;
  file.write(
      testing::edited(model_to_bytes(with_calibration(model, calibration)), [&](auto& header) {
        header["__metadata__"]["tamis_version"] = "97.5";
        header["__metadata__"][key] = value;
      }));
  const std::string message = message_of(file.path());
  return message.starts_with(file.path()) ? message.substr(file.path().size()) : message;
}

constexpr char kAdvice[] =
    "if the file is not damaged, use the version that wrote it, tamis 97.5, or a newer one";

TEST(NativeModel, AsksForANewerVersion) {
  EXPECT_EQ(message_with("format_version", "1"), "no error");
  EXPECT_EQ(message_with("format_version", "7"),
            ": the model has format version 7, but tamis " TAMIS_VERSION " reads up to 2; " +
                std::string(kAdvice));
  EXPECT_EQ(message_with("format_version", "0"),
            ": the model has format version 0: it must be 1 or above");
  EXPECT_EQ(message_with("format_version", "1.5"),
            ": 'format_version' is '1.5': it must be a whole number");
}

TEST(NativeModel, AsksForANewerVersionOfAnUnknownKind) {
  const std::string message = message_with("kind", "transformer");
  EXPECT_TRUE(message.starts_with(
      ": the model is of the kind 'transformer', but tamis " TAMIS_VERSION " knows only "))
      << message;
  for (const std::string_view kind : machine_kinds())
    EXPECT_NE(message.find(kind), std::string::npos) << kind;
  EXPECT_TRUE(message.ends_with(kAdvice)) << message;
}

TEST(NativeModel, AsksForANewerVersionOfAnyUnknownName) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"task", "there is no task 'x': classification or regression"},
      {"decision", "there is no decision 'x': single, one-vs-one or one-vs-rest"},
      {"scaling",
       "there is no scaling 'x': none, minmax, standard, maxabs, robust, quantile or "
       "weighted"},
      {"calibration", "there is no calibration 'x': sigmoid or isotonic"}};
  for (const auto& [key, problem] : names)
    EXPECT_EQ(message_with(key, "x"), ": " + problem + "; " + kAdvice);
  EXPECT_EQ(
      message_with("kernel", R"({"type":"x","gamma":1,"coef0":0,"degree":3})"),
      ": there is no kernel 'x': linear, polynomial, rbf, laplacian, sigmoid or precomputed; " +
          std::string(kAdvice));
}

TEST(NativeModel, SaysWhatIsWrongWithAMatrix) {
  Random random(4);
  auto machine = std::make_shared<const KernelExpansion>(
      random_parts({KernelType::rbf, 0.5}, random_rows(5, 3, random), Decision::single, 2, random));
  const std::string saved = model_to_bytes(make_model(
      Task::regression, {}, Scaling().with_matrix({2, 1, 0, 1, 2, 0, 0, 0, 1}), machine, "exact"));
  const auto message = [&](const auto& edit) {
    try {
      model_from_bytes(testing::edited(saved, edit));
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_NE(message([](auto& h) { h["__metadata__"].erase("scaling_of_columns"); }), "");
  EXPECT_NE(message([](auto& h) { h["__metadata__"]["scaling_of_columns"] = "none"; }), "");
  EXPECT_NE(message([](auto& h) { h["__metadata__"]["scaling_of_columns"] = "mixed"; }), "");
  EXPECT_NE(message([](auto& h) { h["scaling_matrix"]["shape"] = {9}; }), "");
  EXPECT_NE(message([](auto& h) { h["other"] = h["scaling_matrix"], h.erase("scaling_matrix"); }),
            "");
}

TEST(NativeModel, SaysWhatIsWrongWithMetadata) {
  EXPECT_EQ(message_with("columns", "-2"),
            ": 'columns' is '-2': it must be a whole number from 0 to 2147483647");
  EXPECT_EQ(message_with("columns", "2"),
            ": 'support_vectors' has 1 column, but 'columns' in the metadata is 2");
  EXPECT_EQ(message_with("kernel", "rbf"),
            ": 'kernel' is 'rbf': it must be JSON with type, gamma, coef0 and degree");
}

TEST(NativeModel, IgnoresWhatItDoesNotKnow) {
  Random random(3);
  auto machine = std::make_shared<const KernelExpansion>(
      random_parts({}, random_rows(4, 2, random), Decision::single, 2, random));
  const TemporaryFile file;
  save_model(make_model(Task::regression, {}, {}, machine, "exact"), file.path());
  const std::string bytes = file.read();
  const std::size_t size = bytes.size() - 8 - testing::header_length(bytes);
  const auto add_later = [&](auto& header) {
    header["__metadata__"]["later"] = "more";
    header["later"] = {{"dtype", "U8"}, {"shape", {3}}, {"data_offsets", {size, size + 3}}};
  };
  file.write(testing::edited(bytes, add_later) + "abc");
  EXPECT_EQ(load_model(file.path()).num_support_vectors(), 4);
}

}  // namespace
}  // namespace tamis
