#include "data/word_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/mix.hpp"

namespace tamis {
namespace {

constexpr double kShortest = 20;  // words
constexpr double kMoreWords = 25;
constexpr Index kFirstRanks = 16;  // as frequent as one another
constexpr std::uint64_t kVocabulary = 47;

// -1, 0 or +1: with which label a word is frequent. The same for every seed.
int leaning(Index word) {
  return static_cast<int>(mix(static_cast<std::uint64_t>(word) ^ kVocabulary << 40) % 3) - 1;
}

// Equal chances for every octave of ranks, so that a rank's falls as 1 / rank.
Index draw_word(Index features, Random& random) {
  const auto octaves =
      static_cast<Index>(std::bit_width(static_cast<std::uint64_t>((features - 1) / kFirstRanks)));
  for (;;) {
    const Index octave = random.below(octaves + 1);
    const Index begin = octave == 0 ? 0 : kFirstRanks << (octave - 1);
    const Index word = begin + random.below(octave == 0 ? kFirstRanks : begin);
    if (word < features) return word;
  }
}

double rarity(Index word) {
  return 1 + static_cast<double>(std::bit_width(static_cast<std::uint64_t>(word / kFirstRanks)));
}

}  // namespace

void draw_words(Index features, double label, Random& random,
                std::vector<std::pair<std::int32_t, float>>* out) {
  const double length = kShortest + kMoreWords * (random.exponential() + random.exponential());
  const double strength = random.uniform();
  std::vector<Index> words;
  while (static_cast<double>(words.size()) < length) {
    const Index word = draw_word(features, random);
    // A word of the other label is drawn again at times.
    if (leaning(word) * label < 0 && random.uniform() < strength) continue;
    words.push_back(word);
  }
  std::sort(words.begin(), words.end());
  double squares = 0;
  std::vector<double> values;
  out->clear();
  for (std::size_t k = 0; k < words.size();) {
    std::size_t end = k;
    while (end < words.size() && words[end] == words[k]) ++end;
    // Repeated words count by the root of their number.
    const double value = std::sqrt(static_cast<double>(end - k)) * rarity(words[k]);
    out->emplace_back(static_cast<std::int32_t>(words[k]), 0.0F);
    values.push_back(value);
    squares += value * value;
    k = end;
  }
  const double scale = 1 / std::sqrt(squares);
  for (std::size_t k = 0; k < values.size(); ++k)
    (*out)[k].second = static_cast<float>(scale * values[k]);
}

}  // namespace tamis
