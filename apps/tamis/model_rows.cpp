#include "model_rows.hpp"

#include <fmt/format.h>

#include "tamis/error.hpp"
#include "tamis/expansion.hpp"
#include "tamis/predict.hpp"

namespace tamis::cli {
namespace {

bool takes_any_columns(const Model& model) {
  const ExpansionParts* parts = expansion_parts(model);
  return parts != nullptr && (parts->any_columns || parts->kernel.type == KernelType::precomputed);
}

}  // namespace

Dataset read_rows_for(Session& session, const Model& model, const std::string& path,
                      ReadOptions read) {
  read.min_features = model.num_features();
  if (!takes_any_columns(model)) read.max_features = model.num_features();
  read.columns = model.columns();
  const Dataset data =
      session.timed("read", [&] { return read_dataset(path, read, session.control()); });
  try {
    return rows_for(model, data, session.control());
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace tamis::cli
