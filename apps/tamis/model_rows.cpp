#include "model_rows.hpp"

#include "tamis/expansion.hpp"

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
  return session.timed("read", [&] { return read_dataset(path, read, session.control()); });
}

}  // namespace tamis::cli
