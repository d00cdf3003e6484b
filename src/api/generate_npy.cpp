#include <algorithm>

#include "base/progress.hpp"
#include "io/data_formats.hpp"
#include "io/npy_header.hpp"
#include "io/output_file.hpp"
#include "tamis/error.hpp"
#include "tamis/generate.hpp"

namespace tamis {

void generate_npy(std::string_view name, const GenerateOptions& options, const std::string& path,
                  const RunControl& control) {
  constexpr Index kBlockValues = Index{1} << 22;
  if (path == "-") throw InvalidArgument("features and labels are two NumPy files: give a name");
  if (has_packed_ending(path))
    throw InvalidArgument(path + ": compressed output is not supported; compress it afterwards");
  const GeneratorFacts facts = describe_generator(name, options);
  if (facts.is_sparse)
    throw InvalidArgument(std::string(name) +
                          ": the rows are sparse, which a NumPy array is not; write .svm or .csr");
  const Index cols = facts.features;
  const Index step = std::max<Index>(1, kBlockValues / cols);
  OutputFile features(path, control);
  OutputFile labels(npy_labels_path(path), control);
  features.write(npy_header("<f4", {options.rows, cols}));
  labels.write(npy_header("<f8", {options.rows}));
  ProgressMeter meter(control, "generate", options.rows);
  for (Index begin = 0; begin < options.rows; begin += step) {
    const Index end = std::min(begin + step, options.rows);
    const Dataset rows = generate_rows(name, options, begin, end, quiet(control));
    const auto values = rows.features().dense_values();
    features.write(values.data(), values.size_bytes());
    for (Index i = 0; i < rows.rows(); ++i) {
      const double label = rows.labels().number(i);
      labels.write(&label, sizeof label);
    }
    meter.add(end - begin);
  }
  features.commit();
  labels.commit();
}

}  // namespace tamis
