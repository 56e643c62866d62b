// SPDX-License-Identifier: Apache-2.0
// Profiles whose frames lie in named files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/profile.h"

namespace firetower::diagnosis {

struct FrameAt {
  std::string function;
  std::string module = "/app/web";
  std::string source = {};
};

inline constexpr const char* kKernelModule = "[kernel.kallsyms]";

class ProfileOf {
 public:
  ProfileOf()
      : builder_(profile::Meta{.sample_types = {{"samples", "count"}, {"cpu", "nanoseconds"}}}) {}

  // A stack, outermost first, with that many samples, each of 10 ms.
  ProfileOf& Add(const std::vector<FrameAt>& stack, int64_t samples, const std::string& comm = "") {
    std::vector<uint32_t> locations;
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
      locations.push_back(LocationOf(*frame));
    const int64_t values[] = {samples, samples * 10'000'000};
    std::vector<profile::Label> labels;
    if (!comm.empty())
      labels.push_back(
          {.key = builder_.AddString("comm"), .string_value = builder_.AddString(comm)});
    builder_.AddSample(locations, values, labels);
    return *this;
  }
  profile::Profile Build() { return std::move(builder_).Build(); }

 private:
  uint32_t LocationOf(const FrameAt& frame) {
    const auto [at, is_new] = mappings_.try_emplace(frame.module, 0u);
    if (is_new)
      at->second = builder_.AddMapping({.memory_start = next_address_,
                                        .memory_limit = next_address_ + 0x1000,
                                        .filename = builder_.AddString(frame.module)});
    const profile::Line line{
        .function = builder_.AddFunction(frame.function, frame.function, frame.source)};
    return builder_.AddLocation(at->second, next_address_ += 16, {&line, 1});
  }

  profile::ProfileBuilder builder_;
  std::map<std::string, uint32_t> mappings_;
  uint64_t next_address_ = 0x400000;
};

}  // namespace firetower::diagnosis
