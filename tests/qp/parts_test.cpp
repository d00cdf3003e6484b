// The parts of the solver against plain twins: active set, working set, block.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/thread_group.hpp"
#include "qp/active_set.hpp"
#include "qp/block.hpp"
#include "qp/choice.hpp"
#include "qp/faster_way.hpp"
#include "qp/working_set.hpp"
#include "support/naive_qp.hpp"
#include "support/resident_growth.hpp"

namespace tamis::testing {
namespace {

std::vector<double> alternating(Index size) {
  std::vector<double> y;
  for (Index i = 0; i < size; ++i) y.push_back(i % 2 == 0 ? 1 : -1);
  return y;
}

RowVector<Index> first_points(Index count) {
  const std::vector<Index> points = iota_rows(count);
  return {points.begin(), points.end()};
}

bool change(qp::ActiveSet& active, const std::vector<Index>& points,
            const std::vector<double>& beta) {
  std::vector<qp::PointName> names;
  for (const Index i : points) names.push_back(active.name_of(i));
  return active.change(active.look_at(names), points, beta);
}

void expect_exact_sums(const qp::ActiveSet& active, const qp::Problem& p, const Gram& k) {
  const std::vector<double> beta(active.all_beta().begin(), active.all_beta().end());
  const std::vector<double> f = k.times(beta);
  for (Index place = 0; place < active.size(); ++place) {
    const Index i = active.points()[usize(place)];
    ASSERT_EQ(active.place_of(i), place);
    const double exact = f[usize(i)] + p.ridge_at(i) * beta[usize(i)];
    ASSERT_NEAR(active.look_at(std::vector{active.name_of(i)})[0].sum, exact, 1e-9);
    const qp::Slopes slopes = qp::slopes_at(p, i, beta[usize(i)]);
    if (std::isfinite(slopes.up)) {
      ASSERT_NEAR(active.up_score(place), slopes.up - exact, 1e-9);
    }
    if (std::isfinite(slopes.down)) {
      ASSERT_NEAR(active.down_score(place), slopes.down - exact, 1e-9);
    }
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A kernel of zeros, for tests in which only the targets count.
class TargetsOnly : public StoredGram {
 public:
  explicit TargetsOnly(Index n) : StoredGram(Gram{}), size_(n), ones_(usize(n), 1.0) {}
  Index size() const override { return size_; }
  std::span<const double> diagonal() const override { return ones_; }

 private:
  Index size_;
  std::vector<double> ones_;
};

RowStore disk_store() {
  RunControl control;
  control.memory_bytes = 1;
  return RowStore::for_bytes(std::int64_t{1} << 40, control);
}

TEST(Choice, PartsAListInItsOrder) {
  const auto square = [](Index k) { return k * k; };
  for (const RowStore& store : {RowStore(), disk_store()}) {
    for (const Index count : {0, 1, 8191, 8192, 8193, 300'000}) {
      for (const Index every : {1, 3, 500'000}) {
        const auto holds = [&](Index k) { return (k * 7 + 3) % every == 0; };
        const qp::Choice choice(count, store, holds);
        RowVector<Index> chosen;
        RowVector<Index> others;
        for (Index k = 0; k < count; ++k) (holds(k) ? chosen : others).push_back(k * k);
        ASSERT_EQ(choice.chosen(square), chosen) << count << " " << every;
        ASSERT_EQ(choice.others(square), others) << count << " " << every;
      }
    }
  }
}

// Any sequence of moves, rests and wakings leaves F exact.
TEST(ActiveSet, SumsStayExact) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Random random(seed);
    const Index n = 80;
    const Gram k = gram({.gamma = 0.3}, random_matrix(n, 3, seed));
    StoredGram source(k);
    qp::Problem p =
        seed % 2 == 0 ? hull_problem(alternating(n), 0.1) : svc_problem(alternating(n), 0.4);
    p.start.assign(usize(n), 0.0);
    if (seed > 2) p.ridge.assign(usize(n), 0.7);
    RowVector<Index> first;
    for (Index i = 0; i < n; ++i) {
      if (seed % 3 == 0 || i % 3 != 0) first.push_back(i);
    }
    qp::ActiveSet active(p, source, alone(), first);
    ASSERT_TRUE(active.start());
    Index rested = 0;
    Index woken = 0;
    for (int round = 0; round < 120; ++round) {
      std::vector<Index> points;
      std::vector<double> beta;
      for (Index place = 0; place < active.size(); ++place) {
        if (random.below(5) != 0) continue;
        const Index i = active.points()[usize(place)];
        const double share = static_cast<double>(random.below(3)) / 2;  // often at a bound
        points.push_back(i);
        beta.push_back(p.lower[usize(i)] + share * (p.upper[usize(i)] - p.lower[usize(i)]));
      }
      ASSERT_TRUE(change(active, points, beta));
      expect_exact_sums(active, p, source.matrix());
      // As if the scores had closed in on some value: much is then hopeless.
      const double middle = 0.3 * random.normal();
      const qp::Violation v{{middle, middle}, {middle, middle}};
      const Index before = active.size();
      const Index hopeless = qp::WorkingSetChooser(8).find_candidates(active, p, v).hopeless;
      const bool rests = active.rest_hopeless(v, hopeless);
      ASSERT_EQ(rests, 4 * hopeless >= before);
      ASSERT_EQ(active.size(), rests ? before - hopeless : before);
      rested += before - active.size();
      expect_exact_sums(active, p, source.matrix());
      if (round % 4 > 1) {  // some points are left as they were: those that are active are exact
        const Index woke = active.wake_violators(v, 1e-3, 1 + random.below(n), 0.2 * round / 120);
        ASSERT_GE(woke, 0);
        woken += woke;
        expect_exact_sums(active, p, source.matrix());
      }
      if (round % 4 == 3) {
        const Index size = active.size();
        const Index woke = active.wake_violators(v, 1e-3, 1 + random.below(n), kInfinity);
        ASSERT_GE(woke, 0);
        ASSERT_EQ(active.size(), size + woke);
        woken += woke;
        expect_exact_sums(active, p, source.matrix());
        // Right after waking every sum, resting ones too, is up to date.
        const RowVector<double> all = active.all_sums();
        const std::vector<double> beta_now(active.all_beta().begin(), active.all_beta().end());
        const std::vector<double> f = source.matrix().times(beta_now);
        for (Index i = 0; i < n; ++i)
          ASSERT_NEAR(all[usize(i)], f[usize(i)] + p.ridge_at(i) * beta_now[usize(i)], 1e-9);
      }
    }
    EXPECT_GT(rested, 0);
    EXPECT_GT(woken, 0);
  }
}

TEST(ActiveSet, StartsFromAGivenBeta) {
  const Index n = 40;
  StoredGram source(gram({.gamma = 0.3}, random_matrix(n, 3, 5)));
  qp::Problem p = svc_problem(alternating(n), 1);
  p.ridge.assign(usize(n), 0.5);
  p.start.assign(usize(n), 0.0);
  for (std::size_t i = 0; i < 20; ++i) p.start[i] = i % 2 == 0 ? 0.25 : -0.25;
  qp::ActiveSet active(p, source, alone(), first_points(30));
  ASSERT_TRUE(active.start());
  expect_exact_sums(active, p, source.matrix());
  ASSERT_GE(active.wake_violators(active.measure(), 1e-6, n, kInfinity), 0);
  expect_exact_sums(active, p, source.matrix());
}

TEST(ActiveSet, TakesNoMemoryWhereItsProblemLiesOnDisk) {
  const Index n = 1'000'000;
  const RowStore store = disk_store();
  qp::Problem p;
  p.target = RowVector<double>(usize(n), store);
  p.lower = p.upper = p.target;
  for (Index i = 0; i < n; ++i) {
    p.target[usize(i)] = i % 2 == 0 ? 1 : -1;
    (i % 2 == 0 ? p.upper[usize(i)] : p.lower[usize(i)]) = p.target[usize(i)];
  }
  TargetsOnly targets(n);
  RowVector<Index> first(usize(n / 2), store);
  std::iota(first.begin(), first.end(), 0);
  const std::int64_t before = resident_memory_bytes();
  qp::ActiveSet active(p, targets, alone(), std::move(first));
  ASSERT_TRUE(active.start());
  ASSERT_EQ(active.wake_violators(active.measure(), 1e-3, n, kInfinity), n / 2);
  EXPECT_EQ(active.all_sums().size(), usize(n));
  // The source of the test has 8 bytes of each point; on the heap the set would have 64.
  EXPECT_LT(resident_growth(before), 16 * n);
}

TEST(ActiveSet, WakesTheWorst) {
  const Index n = 60;
  StoredGram source(gram({.gamma = 0.3}, random_matrix(n, 3, 6)));
  const qp::Problem p = svc_problem(alternating(n), 1);
  qp::ActiveSet active(p, source, alone(), first_points(20));
  ASSERT_TRUE(active.start());
  const std::vector<Index> moved{0, 1, 2, 3};
  ASSERT_TRUE(change(active, moved, std::vector<double>{1, -0.5, 0.5, -1}));
  const qp::Violation v = active.measure();
  const double middle = v.middle(0);
  ASSERT_EQ(active.wake_violators(v, 1e-3, 5, kInfinity), 5);
  const RowVector<double> all = active.all_sums();
  const auto excess = [&](Index i) {
    const qp::Slopes s = qp::slopes_at(p, i, 0);
    return std::max(s.up - all[usize(i)] - middle, middle - s.down + all[usize(i)]);
  };
  double weakest_woken = 1e9;
  double strongest_resting = -1e9;
  for (Index i = 20; i < n; ++i) {
    if (active.place_of(i) >= 0)
      weakest_woken = std::min(weakest_woken, excess(i));
    else
      strongest_resting = std::max(strongest_resting, excess(i));
  }
  EXPECT_GE(weakest_woken, strongest_resting);
}

TEST(ActiveSet, AStoppedChangeKeepsBeta) {
  StoredGram source(gram({.gamma = 0.3}, random_matrix(10, 3, 7)));
  const qp::Problem p = svc_problem(alternating(10), 1);
  qp::ActiveSet active(p, source, alone(), first_points(10));
  ASSERT_TRUE(active.start());
  source.stop_at_call = 0;
  const std::vector<Index> points{0, 1};
  EXPECT_FALSE(change(active, points, std::vector<double>{0.5, -0.5}));
  EXPECT_EQ(active.beta(0), 0);
  EXPECT_EQ(active.beta(1), 0);
}

TEST(WorkingSet, HoldsTheMostViolatingPair) {
  Random random(9);
  for (int round = 0; round < 100; ++round) {
    const Index n = 2 + random.below(60);
    StoredGram source(
        gram({.gamma = 0.5}, random_matrix(n, 2, 100 + static_cast<std::uint64_t>(round))));
    const bool hulls = n >= 4 && round % 2 == 0;
    const qp::Problem p = hulls ? hull_problem(alternating(n), 1) : svc_problem(alternating(n), 1);
    qp::ActiveSet active(p, source, alone(), first_points(n));
    ASSERT_TRUE(active.start());
    qp::WorkingSetChooser chooser(2 + random.below(20));
    for (int turn = 0; turn < 5; ++turn) {
      const qp::Violation v = active.measure();
      if (v.gap <= 0) break;
      std::vector<Index> block;
      for (const qp::PointName& name :
           chooser.choose(active, chooser.find_candidates(active, p, v)))
        block.push_back(name.point);
      ASSERT_FALSE(block.empty());
      std::vector<Index> sorted = block;
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end()) << "named twice";
      double up[2] = {-1e300, -1e300};
      double down[2] = {1e300, 1e300};
      for (const Index i : block) {
        const int g = p.group_at(i);
        up[g] = std::max(up[g], active.up_score(active.place_of(i)));
        down[g] = std::min(down[g], active.down_score(active.place_of(i)));
      }
      EXPECT_EQ(std::max(up[0] - down[0], up[1] - down[1]), v.gap) << n << " points, turn " << turn;
      // Something moves, so that the next block is another one.
      std::vector<double> beta;
      for (const Index i : block)
        beta.push_back(p.lower[usize(i)] +
                       random.uniform() * (p.upper[usize(i)] - p.lower[usize(i)]));
      ASSERT_TRUE(change(active, block, beta));
    }
  }
}

// So many points that the candidates come from a sample of the urgencies.
TEST(WorkingSet, CandidatesAreTheMostUrgent) {
  const Index n = 6000;
  const Index block_size = 64;
  qp::Problem p = svc_problem(alternating(n), 1);
  Random random(3);
  for (double& target : p.target) target = random.normal();
  TargetsOnly targets(n);
  qp::ActiveSet active(p, targets, alone(), first_points(n));
  ASSERT_TRUE(active.start());
  const qp::Violation v = active.measure();
  const qp::Candidates found = qp::WorkingSetChooser(block_size).find_candidates(active, p, v);
  std::vector<double> rising;
  std::vector<double> falling;
  for (Index k = 0; k < n; ++k) {
    const double up = active.up_score(k) - v.min_down[0];
    const double down = v.max_up[0] - active.down_score(k);
    if (up > 0) rising.push_back(up);
    if (down > 0) falling.push_back(down);
  }
  const auto expect_largest = [](std::vector<double> all, const std::vector<qp::Ranked>& some) {
    std::sort(all.begin(), all.end(), std::greater<>());
    ASSERT_EQ(some.size(), usize(block_size / 2));
    for (std::size_t k = 0; k < some.size(); ++k) EXPECT_EQ(some[k].value, all[k]);
  };
  expect_largest(rising, found.rising);
  expect_largest(falling, found.falling);
}

// Dealt in turns, or so that one rank has all that is urgent and must send more than its share.
TEST(WorkingSet, TheMostUrgentOfAllRanksWhoeverHasThem) {
  const Index n = 4000;
  const Index block_size = 512;
  const int ranks = 8;
  qp::Problem all = svc_problem(alternating(n), 1);
  Random random(5);
  for (double& target : all.target) target = random.normal();
  std::sort(all.target.begin(), all.target.end(),
            [](double a, double b) { return std::abs(a) > std::abs(b); });
  for (Index i = 0; i < n; ++i) all.key.push_back(random.next_u64());
  const auto block_of = [&](Group& group, const qp::Problem& p) {
    TargetsOnly targets(p.size());
    qp::ActiveSet active(p, targets, group, first_points(p.size()));
    qp::WorkingSetChooser chooser(block_size);
    return chooser.choose(active, chooser.find_candidates(active, p, active.measure()));
  };
  std::vector<Index> expected;
  for (const qp::PointName& name : block_of(alone(), all)) expected.push_back(name.point);
  ASSERT_EQ(std::ssize(expected), block_size / 2);
  for (const bool in_turns : {true, false}) {
    std::vector<std::vector<Index>> points(ranks);
    for (Index i = 0; i < n; ++i) points[usize(in_turns ? i % ranks : i * ranks / n)].push_back(i);
    run_as_group(ranks, [&](Group& group) {
      qp::Problem mine;
      for (const Index i : points[usize(group.rank())]) {
        mine.target.push_back(all.target[usize(i)]);
        mine.lower.push_back(all.lower[usize(i)]);
        mine.upper.push_back(all.upper[usize(i)]);
        mine.key.push_back(all.key[usize(i)]);
      }
      std::vector<Index> block;
      for (const qp::PointName& name : block_of(group, mine))
        block.push_back(points[usize(name.owner)][usize(name.point)]);
      EXPECT_EQ(block, expected) << "in turns: " << in_turns;
    });
  }
}

TEST(FasterWay, TriesBothInTurnsAndTakesTheFaster) {
  for (const int faster : {0, 1}) {
    qp::FasterWay ways;
    std::vector<int> taken;
    for (int round = 0; round < 20; ++round) {
      taken.push_back(ways.next());
      // One slow trial of the faster way must not decide; later times no longer count.
      const double best = taken.back() == faster ? 1 : 2;
      ways.note(taken.back(), round < 2 ? 10 : round < 8 ? best : 3 - best);
    }
    for (int round = 0; round < 8; ++round) EXPECT_EQ(taken[usize(round)], round % 2);
    for (int round = 8; round < 20; ++round) EXPECT_EQ(taken[usize(round)], faster);
  }
  qp::FasterWay ways;
  for (int round = 0; round < 8; ++round) ways.note(round % 2, round % 2 == 0 ? 1 : 0.9);
  EXPECT_EQ(ways.next(), 0) << "as good as equal";
}

// One block after the other, with the values of the last one used again, and each by itself.
TEST(Block, KnownValuesAreTheSame) {
  Random random(4);
  const Index n = 120;
  StoredGram source(gram({.gamma = 0.3}, random_matrix(n, 3, 9)));
  const qp::Problem all = svc_problem(alternating(n), 1);
  qp::Block chain;
  std::vector<Index> newest;
  for (int round = 0; round < 30; ++round) {
    std::vector<Index> points;
    while (points.size() < 20) {
      const Index i = random.below(n);
      if (std::find(points.begin(), points.end(), i) == points.end()) points.push_back(i);
    }
    const std::vector<Index> fresh = points;
    for (const Index i : newest) {
      if (random.below(6) != 0 && std::find(points.begin(), points.end(), i) == points.end())
        points.push_back(i);
    }
    newest = fresh;
    qp::Problem part;
    std::vector<double> diagonal;
    std::vector<qp::PointName> names;
    for (const Index i : points) {
      part.target.push_back(all.target[usize(i)]);
      part.lower.push_back(all.lower[usize(i)]);
      part.upper.push_back(all.upper[usize(i)]);
      diagonal.push_back(source.diagonal()[usize(i)]);
      names.push_back({0, 0, i});
    }
    const auto sums_of = [&](qp::Block& block, std::span<const qp::PointName> known_by) {
      EXPECT_TRUE(block.lay_out(part, diagonal, source, points, known_by, qp::Block::Values::all));
      for (std::size_t k = 0; k < points.size(); ++k) block.beta()[k] = 1 + static_cast<double>(k);
      return block.own_sums();
    };
    source.marks_known = true;  // what is said to be known must not be computed
    const std::vector<double> kept = sums_of(chain, names);
    source.marks_known = false;
    qp::Block alone_block;
    EXPECT_EQ(kept, sums_of(alone_block, {})) << "round " << round;
  }
  EXPECT_GT(source.known_points, 0);
}

}  // namespace
}  // namespace tamis::testing
