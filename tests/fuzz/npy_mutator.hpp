// A new array with a valid magic and header length, whose type, order, shape and data are drawn
// from values that matter; the data may be one byte too short or too long.
#pragma once

#include "mutation.hpp"

namespace tamis::fuzz {

inline std::string random_npy(Dice& dice) {
  static constexpr const char* kTypes[] = {"<f4", "<f8", "|u1", "|i1", "<i2", "<u4", "<i8", "<u8",
                                           "|b1", "<U3", "|S2", ">f4", "<f2", "|O",  "<U0", "=i4"};
  static constexpr const char* kSizes[] = {
      "0",  "1",  "2",  "3", "7", "2147483648", "4611686018427387904", "18446744073709551616",
      "-1", "3L", " 2 "};
  static constexpr const char* kOrders[] = {"False", "True", "False", "1"};
  const std::string type = dice.pick(kTypes);
  std::string shape;
  std::size_t count = 1;
  for (std::size_t dims = dice.below(4); dims > 0; --dims) {
    const std::size_t which = dice.below(3) == 0 ? dice.below(std::size(kSizes)) : dice.below(5);
    shape += std::string(kSizes[which]) + (dims > 1 || dice.below(2) == 0 ? ", " : "");
    count *= which < 5 ? std::stoul(kSizes[which]) : 1;
  }
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + dice.pick(kOrders) +
                       ", 'shape': (" + shape + "), }\n";
  const bool long_length = dice.below(4) == 0;
  const std::size_t item = std::max<std::size_t>(1, type.back() - '0') * (type[1] == 'U' ? 4 : 1);
  std::string data(count * std::min<std::size_t>(item, 16), '\0');
  for (char& c : data) c = static_cast<char>(dice.below(5) == 0 ? dice.below(256) : dice.below(2));
  if (dice.below(8) == 0) data.resize(data.size() + 1);
  if (dice.below(8) == 0 && !data.empty()) data.pop_back();
  const auto length = static_cast<std::uint32_t>(header.size());
  std::string file =
      long_length ? std::string("\x93NUMPY\x02\x00", 8) : std::string("\x93NUMPY\x01\x00", 8);
  file.append(reinterpret_cast<const char*>(&length), long_length ? 4 : 2);
  return file + header + data;
}

/// The features or the labels of the input are replaced by a new array.
inline std::size_t mutate_npy(std::uint8_t* data, std::size_t size, std::size_t most,
                              unsigned int seed) {
  Dice dice(seed);
  const std::string given(reinterpret_cast<const char*>(data), size);
  std::uint16_t length = 0;
  std::memcpy(&length, given.data(), std::min(size, sizeof length));
  const std::string body = given.substr(std::min<std::size_t>(size, sizeof length));
  std::string features = body.substr(0, length == 0 ? body.size() : length);
  std::string labels = body.substr(features.size());
  (dice.below(2) == 0 ? features : labels) = random_npy(dice);
  length = labels.empty() ? 0 : static_cast<std::uint16_t>(features.size());
  const std::string head(reinterpret_cast<const char*>(&length), sizeof length);
  return put(head + features + labels, data, most);
}

}  // namespace tamis::fuzz
