#include "base/read_at.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace tamis {
namespace {

std::string read(int descriptor, std::size_t size, std::int64_t offset) {
  std::string text(size, '?');
  const std::int64_t got = read_at(descriptor, std::as_writable_bytes(std::span(text)), offset);
  return got < 0 ? "failed" : text.substr(0, static_cast<std::size_t>(got));
}

TEST(ReadAt, PartsOfAFile) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::fputs("0123456789", file);
  std::fflush(file);
  const int descriptor = fileno(file);
  EXPECT_EQ(read(descriptor, 4, 3), "3456");
  EXPECT_EQ(read(descriptor, 0, 3), "");
  EXPECT_EQ(read(descriptor, 10, 0), "0123456789");
  EXPECT_EQ(read(descriptor, 20, 8), "89");  // the file ends
  EXPECT_EQ(read(descriptor, 5, 100), "");
  std::fclose(file);
}

TEST(ReadAt, WhatHasNoPlacesFails) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(read(ends[0], 1, 0), "failed");
  EXPECT_EQ(errno, ESPIPE);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace tamis
