#include "io/number_parser.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace tamis {
namespace {

// Compares with strtod, which rounds correctly, bit by bit.
void expect_like_strtod(const std::string& text) {
  const std::string ended = text + "\n";
  const ParsedNumber number = parse_number(ended.c_str());
  ASSERT_EQ(number.end, ended.c_str() + text.size()) << text;
  const double expected = std::strtod(text.c_str(), nullptr);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(number.value), std::bit_cast<std::uint64_t>(expected))
      << text << " gave " << number.value << ", strtod " << expected;
}

TEST(NumberParser, ReadsEveryWayToWriteANumber) {
  for (const char* text : {"0",
                           "-0",
                           "+0",
                           "1",
                           "+1",
                           "-1",
                           ".5",
                           "5.",
                           "-.5e1",
                           "+5.e-1",
                           "1e5",
                           "1E+5",
                           "1e-5",
                           "123456789012345678901234567890",
                           "0.000000000000000000000000000001",
                           "9007199254740993",
                           "9007199254740992",
                           "1e22",
                           "1e23",
                           "123e-22",
                           "1e-23",
                           "3.4028235e38",
                           "3.5e38",
                           "1e-45",
                           "1e-46",
                           "1.7976931348623157e308",
                           "4.9e-324",
                           "0.1",
                           "0.30000001192092896",
                           "18446744073709551615",
                           "18446744073709551616",
                           "184467440737095516150",
                           "00000000000000001",
                           "1.00000017881393421514957253748434595763683319091796875",
                           "1.00000017881393432617187499",
                           "1.00000017881393432617187501"}) {
    expect_like_strtod(text);
  }
}

TEST(NumberParser, OverflowIsInfiniteAndUnderflowIsZero) {
  for (const char* text : {"1e309", "-1e309", "1e400", "123456e999999999999999999", "0.001e99999",
                           "8.5e9223372036854775807"}) {
    expect_like_strtod(text);
    EXPECT_TRUE(std::isinf(parse_number((std::string(text) + "\n").c_str()).value)) << text;
  }
  for (const char* text :
       {"1e-400", "-1e-400", "0e999999999999999", "0.0e-5000", "1e-99999999999999999999",
        "0.00001e-330", "1000e-400", "8222e-9223372036854775808"}) {
    expect_like_strtod(text);
    EXPECT_EQ(parse_number((std::string(text) + "\n").c_str()).value, 0) << text;
  }
  expect_like_strtod("1" + std::string(400, '0') + "e-400");
  expect_like_strtod("0." + std::string(400, '0') + "1e400");
  expect_like_strtod("1" + std::string(400, '0'));
  expect_like_strtod("0." + std::string(400, '0') + "1");
}

TEST(NumberParser, StopsWhereTheNumberEnds) {
  for (const char* text : {"", "+", "-", ".", "e5", "-.", "+-1", "nan", "inf", "-inf", "1e", "1e+",
                           "1.e", "abc", " 1", "x1"}) {
    EXPECT_EQ(parse_number((std::string(text) + "\n").c_str()).end, nullptr) << text;
  }
  const std::string hex = "0x10\n";
  EXPECT_EQ(parse_number(hex.c_str()).end, hex.c_str() + 1);
  const std::string twice = "1.5.5\n";
  EXPECT_EQ(parse_number(twice.c_str()).end, twice.c_str() + 3);
}

RC_GTEST_PROP(NumberParser, AgreesWithStrtodOnRandomDoubles, (std::uint64_t bits, int digits)) {
  const auto value = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(value));
  char buffer[64];
  for (const auto format : {std::chars_format::scientific, std::chars_format::general}) {
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer - 1, value, format, std::abs(digits % 20)).ptr;
    expect_like_strtod(std::string(buffer, end));
  }
}

RC_GTEST_PROP(NumberParser, AgreesWithStrtodOnRandomDigits, ()) {
  const auto digits = *rc::gen::container<std::string>(rc::gen::inRange<char>('0', ':'));
  const auto fraction = *rc::gen::container<std::string>(rc::gen::inRange<char>('0', ':'));
  const int exponent = *rc::gen::inRange(-60, 60);
  expect_like_strtod("-1" + digits + "." + fraction + "e" + std::to_string(exponent));
  expect_like_strtod("0." + fraction + digits + "7");
}

RC_GTEST_PROP(NumberParser, AgreesWithStrtodOnDigitsOfEveryLength,
              (std::uint64_t digits, unsigned point, unsigned cut)) {
  std::string text = std::to_string(digits).substr(0, 1 + cut % 20);
  const std::size_t places = point % 28;
  if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
  text.insert(text.size() - places, ".");
  expect_like_strtod(text);
}

}  // namespace
}  // namespace tamis
