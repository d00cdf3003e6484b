// Models that know their columns: what is written is read, and damaged files are refused.
#include <gtest/gtest.h>

#include "format/edited_header.hpp"
#include "model/expansion_fixtures.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis {
namespace {

using testing::edited;
using testing::header_of;

ColumnMap full_map() {
  ColumnMap map;
  map.inputs = 3;
  map.names = {"color", "size", "b\xc3\xa5nd"};
  map.fills = {0, 2.5F, -1};
  map.indicators = {0, 2};
  map.texts = {{0, {"", "blue", "red wine"}, true}};
  return map;
}

Model model_with(const ColumnMap& map, Index cols) {
  Random random(1);
  auto machine = std::make_shared<const KernelExpansion>(
      random_parts({}, random_rows(4, cols, random), Decision::single, 2, random));
  return with_columns(
      make_model(Task::classification, Labels::numeric({1, 2}), {}, machine, "test"), map);
}

TEST(ColumnsOfAModel, AreWrittenAndRead) {
  const ColumnMap full = full_map();
  ASSERT_EQ(full.outputs(), 8);
  ColumnMap unnamed = full;
  unnamed.names.clear();
  ColumnMap numbers = full;
  numbers.texts.clear();
  ColumnMap text = full;
  text.fills.clear();
  text.indicators.clear();
  ColumnMap names;
  names.inputs = 2;
  names.names = {"x", "y"};
  for (const ColumnMap& map : {full, unnamed, numbers, text, names}) {
    const std::string saved = model_to_bytes(model_with(map, map.outputs()));
    EXPECT_EQ(model_from_bytes(saved).columns(), map);
    // Older programs would misread all but names.
    EXPECT_EQ(header_of(saved)["__metadata__"]["format_version"], map.is_identity() ? "1" : "2");
  }
  EXPECT_EQ(header_of(model_to_bytes(model_with({}, 3)))["__metadata__"]["format_version"], "1");
  EXPECT_EQ(model_from_bytes(model_to_bytes(model_with({}, 3))).columns(), ColumnMap());
}

TEST(ColumnsOfAModel, AreRefusedWhereTheyDoNotFit) {
  const std::string saved = model_to_bytes(model_with(full_map(), 8));
  const auto refused = [&](const auto& edit) {
    EXPECT_THROW(model_from_bytes(edited(saved, edit)), DataError);
  };
  for (const char* inputs : {"2", "4", "-1", "x", "99999999999", "9223372036854775807"})
    refused([&](auto& header) { header["__metadata__"]["column_inputs"] = inputs; });
  for (const char* array :
       {"column_name_ends", "column_indicators", "text_columns", "text_has_other",
        "text_category_ends", "category_name_ends", "category_names"})
    refused([&](auto& header) { header.erase(array); });
  refused([](auto& header) { header.erase("column_fills"); });  // indicators without values
  // The places of other columns, ends and names.
  refused([](auto& header) { header["text_columns"] = header["text_category_ends"]; });
  refused([](auto& header) { header["category_name_ends"] = header["column_name_ends"]; });
  refused([](auto& header) { header["column_indicators"] = header["column_name_ends"]; });
  // Another machine than the columns are for.
  EXPECT_THROW(model_from_bytes(model_to_bytes(model_with(full_map(), 7))), DataError);
  EXPECT_THROW(model_from_bytes(edited(
                   saved, [](auto& header) { header["__metadata__"]["format_version"] = "3"; })),
               DataError);
}

TEST(ColumnsOfAModel, EveryByteMayBeDamaged) {
  const std::string saved = model_to_bytes(model_with(full_map(), 8));
  for (std::size_t at = 0; at < saved.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff', '9'}) {
      std::string damaged = saved;
      damaged[at] = byte;
      try {
        const Model model = model_from_bytes(damaged);
        model.columns().validate();
        EXPECT_LE(model.columns().outputs(), 8);
      } catch (const Error&) {
      }
    }
  }
}

TEST(ColumnsOfAModel, AreNothingForLibsvm) {
  EXPECT_THROW(save_model(model_with(full_map(), 8), "/dev/null", ModelFormat::libsvm), DataError);
}

}  // namespace
}  // namespace tamis
