// SPDX-License-Identifier: Apache-2.0
// Files of this machine's interpreters, and what they say of themselves.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace firetower::testing {

inline std::vector<std::byte> BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::string OutputOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 256> buffer{};
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr)
    output += buffer.data();
  return output;
}

// Replaces each place of `from` by `to`, of the same size.
inline void Replace(std::vector<std::byte>& bytes, std::string_view from, std::string_view to) {
  ASSERT_EQ(from.size(), to.size());
  const auto* what = reinterpret_cast<const std::byte*>(from.data());
  const auto* with = reinterpret_cast<const std::byte*>(to.data());
  auto at = std::search(bytes.begin(), bytes.end(), what, what + from.size());
  ASSERT_NE(at, bytes.end());
  while (at != bytes.end()) {
    std::copy(with, with + to.size(), at);
    at = std::search(at + 1, bytes.end(), what, what + from.size());
  }
}

}  // namespace firetower::testing
