// SPDX-License-Identifier: Apache-2.0
// Small profiles with known numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/builder.h"

namespace firetower::testing {

// root;…;leaf of named functions in one binary, with samples/count and cpu/nanoseconds.
class StackBuilder {
 public:
  explicit StackBuilder(int64_t time_nanos = 1'700'000'000'000'000'000, int64_t hertz = 100)
      : builder_(profile::CpuMeta(hertz, time_nanos, 60'000'000'000)) {
    mapping_ = builder_.AddMapping({.memory_start = 0x400000,
                                    .memory_limit = 0x500000,
                                    .filename = builder_.AddString("/usr/bin/app"),
                                    .build_id = builder_.AddString("0123456789abcdef"),
                                    .flags = profile::Mapping::kHasFunctions});
  }

  profile::ProfileBuilder& builder() { return builder_; }
  uint32_t mapping() const { return mapping_; }

  uint32_t Frame(std::string_view function) {
    profile::Line line{.function = builder_.AddFunction(function, function, "")};
    return builder_.AddLocation(mapping_, 0x400000 + line.function * 0x10u, {&line, 1});
  }
  StackBuilder& Add(const std::vector<std::string_view>& root_to_leaf, int64_t samples,
                    const std::vector<std::pair<std::string_view, std::string_view>>& labels = {}) {
    std::vector<uint32_t> stack;
    for (size_t i = root_to_leaf.size(); i-- > 0;) stack.push_back(Frame(root_to_leaf[i]));
    std::array<int64_t, 2> values{samples, samples * 10'000'000};
    std::vector<profile::Label> own;
    for (auto [key, value] : labels) own.push_back(builder_.StringLabel(key, value));
    builder_.AddSample(stack, values, own);
    return *this;
  }
  profile::Profile Build() { return std::move(builder_).Build(); }

 private:
  profile::ProfileBuilder builder_;
  uint32_t mapping_ = 0;
};

}  // namespace firetower::testing
