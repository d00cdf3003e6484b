// What is learned of the rows before a method sees them: classes, costs, gamma. In passes over the
// rows, so that no copy of them is needed; on several ranks, of the rows of all.
#pragma once

#include <functional>
#include <vector>

#include "base/group.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/options.hpp"
#include "tamis/scaling.hpp"

namespace tamis {

/// Hands out the scaled rows of this rank, some at a time, in order.
using RowPasses = std::function<void(const std::function<void(const Matrix&)>& use)>;

/// All at once.
RowPasses whole_rows(const Matrix& scaled);
/// Scaled block by block.
RowPasses scaled_blocks(const Matrix& features, const Scaling& scaling, const RunControl& control);

/// As encode_labels(), for classes that were learned from these labels. Throws DataError if a label
/// is none of them: a mapped file has changed since.
std::vector<std::int32_t> codes_of_classes(const Labels& labels, const Labels& classes);

/// Rows [begin, end); dense ones are not copied.
Matrix rows_between(const Matrix& features, Index begin, Index end);
/// Rows that one block of scaled_blocks() has.
Index rows_of_block(const Matrix& features);

/// The classes; empty for a regression, whose targets must be finite. Throws DataError.
Labels learn_classes(const Labels& labels, const TrainOptions& options, Group& group);

/// A factor on C by class; one for a regression. Throws InvalidArgument for a class weight whose
/// class is not there.
std::vector<double> class_factors(const Dataset& data, const TrainOptions& options,
                                  const Labels& classes, Group& group);

/// C of a row, within what can be computed with.
double cost_of_row(const TrainOptions& options, double weight, double class_factor);

/// 1 / (columns * variance of all values, or their deviation for the Laplacian kernel). The sums
/// are the same for every order of the values.
double learn_gamma(const Gamma& gamma, const Matrix& features, const RowPasses& rows,
                   KernelType kernel, Group& group);

/// The scaling with feature weights and a full metric, of which either may be empty. Throws
/// InvalidArgument when they do not fit the columns.
Scaling with_metric(const Scaling& scaling, const std::vector<float>& weights,
                    const std::vector<float>& matrix, Index cols);
/// Throws InvalidArgument for more columns than a full metric can have.
void require_matrix_columns(Index cols);

/// Sparse rows are multiplied through a buffer that has a place for every column. Throws
/// ResourceError.
void require_column_buffers(const Matrix& features, const TrainOptions& options,
                            const RunControl& control);

/// Whether float32 distances of sparse rows from norms would be too coarse for this kernel, C and
/// tolerance.
bool needs_differences(const Kernel& kernel, const RowPasses& rows, double largest_cost, double eps,
                       Group& group);

/// Whether this number of rows fits into memory with all zeros. Three times: the rows, their packed
/// copy, and room for everything else.
bool fits_dense(Index rows, Index cols, const RunControl& control);

}  // namespace tamis
