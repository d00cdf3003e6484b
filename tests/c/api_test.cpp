// What the C functions do with wrong arguments, and that they are the C++ functions otherwise.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tamis/generate.hpp"
#include "tamis/predict.hpp"
#include "tamis/tamis.h"
#include "tamis/train.hpp"
#include "tamis/version.hpp"

namespace tamis::testing {
namespace {

using DataHandle = std::unique_ptr<tamis_data, decltype(&tamis_data_free)>;
using ModelHandle = std::unique_ptr<tamis_model, decltype(&tamis_model_free)>;
using OptionsHandle = std::unique_ptr<tamis_options, decltype(&tamis_options_free)>;
using ControlHandle = std::unique_ptr<tamis_control, decltype(&tamis_control_free)>;

// An error of one call after the other.
struct Failure {
  tamis_error* error = nullptr;
  Failure() = default;
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  ~Failure() { tamis_error_free(error); }
  tamis_error** out() { return &error; }
  int code() const { return tamis_error_code(error); }
  std::string text() const { return tamis_error_message(error); }
};

Dataset board(Index rows) { return generate("checkerboard", {.rows = rows}).data; }

std::vector<double> labels_of(const Dataset& data) {
  std::vector<double> labels;
  for (Index i = 0; i < data.rows(); ++i) labels.push_back(data.labels().number(i));
  return labels;
}

DataHandle view_of(const Dataset& data) {
  DataHandle handle(
      tamis_data_dense(data.features().dense_values().data(), data.rows(), data.cols(), nullptr),
      tamis_data_free);
  const std::vector<double> labels = labels_of(data);
  EXPECT_EQ(tamis_data_set_labels(handle.get(), labels.data(), data.rows(), nullptr), TAMIS_OK);
  return handle;
}

OptionsHandle options_of(const std::vector<std::pair<const char*, const char*>>& values) {
  OptionsHandle options(tamis_options_new(), tamis_options_free);
  for (const auto& [name, value] : values) {
    Failure failure;
    EXPECT_EQ(tamis_options_set(options.get(), name, value, failure.out()), TAMIS_OK)
        << failure.text();
  }
  return options;
}

ModelHandle trained_on(const Dataset& data) {
  const OptionsHandle options = options_of({{"cost", "10"}, {"gamma", "100"}});
  return {tamis_train(view_of(data).get(), options.get(), nullptr, nullptr, nullptr),
          tamis_model_free};
}

TEST(CApi, TrainsWhatTheLibraryTrains) {
  const Dataset data = board(500);
  const ModelHandle model = trained_on(data);
  TrainOptions options;
  options.cost = 10;
  options.gamma = 100.0;
  const TrainResult expected = train(data, options);
  std::vector<double> values(500);
  ASSERT_EQ(
      tamis_decision_values(model.get(), view_of(data).get(), nullptr, values.data(), 500, nullptr),
      TAMIS_OK);
  EXPECT_EQ(values, decision_values(expected.model, data.features()).values);
  EXPECT_EQ(tamis_model_num_support_vectors(model.get()), expected.model.num_support_vectors());
  EXPECT_EQ(tamis_model_description(model.get()), expected.model.describe());
  EXPECT_STREQ(tamis_version(), TAMIS_VERSION);
}

TEST(CApi, NullHandlesAreErrorsOrNothing) {
  Failure failure;
  EXPECT_EQ(tamis_train(nullptr, nullptr, nullptr, nullptr, failure.out()), nullptr);
  EXPECT_EQ(failure.code(), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(failure.text(), "data is NULL");
  EXPECT_EQ(tamis_predict(nullptr, nullptr, nullptr, nullptr, 0, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(failure.text(), "model is NULL");
  EXPECT_EQ(tamis_options_set(nullptr, "cost", "1", failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_model_load(nullptr, nullptr, failure.out()), nullptr);
  EXPECT_EQ(tamis_model_save(nullptr, "x", nullptr, failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_data_read(nullptr, nullptr, nullptr, nullptr, failure.out()), nullptr);
  EXPECT_EQ(tamis_data_dense(nullptr, 1, 1, failure.out()), nullptr);
  EXPECT_EQ(tamis_data_csr(nullptr, nullptr, nullptr, 1, 1, failure.out()), nullptr);
  EXPECT_EQ(tamis_data_set_labels(nullptr, nullptr, 0, failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_control_set_threads(nullptr, 1, failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_calibrate(nullptr, nullptr, nullptr, nullptr, failure.out()), nullptr);
  EXPECT_EQ(tamis_report_number(nullptr, "gap", nullptr, failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(failure.text(), "report is NULL");
  // The caller need not want the error.
  EXPECT_EQ(tamis_train(nullptr, nullptr, nullptr, nullptr, nullptr), nullptr);
  EXPECT_EQ(tamis_model_num_features(nullptr), 0);
  EXPECT_EQ(tamis_model_num_decision_columns(nullptr), 0);
  EXPECT_EQ(tamis_model_class_name(nullptr, 0), nullptr);
  EXPECT_TRUE(std::isnan(tamis_model_class_number(nullptr, 0)));
  EXPECT_EQ(tamis_data_rows(nullptr), 0);
  EXPECT_TRUE(std::isnan(tamis_data_label(nullptr, 0)));
  EXPECT_EQ(tamis_report_warning(nullptr, 0), nullptr);
  EXPECT_STREQ(tamis_error_message(nullptr), "");
  EXPECT_EQ(tamis_error_code(nullptr), TAMIS_OK);
  tamis_control_cancel(nullptr);
  tamis_control_set_progress(nullptr, nullptr, nullptr);
  for (const auto& free_null :
       {+[] { tamis_model_free(nullptr); }, +[] { tamis_data_free(nullptr); },
        +[] { tamis_options_free(nullptr); }, +[] { tamis_control_free(nullptr); },
        +[] { tamis_report_free(nullptr); }, +[] { tamis_error_free(nullptr); }})
    free_null();
}

TEST(CApi, OptionsAreCheckedAndNamed) {
  Failure failure;
  const OptionsHandle options(tamis_options_new(), tamis_options_free);
  EXPECT_EQ(tamis_options_set(options.get(), "csot", "10", failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(failure.text(), "there is no option 'csot': did you mean cost?");
  EXPECT_EQ(tamis_options_set(options.get(), "lable", "y", failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(failure.text(), "there is no option 'lable': did you mean label?");
  EXPECT_EQ(tamis_options_set(options.get(), "cost", "ten", failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_NE(failure.text().find("ten"), std::string::npos);
  EXPECT_EQ(tamis_options_set(options.get(), "probability-folds", "2x", failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_options_set(options.get(), "index-base", "2", failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_options_set(options.get(), "format", "xls", failure.out()),
            TAMIS_INVALID_ARGUMENT);
  for (const char* format : {"svmlight", "csv", "npy", "csr"})
    EXPECT_EQ(tamis_options_set(options.get(), "format", format, failure.out()), TAMIS_OK);
  EXPECT_EQ(tamis_options_set(options.get(), "cost", nullptr, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(failure.text(), "value is NULL");
  // A range is checked by training.
  EXPECT_EQ(tamis_options_set(options.get(), "cost", "-1", failure.out()), TAMIS_OK);
  const DataHandle data = view_of(board(50));
  EXPECT_EQ(tamis_train(data.get(), options.get(), nullptr, nullptr, failure.out()), nullptr);
  EXPECT_EQ(failure.code(), TAMIS_INVALID_ARGUMENT);
  EXPECT_NE(failure.text().find("cost is -1"), std::string::npos);
}

TEST(CApi, EveryTrainingOptionIsSettable) {
  const OptionsHandle options(tamis_options_new(), tamis_options_free);
  for (const OptionDescription& described : train_option_table()) {
    Failure failure;
    const std::string shown = described.text(TrainOptions());
    const std::string value = described.type == OptionType::labels && shown.empty() ? "1:2" : shown;
    EXPECT_EQ(tamis_options_set(options.get(), std::string(described.name).c_str(), value.c_str(),
                                failure.out()),
              TAMIS_OK)
        << described.name << ": " << failure.text();
  }
}

TEST(CApi, OptionsThatAreNotUsedAreRefused) {
  Failure failure;
  const OptionsHandle options = options_of({{"method", "linear"}, {"gamma", "2"}});
  const Dataset rows = board(50);
  const DataHandle data = view_of(rows);
  EXPECT_EQ(tamis_train(data.get(), options.get(), nullptr, nullptr, failure.out()), nullptr);
  EXPECT_EQ(failure.text(),
            "the option gamma is not used by the method linear in a classification");
}

TEST(CApi, SizesMustFit) {
  Failure failure;
  const Dataset rows = board(50);
  const DataHandle data = view_of(rows);
  const ModelHandle model = trained_on(rows);
  std::vector<double> room(60);
  EXPECT_EQ(tamis_predict(model.get(), data.get(), nullptr, room.data(), 49, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(failure.text(),
            "there is room for 49 labels, and 50 are written: give exactly this number");
  EXPECT_EQ(tamis_decision_values(model.get(), data.get(), nullptr, room.data(), 51, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_decision_values(model.get(), data.get(), nullptr, nullptr, 50, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  const DataHandle none(tamis_data_dense(nullptr, 0, 2, failure.out()), tamis_data_free);
  EXPECT_EQ(tamis_predict(model.get(), none.get(), nullptr, nullptr, 0, failure.out()), TAMIS_OK);
  EXPECT_EQ(tamis_decision_values(model.get(), none.get(), nullptr, nullptr, 0, failure.out()),
            TAMIS_OK);
  EXPECT_EQ(tamis_data_set_labels(data.get(), room.data(), 3, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(failure.text(), "there are 3 labels for 50 rows: give one per row");
  EXPECT_EQ(tamis_data_set_weights(data.get(), nullptr, 50, failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_data_dense(nullptr, -1, 2, failure.out()), nullptr);
  const float three[3] = {0, 0, 1};
  double label = 0;
  EXPECT_EQ(tamis_predict_row(model.get(), three, 3, &label, failure.out()), TAMIS_DATA_ERROR);
  EXPECT_EQ(tamis_predict_row(model.get(), three, -1, &label, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_predict_row(model.get(), nullptr, 2, &label, failure.out()),
            TAMIS_INVALID_ARGUMENT);
}

TEST(CApi, ValuesMustBeFinite) {
  Failure failure;
  const Dataset rows = board(50);
  const ModelHandle model = trained_on(rows);
  const float bad[2] = {0, std::numeric_limits<float>::quiet_NaN()};
  double label = 0;
  EXPECT_EQ(tamis_predict_row(model.get(), bad, 2, &label, failure.out()), TAMIS_DATA_ERROR);
  const DataHandle data(tamis_data_dense(bad, 1, 2, nullptr), tamis_data_free);
  const double one = 1;
  EXPECT_EQ(tamis_data_set_labels(data.get(), &one, 1, nullptr), TAMIS_OK);
  EXPECT_EQ(tamis_train(data.get(), nullptr, nullptr, nullptr, failure.out()), nullptr);
  EXPECT_EQ(failure.code(), TAMIS_DATA_ERROR);
  const double weight = -1;
  EXPECT_EQ(tamis_data_set_weights(data.get(), &weight, 1, failure.out()), TAMIS_DATA_ERROR);
}

TEST(CApi, SparseRowsAreChecked) {
  Failure failure;
  const std::int64_t good[3] = {0, 1, 2};
  const std::int32_t columns[2] = {0, 1};
  const float values[2] = {1, 1};
  const DataHandle data(tamis_data_csr(good, columns, values, 2, 2, failure.out()),
                        tamis_data_free);
  EXPECT_EQ(tamis_data_rows(data.get()), 2);
  const std::int64_t late[3] = {1, 1, 2};
  EXPECT_EQ(tamis_data_csr(late, columns, values, 2, 2, failure.out()), nullptr);
  EXPECT_EQ(failure.code(), TAMIS_DATA_ERROR);
  const std::int64_t falling[3] = {0, 3, 2};
  EXPECT_EQ(tamis_data_csr(falling, columns, values, 2, 2, failure.out()), nullptr);
  EXPECT_EQ(tamis_data_csr(good, columns, values, 2, 1, failure.out()), nullptr);
  EXPECT_EQ(tamis_data_csr(good, nullptr, values, 2, 2, failure.out()), nullptr);
  EXPECT_EQ(failure.text(), "columns is NULL");
}

TEST(CApi, WordsAsLabels) {
  Failure failure;
  const float values[4] = {0, 1, 10, 11};
  const char* const labels[4] = {"low", "low", "high", "high"};
  const DataHandle data(tamis_data_dense(values, 4, 1, nullptr), tamis_data_free);
  ASSERT_EQ(tamis_data_set_text_labels(data.get(), labels, 4, failure.out()), TAMIS_OK);
  const ModelHandle model(tamis_train(data.get(), nullptr, nullptr, nullptr, failure.out()),
                          tamis_model_free);
  ASSERT_NE(model, nullptr) << failure.text();
  std::int32_t positions[4];
  ASSERT_EQ(tamis_predict_classes(model.get(), data.get(), nullptr, positions, 4, failure.out()),
            TAMIS_OK);
  for (int i = 0; i < 4; ++i)
    EXPECT_STREQ(tamis_model_class_name(model.get(), positions[i]), labels[i]);
  double found[4];
  EXPECT_EQ(tamis_predict(model.get(), data.get(), nullptr, found, 4, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_TRUE(std::isnan(tamis_model_class_number(model.get(), 0)));
  EXPECT_EQ(tamis_model_class_name(model.get(), 2), nullptr);
  EXPECT_EQ(tamis_model_class_name(model.get(), -1), nullptr);
  const char* const broken[4] = {"low", nullptr, "high", "high"};
  EXPECT_EQ(tamis_data_set_text_labels(data.get(), broken, 4, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  const char* const odd[4] = {"low", "\xff", "high", "high"};
  EXPECT_EQ(tamis_data_set_text_labels(data.get(), odd, 4, failure.out()), TAMIS_DATA_ERROR);
}

// Their model could not be loaded.
TEST(CApi, ClassesMustBeFinite) {
  const float values[4] = {0, 1, 10, 11};
  const DataHandle data(tamis_data_dense(values, 4, 1, nullptr), tamis_data_free);
  for (const double odd : {std::nan(""), HUGE_VAL}) {
    Failure failure;
    const double labels[4] = {1, 1, odd, odd};
    ASSERT_EQ(tamis_data_set_labels(data.get(), labels, 4, failure.out()), TAMIS_OK);
    const ModelHandle model(tamis_train(data.get(), nullptr, nullptr, nullptr, failure.out()),
                            tamis_model_free);
    EXPECT_EQ(model, nullptr);
    EXPECT_EQ(failure.code(), TAMIS_DATA_ERROR);
    EXPECT_NE(failure.text().find("the label of row 3 is"), std::string::npos) << failure.text();
  }
}

TEST(CApi, ProbabilitiesFromFoldsAndFromHeldOutRows) {
  Failure failure;
  const Dataset rows = board(600);
  const DataHandle data = view_of(rows);
  const ModelHandle plain = trained_on(rows);
  std::vector<double> room(1200);
  EXPECT_EQ(tamis_probabilities(plain.get(), data.get(), nullptr, room.data(), 1200, failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_model_has_probabilities(plain.get()), 0);
  const ModelHandle later(
      tamis_calibrate(plain.get(), data.get(), "isotonic", nullptr, failure.out()),
      tamis_model_free);
  ASSERT_NE(later, nullptr) << failure.text();
  EXPECT_EQ(tamis_calibrate(plain.get(), data.get(), "magic", nullptr, failure.out()), nullptr);
  const OptionsHandle options =
      options_of({{"cost", "10"}, {"gamma", "100"}, {"probability-folds", "3"}});
  const ModelHandle model(tamis_train(data.get(), options.get(), nullptr, nullptr, failure.out()),
                          tamis_model_free);
  ASSERT_NE(model, nullptr) << failure.text();
  for (const tamis_model* one : {later.get(), model.get()}) {
    ASSERT_EQ(tamis_probabilities(one, data.get(), nullptr, room.data(), 1200, failure.out()),
              TAMIS_OK);
    double single[2];
    ASSERT_EQ(tamis_probabilities_row(one, rows.features().dense_row(7).data(), 2, single, 2,
                                      failure.out()),
              TAMIS_OK);
    EXPECT_EQ(single[0], room[14]);
    EXPECT_EQ(single[1], room[15]);
    EXPECT_NEAR(single[0] + single[1], 1, 1e-12);
  }
}

TEST(CApi, FilesAndTheirErrors) {
  Failure failure;
  const std::string folder = ::testing::TempDir() + "tamis_c_api";
  std::filesystem::create_directories(folder);
  const std::string table = folder + "/rows.csv";
  std::ofstream(table) << "b,a,kind\n1,2,x\n3,4,y\n1,2.5,x\n3.5,4,y\n";
  const OptionsHandle options = options_of({{"label", "kind"}});
  const DataHandle data(
      tamis_data_read(table.c_str(), options.get(), nullptr, nullptr, failure.out()),
      tamis_data_free);
  ASSERT_NE(data, nullptr) << failure.text();
  const ModelHandle model(tamis_train(data.get(), options.get(), nullptr, nullptr, failure.out()),
                          tamis_model_free);
  ASSERT_NE(model, nullptr) << failure.text();
  // Columns in another order are matched by name.
  const std::string swapped = folder + "/swapped.csv";
  std::ofstream(swapped) << "a,b,kind\n2,1,x\n4,3,y\n";
  const DataHandle other(
      tamis_data_read(swapped.c_str(), options.get(), model.get(), nullptr, failure.out()),
      tamis_data_free);
  ASSERT_NE(other, nullptr) << failure.text();
  std::int32_t positions[2];
  ASSERT_EQ(tamis_predict_classes(model.get(), other.get(), nullptr, positions, 2, failure.out()),
            TAMIS_OK);
  EXPECT_STREQ(tamis_model_class_name(model.get(), positions[0]), "x");
  EXPECT_STREQ(tamis_model_class_name(model.get(), positions[1]), "y");
  const std::string nowhere = folder + "/no/such/file";
  EXPECT_EQ(tamis_data_read(nowhere.c_str(), nullptr, nullptr, nullptr, failure.out()), nullptr);
  EXPECT_EQ(failure.code(), TAMIS_IO_ERROR);
  EXPECT_EQ(tamis_model_save(model.get(), nowhere.c_str(), nullptr, failure.out()), TAMIS_IO_ERROR);
  EXPECT_EQ(tamis_model_save(model.get(), swapped.c_str(), "pickle", failure.out()),
            TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_model_load(table.c_str(), nullptr, failure.out()), nullptr);
  EXPECT_EQ(failure.code(), TAMIS_DATA_ERROR);
  std::filesystem::remove_all(folder);
}

TEST(CApi, TheReportHasNumbersByName) {
  Failure failure;
  const Dataset rows = board(300);
  const DataHandle data = view_of(rows);
  const OptionsHandle options =
      options_of({{"cost", "1000"}, {"gamma", "100"}, {"max-iterations", "5"}});
  tamis_report* report = nullptr;
  const ModelHandle model(tamis_train(data.get(), options.get(), nullptr, &report, failure.out()),
                          tamis_model_free);
  ASSERT_NE(model, nullptr) << failure.text();
  EXPECT_STREQ(tamis_report_stop_reason(report), "iteration limit");
  for (const char* name :
       {"rows", "features", "classes", "binary_svms", "support_vectors", "bounded_support_vectors",
        "objective", "gap", "violation", "iterations", "kernel_evaluations", "cached_evaluations",
        "train_seconds", "peak_memory_bytes"}) {
    double value = std::nan("");
    EXPECT_EQ(tamis_report_number(report, name, &value, failure.out()), TAMIS_OK) << name;
    EXPECT_TRUE(std::isfinite(value)) << name;
  }
  double value = 0;
  EXPECT_EQ(tamis_report_number(report, "gaap", &value, failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_NE(failure.text().find("gap"), std::string::npos);
  EXPECT_GT(tamis_report_num_warnings(report), 0);
  EXPECT_NE(tamis_report_warning(report, 0), nullptr);
  EXPECT_EQ(tamis_report_warning(report, 99), nullptr);
  tamis_report_free(report);
}

TEST(CApi, CancellingAndMemory) {
  Failure failure;
  const Dataset rows = board(2000);
  const DataHandle data = view_of(rows);
  const ModelHandle model = trained_on(rows);
  const ControlHandle control(tamis_control_new(), tamis_control_free);
  std::vector<double> room(2000);
  tamis_control_cancel(control.get());
  EXPECT_EQ(tamis_predict(model.get(), data.get(), control.get(), room.data(), 2000, failure.out()),
            TAMIS_CANCELLED);
  tamis_report* report = nullptr;
  const ModelHandle partial(tamis_train(data.get(), nullptr, control.get(), &report, failure.out()),
                            tamis_model_free);
  ASSERT_NE(partial, nullptr) << failure.text();
  EXPECT_STREQ(tamis_report_stop_reason(report), "interrupted");
  tamis_report_free(report);
  tamis_control_resume(control.get());
  EXPECT_EQ(tamis_predict(model.get(), data.get(), control.get(), room.data(), 2000, failure.out()),
            TAMIS_OK);
  EXPECT_EQ(tamis_control_set_threads(control.get(), 5000, failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_control_set_memory(control.get(), -1, failure.out()), TAMIS_INVALID_ARGUMENT);
}

int stop_at_once(const char*, double, double, void* user) {
  *static_cast<std::atomic<int>*>(user) += 1;
  return 1;
}

TEST(CApi, TheProgressFunctionCanCancel) {
  Failure failure;
  const Dataset rows = board(20000);
  const DataHandle data = view_of(rows);
  const OptionsHandle options = options_of({{"cost", "1e6"}, {"gamma", "300"}, {"eps", "1e-8"}});
  const ControlHandle control(tamis_control_new(), tamis_control_free);
  std::atomic<int> calls = 0;
  tamis_control_set_progress(control.get(), stop_at_once, &calls);
  tamis_report* report = nullptr;
  const ModelHandle model(
      tamis_train(data.get(), options.get(), control.get(), &report, failure.out()),
      tamis_model_free);
  ASSERT_NE(model, nullptr) << failure.text();
  EXPECT_GE(calls, 1);
  EXPECT_STREQ(tamis_report_stop_reason(report), "interrupted");
  tamis_report_free(report);
}

TEST(CApi, ManyThreadsShareAModel) {
  const Dataset rows = board(400);
  const ModelHandle model = trained_on(rows);
  const DataHandle data = view_of(rows);
  std::vector<double> expected(400);
  ASSERT_EQ(tamis_predict(model.get(), data.get(), nullptr, expected.data(), 400, nullptr),
            TAMIS_OK);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (Index i = 0; i < 400; ++i) {
        double label = 0;
        tamis_predict_row(model.get(), rows.features().dense_row(i).data(), 2, &label, nullptr);
        if (label != expected[static_cast<std::size_t>(i)] ||
            tamis_model_num_decision_columns(model.get()) != 1)
          ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CApi, AnErrorIsReplacedAndSuccessLeavesIt) {
  Failure failure;
  tamis_model_load(nullptr, nullptr, failure.out());
  const tamis_error* first = failure.error;
  const OptionsHandle options(tamis_options_new(), tamis_options_free);
  EXPECT_EQ(tamis_options_set(options.get(), "cost", "1", failure.out()), TAMIS_OK);
  EXPECT_EQ(failure.error, first);
  EXPECT_EQ(tamis_options_set(options.get(), "no", "1", failure.out()), TAMIS_INVALID_ARGUMENT);
  EXPECT_NE(failure.text(), "path is NULL");
}

}  // namespace
}  // namespace tamis::testing
