// Row i of every generator is a pure function of (name, options, i): it draws from its own stream,
// Random(seed).split(i). So the rows do not depend on the threads, and fewer rows are a prefix of
// more. What describes the distribution itself (means, covariances) does not depend on the seed:
// two seeds give two samples of one distribution, as training and test data must be.
#include "tamis/generate.hpp"
#include "tamis/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <numbers>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/random.hpp"
#include "data/planar_bayes.hpp"
#include "data/portable_trig.hpp"
#include "data/word_rows.hpp"

namespace tamis {
namespace {

/// Writes the features of row i and returns its label or target.
using DrawRow = std::function<double(Index row, Random& random, float* out)>;

/// The same for a sparse row: its columns and values.
using SparseValues = std::vector<std::pair<std::int32_t, float>>;
using DrawSparseRow = std::function<double(Index row, Random& random, SparseValues* out)>;

struct Recipe {
  Index features = 2;
  DrawRow draw;
  std::function<double()> bayes_error = [] { return -1.0; };
  DrawSparseRow draw_sparse = nullptr;  ///< in place of draw
};

// +1 for one row of the pair (2k, 2k + 1) and -1 for the other, in random order: exact balance
// without a period that a strided split would fall into.
double balanced_label(std::uint64_t seed, Index row) {
  Random pair = Random(seed, 1).split(static_cast<std::uint64_t>(row / 2));
  return ((pair.next_u32() & 1U) == (static_cast<std::uint64_t>(row) & 1U)) ? 1 : -1;
}

// 24 bits, so that the number is exactly a float and a cell's edge means the same before and after.
float uniform_float(Random& random) {
  return static_cast<float>(random.next_u32() >> 8) * 0x1p-24F;
}

double noise_or(const GenerateOptions& options, double standard, double largest) {
  if (options.noise < 0) return standard;
  if (options.noise <= largest) return options.noise;
  throw InvalidArgument(fmt::format("noise is {}: give 0 to {}", options.noise, largest));
}

void refuse_noise(const GenerateOptions& options, std::string_view name) {
  if (options.noise >= 0)
    throw InvalidArgument(
        fmt::format("noise is {}, but {} has no noise to set", options.noise, name));
}

Index features_or(const GenerateOptions& options, Index standard, Index fewest, Index most) {
  if (options.features == 0) return standard;
  if (options.features >= fewest && options.features <= most) return options.features;
  throw InvalidArgument(
      fmt::format("features is {}: give {} to {}", options.features, fewest, most));
}

// 4 x 4 cells of the unit square, the label by the parity of the cell; `noise` of the labels are
// flipped.
Recipe checkerboard(const GenerateOptions& options) {
  const double noise = noise_or(options, 0.03, 0.5);
  const auto draw = [noise](Index, Random& random, float* out) {
    out[0] = uniform_float(random);
    out[1] = uniform_float(random);
    const int cells = static_cast<int>(out[0] * 4) + static_cast<int>(out[1] * 4);
    const double label = cells % 2 == 0 ? 1 : -1;
    return random.uniform() < noise ? -label : label;
  };
  return {2, draw, [noise] { return noise; }};
}

// Two Archimedean spirals of three turns, one the other rotated by half a turn, of radius 0.9 about
// the origin; points are uniform along the arc, plus round Gaussian noise of standard deviation
// `noise`. The FaLK-SVM paper (section 5.2) does not give its parameters; it reports 88.5 % for the
// best classifier, which is the Bayes accuracy here for noise 0.05: its problem is
// `--noise 0.05`. The default of 0.035 is an easier one (Bayes accuracy 97.1 %); it stays, because
// results that people published depend on it.
constexpr double kSpiralTurns = 3;
constexpr double kSpiralRadius = 0.9;

// `share` is the share of the arc's length from the centre, which grows as the square of the angle
// but for the first part of a turn.
PlanarGaussian spiral_point(double share, double sign, double sigma) {
  const double t = std::sqrt(share);
  return {sign * kSpiralRadius * t * cos_turns(kSpiralTurns * t),
          sign * kSpiralRadius * t * sin_turns(kSpiralTurns * t), sigma};
}

double spirals_bayes_error(double noise) {
  constexpr double kGap = kSpiralRadius / kSpiralTurns / 2;  // between an arm and the next
  if (noise < kGap / 12) return 0;                           // 6 sigma to the boundary: below 1e-8
  constexpr int kAtoms = 4000;
  std::vector<PlanarGaussian> p;
  std::vector<PlanarGaussian> q;
  for (int k = 0; k < kAtoms; ++k) {
    p.push_back(spiral_point((k + 0.5) / kAtoms, 1, noise));
    q.push_back(spiral_point((k + 0.5) / kAtoms, -1, noise));
  }
  return planar_bayes_error(p, q);
}

Recipe spirals(const GenerateOptions& options) {
  const double noise = noise_or(options, 0.035, 1);
  const auto draw = [noise, seed = options.seed](Index row, Random& random, float* out) {
    const double label = balanced_label(seed, row);
    const PlanarGaussian point = spiral_point(random.uniform(), label, noise);
    out[0] = static_cast<float>(point.x + noise * random.normal());
    out[1] = static_cast<float>(point.y + noise * random.normal());
    return label;
  };
  return {2, draw, [noise] { return spirals_bayes_error(noise); }};
}

// Ten round Gaussians in the plane, five a class, equally likely (Nishida and Kurita, section 3.1).
// The paper gives neither means nor variances, only the Bayes accuracy, 92.2 %: these are chosen to
// interleave the classes and to have that accuracy.
constexpr std::array<PlanarGaussian, 10> kTenGaussians{{
    // class +1
    {-3.0, 2.2, 0.70},
    {-1.2, -2.6, 0.65},
    {0.3, 0.2, 0.60},
    {2.2, 3.0, 0.70},
    {3.4, -1.2, 0.74},
    // class -1
    {-2.9, -0.6, 0.65},
    {-0.6, 2.6, 0.70},
    {1.2, -2.2, 0.65},
    {2.4, 0.9, 0.60},
    {-4.6, 3.9, 0.74},
}};

Recipe ten_gaussians(const GenerateOptions& options) {
  refuse_noise(options, "ten-gaussians");
  const auto draw = [seed = options.seed](Index row, Random& random, float* out) {
    const double label = balanced_label(seed, row);
    const auto which = static_cast<std::size_t>(random.below(5) + (label > 0 ? 0 : 5));
    const PlanarGaussian& g = kTenGaussians[which];
    out[0] = static_cast<float>(g.x + g.sigma * random.normal());
    out[1] = static_cast<float>(g.y + g.sigma * random.normal());
    return label;
  };
  return {2, draw, [] {
            return planar_bayes_error({kTenGaussians.begin(), kTenGaussians.begin() + 5},
                                      {kTenGaussians.begin() + 5, kTenGaussians.end()});
          }};
}

// Normally distributed clusters on cubes, after Thompson (2006): clusters at the vertices of three
// concentric cubes of the 1-norm (radius 1, 2, 3: vertices +-r e_j), each with a random share of
// the rows and a random covariance; a random plane through the origin for each cube says which of
// its vertices are positive, so that no one plane separates the classes. The FaLK-SVM paper (tables
// 3 and 4) names five features, classes of 61 and 39 % and an accuracy of 86 % that still grows at
// millions of rows; the seed of the geometry and the spread of the clusters are chosen for that: a
// Bayes error of about 9 %, behind boundaries that take many rows to learn.
struct NdccCluster {
  std::vector<double> centre;
  std::vector<double> factor;  // d x d, row-major: a point is centre + factor z, z normal
  double label = 1;
  double share_end = 1;  // cumulative
};

std::vector<NdccCluster> ndcc_clusters(Index d) {
  constexpr std::uint64_t kGeometrySeed = 1553;
  constexpr double kSpread = 1.1;
  const Random geometry(kGeometrySeed, static_cast<std::uint64_t>(d));
  std::vector<NdccCluster> clusters;
  double total = 0;
  for (Index cube = 1; cube <= 3; ++cube) {
    Random random = geometry.split(static_cast<std::uint64_t>(cube));
    for (Index vertex = 0; vertex < 2 * d; ++vertex) {
      NdccCluster cluster;
      const Index axis = vertex / 2;
      const double side = vertex % 2 == 0 ? 1 : -1;
      // The plane's normal needs only its signs: a vertex lies on one axis.
      if (side > 0) cluster.label = random.uniform() < 0.5 ? 1 : -1;
      if (side < 0) cluster.label = -clusters.back().label;
      cluster.centre.assign(static_cast<std::size_t>(d), 0.0);
      cluster.centre[static_cast<std::size_t>(axis)] = side * static_cast<double>(cube);
      total += random.uniform(0.2, 1.8);
      cluster.share_end = total;
      for (Index k = 0; k < d * d; ++k)
        cluster.factor.push_back(kSpread * random.normal() / std::sqrt(static_cast<double>(d)));
      clusters.push_back(std::move(cluster));
    }
  }
  for (NdccCluster& cluster : clusters) cluster.share_end /= total;
  return clusters;
}

Recipe ndcc(const GenerateOptions& options) {
  refuse_noise(options, "ndcc");
  const Index d = features_or(options, 5, 2, 100);
  const auto draw = [d, clusters = ndcc_clusters(d)](Index, Random& random, float* out) {
    const double share = random.uniform();
    std::size_t which = 0;
    while (which + 1 < clusters.size() && share >= clusters[which].share_end) ++which;
    const NdccCluster& cluster = clusters[which];
    std::array<double, 100> z{};
    for (Index j = 0; j < d; ++j) z[static_cast<std::size_t>(j)] = random.normal();
    for (Index i = 0; i < d; ++i) {
      const double* factor = cluster.factor.data() + i * d;
      double x = cluster.centre[static_cast<std::size_t>(i)];
      for (Index j = 0; j < d; ++j) x += factor[j] * z[static_cast<std::size_t>(j)];
      out[i] = static_cast<float>(x);
    }
    return cluster.label;
  };
  Recipe recipe;
  recipe.features = d;
  recipe.draw = draw;
  return recipe;
}

// Two Gaussians of unit covariance whose means lie kHalfDistance to both sides of the origin along
// the diagonal: the Bayes error is Phi(-kHalfDistance), 10 %.
Recipe gaussian_classes(const GenerateOptions& options, Index d) {
  refuse_noise(options, "gaussians without regression");
  constexpr double kHalfDistance = 1.2815515655446004;
  const double shift = kHalfDistance / std::sqrt(static_cast<double>(d));
  const auto draw = [d, shift, seed = options.seed](Index row, Random& random, float* out) {
    const double label = balanced_label(seed, row);
    for (Index j = 0; j < d; ++j) out[j] = static_cast<float>(label * shift + random.normal());
    return label;
  };
  return {d, draw, [] { return 0.5 * std::erfc(kHalfDistance / std::numbers::sqrt2); }};
}

// x normal of unit covariance; y = sin(2 s) + x_first x_last / 2 + noise, s = sum(x) / sqrt(d), so
// that every feature matters and s has variance 1 for every d.
Recipe gaussian_regression(const GenerateOptions& options, Index d) {
  const double noise = noise_or(options, 0.1, 1e6);
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  const auto draw = [d, noise, scale](Index, Random& random, float* out) {
    double sum = 0;
    for (Index j = 0; j < d; ++j) {
      out[j] = static_cast<float>(random.normal());
      sum += out[j];
    }
    const double product = static_cast<double>(out[0]) * out[d - 1];
    return sin_turns(sum * scale / std::numbers::pi) + 0.5 * product + noise * random.normal();
  };
  Recipe recipe;
  recipe.features = d;
  recipe.draw = draw;
  return recipe;
}

Recipe gaussians(const GenerateOptions& options) {
  const Index d = features_or(options, 10, 1, 100000);
  return options.regression ? gaussian_regression(options, d) : gaussian_classes(options, d);
}

// x normal of unit covariance, the label the side of the plane sum(x) = 0; both sides are moved
// kHalfGap away from it, so that the classes can be separated but for the `noise` of the labels
// that are flipped.
Recipe halfspaces(const GenerateOptions& options) {
  constexpr double kHalfGap = 0.1;
  const Index d = features_or(options, 10, 1, 100000);
  const double noise = noise_or(options, 0, 0.5);
  const double shift = kHalfGap / std::sqrt(static_cast<double>(d));
  const auto draw = [d, noise, shift](Index, Random& random, float* out) {
    double sum = 0;
    for (Index j = 0; j < d; ++j) {
      out[j] = static_cast<float>(random.normal());
      sum += out[j];
    }
    const double label = sum >= 0 ? 1 : -1;
    for (Index j = 0; j < d; ++j) out[j] += static_cast<float>(label * shift);
    return random.uniform() < noise ? -label : label;
  };
  return {d, draw, [noise] { return noise; }};
}

// Like texts: many columns, of which a row has few.
Recipe words(const GenerateOptions& options) {
  refuse_noise(options, "words");
  Recipe recipe;
  recipe.features = features_or(options, 47236, 64, 100'000'000);
  recipe.draw_sparse = [d = recipe.features, seed = options.seed](Index row, Random& random,
                                                                  SparseValues* out) {
    const double label = balanced_label(seed, row);
    draw_words(d, label, random, out);
    return label;
  };
  return recipe;
}

struct NamedRecipe {
  std::string_view name;
  Recipe (*make)(const GenerateOptions&);
  bool takes_features;
  bool takes_regression;
};

constexpr std::array<NamedRecipe, 7> kRecipes{{
    {"checkerboard", checkerboard, false, false},
    {"spirals", spirals, false, false},
    {"ten-gaussians", ten_gaussians, false, false},
    {"ndcc", ndcc, true, false},
    {"gaussians", gaussians, true, true},
    {"halfspaces", halfspaces, true, false},
    {"words", words, true, false},
}};

const NamedRecipe& find_recipe(std::string_view name) {
  for (const NamedRecipe& recipe : kRecipes) {
    if (recipe.name == name) return recipe;
  }
  const auto names = generator_names();
  const std::string_view nearest = nearest_name(name, names);
  throw InvalidArgument(
      fmt::format("no generator is called '{}'{}; there are {}", name,
                  nearest.empty() ? std::string() : fmt::format(" (did you mean {}?)", nearest),
                  fmt::join(names, ", ")));
}

void validate(const NamedRecipe& recipe, const GenerateOptions& options) {
  if (options.rows < 1)
    throw InvalidArgument(fmt::format("rows is {}: give 1 or more", options.rows));
  if (std::isnan(options.noise)) throw InvalidArgument("noise is not a number");
  if (options.features < 0)
    throw InvalidArgument(fmt::format("features is {}: give 1 or more", options.features));
  if (options.features != 0 && options.features != 2 && !recipe.takes_features)
    throw InvalidArgument(
        fmt::format("features is {}, but {} always has 2", options.features, recipe.name));
  if (options.regression && !recipe.takes_regression)
    throw InvalidArgument(
        fmt::format("{} has classes only: regression works with gaussians", recipe.name));
}

}  // namespace

std::vector<std::string_view> generator_names() {
  std::vector<std::string_view> names;
  names.reserve(kRecipes.size());
  for (const NamedRecipe& recipe : kRecipes) names.push_back(recipe.name);
  return names;
}

namespace {

Recipe find_valid_recipe(std::string_view name, const GenerateOptions& options) {
  const NamedRecipe& named = find_recipe(name);
  validate(named, options);
  return named.make(options);
}

// Rows per part; the parts are put together at the end.
constexpr Index kSparsePart = 1024;

Dataset sparse_rows_of(const Recipe& recipe, const GenerateOptions& options, Index first, Index end,
                       const RunControl& control) {
  struct Part {
    std::vector<Index> ends;  // of each row among the part's values
    std::vector<std::int32_t> columns;
    std::vector<float> values;
  };
  const Index rows = end - first;
  std::vector<Part> parts(static_cast<std::size_t>((rows + kSparsePart - 1) / kSparsePart));
  std::vector<double> labels(static_cast<std::size_t>(rows));
  ProgressMeter meter(control, "generate", rows);
  const Random base(options.seed);
  const Index budget = resolve_memory_budget(control.memory_bytes);
  with_threads(control.threads, [&] {
    parallel_each(std::ssize(parts), [&](Index p) {
      Part& part = parts[static_cast<std::size_t>(p)];
      require_memory(fmt::format("generating {}", counted(rows, "row")), resident_memory_bytes(),
                     budget);
      SparseValues row;
      const Index part_end = std::min(rows, (p + 1) * kSparsePart);
      for (Index i = p * kSparsePart; i < part_end; ++i) {
        Random random = base.split(static_cast<std::uint64_t>(first + i));
        labels[static_cast<std::size_t>(i)] = recipe.draw_sparse(first + i, random, &row);
        for (const auto& [column, value] : row) {
          part.columns.push_back(column);
          part.values.push_back(value);
        }
        part.ends.push_back(std::ssize(part.values));
      }
      meter.add(part_end - p * kSparsePart);
    });
  });
  std::vector<Index> row_begin{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  for (Part& part : parts) {
    const Index before = std::ssize(values);
    for (const Index row_end : part.ends) row_begin.push_back(before + row_end);
    columns.insert(columns.end(), part.columns.begin(), part.columns.end());
    values.insert(values.end(), part.values.begin(), part.values.end());
    part = {};
  }
  return Dataset(
      Matrix::sparse(recipe.features, std::move(row_begin), std::move(columns), std::move(values)),
      Labels::numeric(std::move(labels)));
}

Dataset rows_of(const Recipe& recipe, const GenerateOptions& options, Index first, Index end,
                const RunControl& control) {
  if (recipe.draw_sparse) return sparse_rows_of(recipe, options, first, end, control);
  const Index d = recipe.features;
  const Index rows = end - first;
  const Index count = checked_product(rows, d);
  const Index bytes =
      checked_sum(checked_product(count, sizeof(float)), checked_product(rows, sizeof(double)));
  require_memory(fmt::format("generating {} of {}", counted(rows, "row"), counted(d, "feature")),
                 bytes, resolve_memory_budget(control.memory_bytes) - resident_memory_bytes());

  std::vector<float> values(static_cast<std::size_t>(count));
  std::vector<double> labels(static_cast<std::size_t>(rows));
  ProgressMeter meter(control, "generate", rows);
  const Random base(options.seed);
  const Index block = std::max<Index>(1, 16384 / d);  // rows between two looks at the cancel flag
  with_threads(control.threads, [&] {
    const Index blocks = (rows + block - 1) / block;
    parallel_each(blocks, [&](Index b) {
      const Index block_end = std::min(rows, (b + 1) * block);
      for (Index i = b * block; i < block_end; ++i) {
        Random random = base.split(static_cast<std::uint64_t>(first + i));
        labels[static_cast<std::size_t>(i)] = recipe.draw(first + i, random, values.data() + i * d);
      }
      meter.add(block_end - b * block);
    });
  });
  return Dataset(Matrix::dense(rows, d, std::move(values)), Labels::numeric(std::move(labels)));
}

}  // namespace

Generated generate(std::string_view name, const GenerateOptions& options,
                   const RunControl& control) {
  const Recipe recipe = find_valid_recipe(name, options);
  return {rows_of(recipe, options, 0, options.rows, control), recipe.bayes_error()};
}

Dataset generate_rows(std::string_view name, const GenerateOptions& options, Index begin, Index end,
                      const RunControl& control) {
  const Recipe recipe = find_valid_recipe(name, options);
  if (begin < 0 || begin > end || end > options.rows)
    throw InvalidArgument(
        fmt::format("rows {} to {} of {}: there are none such", begin, end, options.rows));
  return rows_of(recipe, options, begin, end, control);
}

GeneratorFacts describe_generator(std::string_view name, const GenerateOptions& options) {
  const Recipe recipe = find_valid_recipe(name, options);
  return {recipe.features, recipe.bayes_error(), recipe.draw_sparse != nullptr};
}

}  // namespace tamis
