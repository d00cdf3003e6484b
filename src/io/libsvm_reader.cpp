#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "calibration/calibration.hpp"
#include "io/libsvm_model.hpp"
#include "io/number_parser.hpp"
#include "io/text_chunks.hpp"
#include "model/kernel_expansion.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kLargestIndex = 2147483646;  // 2^31 - 2: one more column still fits int32
constexpr std::string_view kFirstWord = "svm_type";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_token(char c) { return is_blank(c) || c == '\n'; }

std::string_view token_at(const char* text) {
  const char* end = text;
  while (!ends_token(*end)) ++end;
  return {text, static_cast<std::size_t>(end - text)};
}

struct Header {
  std::string_view svm_type;
  std::string_view kernel_type;
  Kernel kernel;
  Index nr_class = -1;
  Index total_sv = -1;
  std::vector<double> rho;
  std::vector<double> labels;
  std::vector<double> nr_sv;
  std::vector<double> prob_a;  // of svm-train -b 1: slope and intercept of each pair's sigmoid
  std::vector<double> prob_b;
  Index body_offset = 0;

  bool is_regression() const { return svm_type == "epsilon_svr" || svm_type == "nu_svr"; }
  // Numbers before the features in each line of a support vector.
  Index coefficients_a_line() const { return is_regression() ? 1 : nr_class - 1; }
};

// Reads the lines "key value value .." up to the line "SV".
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const ChunkedText& places) : text_(text), places_(places) {}

  Header parse() {
    for (;;) {
      const std::size_t end = text_.find('\n', position_);
      if (end == std::string_view::npos)
        places_.fail_at(static_cast<std::int64_t>(position_), "the model ends before its SV line");
      rest_ = text_.substr(position_, end - position_);
      const std::string_view key = next_token();
      if (key == "SV") {
        header_.body_offset = static_cast<Index>(end) + 1;
        check();
        return header_;
      }
      if (!key.empty()) parse_line(key);
      position_ = end + 1;
    }
  }

 private:
  [[noreturn]] void fail(std::string_view token, const std::string& message) const {
    places_.fail_at(token.data() - text_.data(), message);
  }

  std::string_view next_token() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    std::size_t length = 0;
    while (length < rest_.size() && !is_blank(rest_[length])) ++length;
    const std::string_view token = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return token;
  }

  template <typename T>
  T parse_value(std::string_view token) const {
    T value{};
    const auto result = std::from_chars(token.data(), token.data() + token.size(), value);
    if (result.ec != std::errc() || result.ptr != token.data() + token.size())
      fail(token, fmt::format("{} is not a number", quote_text(token)));
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) fail(token, fmt::format("{} is not finite", quote_text(token)));
    }
    return value;
  }

  std::vector<double> parse_list() {
    std::vector<double> values;
    for (auto token = next_token(); !token.empty(); token = next_token())
      values.push_back(parse_value<double>(token));
    return values;
  }

  Index parse_count() {
    const std::string_view token = next_token();
    const auto value = parse_value<Index>(token);
    // Whatever is counted takes at least a byte of the file.
    if (value < 0 || value > static_cast<Index>(text_.size()))
      fail(token,
           fmt::format("a count of {} in a file of {}", value, counted(text_.size(), "byte")));
    return value;
  }

  void parse_line(std::string_view key) {
    if (key == kFirstWord) {
      parse_svm_type();
    } else if (key == "kernel_type") {
      parse_kernel();
    } else if (key == "degree") {
      header_.kernel.degree = parse_value<int>(next_token());
    } else if (key == "gamma") {
      header_.kernel.gamma = parse_value<double>(next_token());
    } else if (key == "coef0") {
      header_.kernel.coef0 = parse_value<double>(next_token());
    } else if (key == "nr_class") {
      header_.nr_class = parse_count();
    } else if (key == "total_sv") {
      header_.total_sv = parse_count();
    } else if (key == "rho") {
      header_.rho = parse_list();
    } else if (key == "label") {
      header_.labels = parse_list();
    } else if (key == "nr_sv") {
      header_.nr_sv = parse_list();
    } else if (key == "probA") {
      header_.prob_a = parse_list();
    } else if (key == "probB") {
      header_.prob_b = parse_list();
    } else if (key != "prob_density_marks") {
      fail(key, fmt::format("{} is not part of a LIBSVM model", quote_text(key)));
    }
  }

  void parse_svm_type() {
    header_.svm_type = next_token();
    if (header_.is_regression() || header_.svm_type == "c_svc" || header_.svm_type == "nu_svc")
      return;
    fail(header_.svm_type,
         fmt::format("svm_type {} is not supported: c_svc, nu_svc, epsilon_svr or nu_svr",
                     quote_text(header_.svm_type)));
  }

  void parse_kernel() {
    header_.kernel_type = next_token();
    try {
      header_.kernel.type = parse_kernel_type(header_.kernel_type);
    } catch (const InvalidArgument& error) {
      fail(header_.kernel_type, error.what());
    }
    if (header_.kernel.type == KernelType::laplacian)
      fail(header_.kernel_type, "LIBSVM models have no Laplacian kernel");
  }

  void require(bool condition, const std::string& message) const {
    if (!condition) places_.fail_at(static_cast<std::int64_t>(position_), message);
  }

  // At the SV line: everything that must be there is, and the counts go together.
  void check() const {
    const Header& h = header_;
    require(!h.svm_type.empty(), "the model has no svm_type");
    require(!h.kernel_type.empty(), "the model has no kernel_type");
    require(h.total_sv >= 0, "the model has no total_sv");
    require(h.nr_class >= 1, "the model has no classes: nr_class must be at least 1");
    if (h.is_regression()) {
      require(h.rho.size() == 1,
              fmt::format("a regression has one rho, the model has {}", h.rho.size()));
      return;
    }
    const Index pairs = num_machines(Decision::one_vs_one, h.nr_class);
    require(static_cast<Index>(h.rho.size()) == pairs,
            fmt::format("{} {} rho, the model has {}",
                        counted(h.nr_class, "class needs", "classes need"), pairs, h.rho.size()));
    require(
        h.prob_a.size() == h.prob_b.size() && (h.prob_a.empty() || h.prob_a.size() == h.rho.size()),
        fmt::format("{} rho, but {} probA and {} probB", h.rho.size(), h.prob_a.size(),
                    h.prob_b.size()));
    require(
        static_cast<Index>(h.labels.size()) == h.nr_class,
        fmt::format("{}, but {}", counted(h.nr_class, "class"), counted(h.labels.size(), "label")));
    require(static_cast<Index>(h.nr_sv.size()) == h.nr_class,
            fmt::format("{}, but {} nr_sv", counted(h.nr_class, "class"), h.nr_sv.size()));
    std::vector<double> sorted = h.labels;
    std::sort(sorted.begin(), sorted.end());
    require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
            "two classes have the same label");
    double total = 0;
    for (const double count : h.nr_sv) {
      require(count >= 0 && count <= static_cast<double>(h.total_sv) && count == std::floor(count),
              fmt::format("nr_sv {} is not a count up to {}", count, h.total_sv));
      total += count;
    }
    require(total == static_cast<double>(h.total_sv),
            fmt::format("nr_sv adds up to {}, but total_sv is {}", total, h.total_sv));
  }

  std::string_view text_;
  const ChunkedText& places_;
  std::size_t position_ = 0;
  std::string_view rest_;
  Header header_;
};

// Lines "coefficient .. index:value index:value ..". The coefficients become the rows' weights.
class VectorParser : public ChunkParser {
 public:
  explicit VectorParser(const Header& header)
      : body_offset_(header.body_offset),
        coefficients_(header.coefficients_a_line()),
        base_(header.kernel.type == KernelType::precomputed ? 0 : 1) {}

  // A pair takes at least four bytes, " 1:2", or three at the beginning of a line; the loop writes
  // at most one past the last.
  Index most_entries(const TextChunk& chunk) const override {
    return most_separators(chunk, ":", 4);
  }
  void parse(const TextChunk& chunk, RowChunk& out) const override {
    const Index skipped =
        std::clamp<Index>(body_offset_ - chunk.offset, 0, chunk.end - chunk.begin);
    const char* p = chunk.begin + skipped;
    while (p != chunk.end) p = parse_line(p, chunk, out);
  }
  std::string label_at(const char* text) const override { return std::string(token_at(text)); }

 private:
  const char* parse_line(const char* p, const TextChunk& chunk, RowChunk& out) const {
    while (is_blank(*p)) ++p;
    if (*p != '\n') {
      for (Index k = 0; k < coefficients_; ++k) {
        while (is_blank(*p)) ++p;
        const ParsedNumber number = parse_number(p);
        if (number.end == nullptr || !ends_token(*number.end) || !std::isfinite(number.value))
          fail_coefficient(p, k);
        out.weights.push_back(number.value);
        p = number.end;
      }
      p = parse_pairs(p, out);
      out.rows.push_back({out.entry_count, 0, -1});
    }
    const auto left = static_cast<std::size_t>(chunk.end - p);
    return static_cast<const char*>(std::memchr(p, '\n', left)) + 1;
  }

  const char* parse_pairs(const char* p, RowChunk& out) const {
    std::int64_t last = base_ - 1;
    Entry* next = out.entries.get() + out.entry_count;
    for (;;) {
      while (is_blank(*p)) ++p;
      if (*p == '\n') break;
      const char* const pair = p;
      std::uint64_t index = 0;
      for (unsigned d = detail::digit_of(*p); d <= 9; d = detail::digit_of(*++p))
        index = index * 10 + d;
      const auto signed_index = static_cast<std::int64_t>(index);
      if (p == pair || *p != ':' || p - pair > 18 || signed_index > kLargestIndex ||
          signed_index <= last) [[unlikely]] {
        throw TextProblem{pair, fmt::format("{} is not index:value with an index above {}",
                                            quote_text(token_at(pair)), last)};
      }
      last = signed_index;
      const ParsedNumber number = parse_number(++p);
      const auto value = static_cast<float>(number.value);
      if (number.end == nullptr || !ends_token(*number.end) || !std::isfinite(value)) [[unlikely]]
        throw TextProblem{p, number_problem(token_at(p))};
      p = number.end;
      *next = {static_cast<std::int32_t>(signed_index - base_), value};
      next += value != 0.0F ? 1 : 0;
    }
    out.entry_count = next - out.entries.get();
    out.cols = std::max<Index>(out.cols, last - base_ + 1);
    return p;
  }

  [[noreturn]] void fail_coefficient(const char* where, Index k) const {
    throw TextProblem{where, fmt::format("{} where coefficient {} of {} should be",
                                         quote_text(token_at(where)), k + 1, coefficients_)};
  }

  Index body_offset_;
  Index coefficients_;
  int base_;
};

void parse_body(const ChunkedText& text, const Header& header, const InputBytes& input,
                const RunControl& control, ExpansionParts& parts) {
  const Index per_line = header.coefficients_a_line();
  const auto fail_count = [&](Index count) {
    text.fail_at(static_cast<std::int64_t>(input.bytes.size()),
                 fmt::format("total_sv is {}, but the model has {}", header.total_sv, count));
  };
  const bool is_empty =
      input.bytes.find_first_not_of(" \t\r\n", usize(header.body_offset)) == std::string_view::npos;
  if (is_empty) {
    if (header.total_sv != 0) fail_count(0);
    parts.support_vectors = Matrix::dense(0, 0, {});
    return;
  }
  const std::int64_t budget = resolve_memory_budget(control.memory_bytes) - input.heap_bytes;
  const VectorParser parser(header);
  std::vector<RowChunk> chunks = parse_chunks(text, parser, budget, control);
  Index rows = 0;
  Index cols = 0;
  for (const RowChunk& chunk : chunks) {
    rows += static_cast<Index>(chunk.rows.size());
    cols = std::max(cols, chunk.cols);
  }
  if (rows != header.total_sv) fail_count(rows);
  const std::vector<double> by_line = assemble_weights(chunks);
  parts.coefficients.resize(by_line.size());
  parallel_ranges(rows, 4096, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      for (Index k = 0; k < per_line; ++k)
        parts.coefficients[usize(k * rows + s)] = by_line[usize(s * per_line + k)];
    }
  });
  parts.support_vectors =
      assemble_matrix(chunks, std::max<Index>(1, cols), budget, "reading " + text.name());
}

}  // namespace

bool is_libsvm_model(std::string_view bytes) { return bytes.starts_with(kFirstWord); }

Model parse_libsvm_model(const std::string& name, const InputBytes& input,
                         const RunControl& control) {
  const ChunkedText text(name, input, kTextChunkBytes, control);
  const Header header = HeaderParser(input.bytes, text).parse();
  ExpansionParts parts;
  parts.kernel = header.kernel;
  parts.any_columns = true;
  for (const double rho : header.rho) parts.offsets.push_back(0.0 - rho);
  const bool is_single = header.is_regression() || header.nr_class == 2;
  if (!is_single) {
    parts.decision = Decision::one_vs_one;
    for (const double count : header.nr_sv) parts.class_counts.push_back(static_cast<Index>(count));
  }
  parse_body(text, header, input, control, parts);
  std::shared_ptr<Calibration> calibration;
  if (!header.is_regression() && !header.prob_a.empty()) {
    calibration = std::make_shared<Calibration>();
    calibration->decision = parts.decision;
    calibration->num_classes = header.nr_class;
    for (std::size_t m = 0; m < header.prob_a.size(); ++m)
      calibration->machines.push_back({header.prob_a[m], header.prob_b[m], {}, {}});
  }
  const Model model = make_model(header.is_regression() ? Task::regression : Task::classification,
                                 header.is_regression() ? Labels() : Labels::numeric(header.labels),
                                 {}, std::make_shared<const KernelExpansion>(std::move(parts)),
                                 "libsvm " + std::string(header.svm_type));
  return with_calibration(model, std::move(calibration));
}

}  // namespace tamis
