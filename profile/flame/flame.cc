// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/flame.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace firetower::profile {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

Error NoValue(const Meta& meta, std::string_view type) {
  std::vector<std::string> known;
  for (const ValueType& value : meta.sample_types) known.push_back(value.type);
  return {ErrorCode::kUnsupported,
          fmt::format("the profile has no value '{}'; it has {}", type, fmt::join(known, ", "))};
}

// The light theme's colours of web/tokens.css; tests/unit/profile/flame/flame_test.cc compares
// them.
constexpr uint32_t kColors[] = {0xf7bebd, 0xf7c0b2, 0xf3c3a9, 0xeec7a2, 0xe6cb9e, 0xdccf9e,
                                0xd1d3a1, 0xc5d7a8, 0xb8dab1, 0xaddcbc, 0xa4ddc8, 0x9dddd4,
                                0x9bdce0, 0x9ddaea, 0xa2d8f2, 0xabd4f8, 0xb6d0fb, 0xc2ccfb,
                                0xcdc8f8, 0xd9c4f2, 0xe3c1ea, 0xebbfe0, 0xf1bed5, 0xf5bdc9};
constexpr uint32_t kKernelColor = 0xbdc8d6;
constexpr uint32_t kUnknownColor = 0xf6f8fa;
constexpr uint32_t kPlainColor = 0xdbdee4;

}  // namespace

FlameLevels LayOutWithin(FlameTreeBuilder builder, const FlameOptions& options) {
  const FlameTree tree = std::move(builder).Build();
  FlameCut cut;
  cut.max_bars = options.max_bars;
  cut.min_total =
      static_cast<int64_t>(std::ceil(options.min_share * static_cast<double>(tree.totals[0])));
  return LayOutFlame(tree, cut, options.order);
}

Result<Flame> MakeFlame(const Profile& profile, const FlameOptions& options,
                        uint32_t max_tree_nodes) {
  const Meta& meta = profile.meta();
  const std::optional<uint32_t> value = ValueIndexOf(meta, options.sample_type);
  if (!value) return NoValue(meta, options.sample_type);
  FlameTreeBuilder builder(options.names, max_tree_nodes);
  builder.NameDomains(options.domain_letter);
  RETURN_IF_ERROR(builder.Add(profile, *value));
  if (builder.Recount()) RETURN_IF_ERROR(builder.Add(profile, *value));
  Flame flame;
  flame.levels = LayOutWithin(std::move(builder), options);
  flame.info.title = options.title;
  flame.info.value = meta.sample_types[*value];
  flame.info.from_ms = meta.time_nanos / kNsPerMs;
  flame.info.to_ms = SaturatingAdd(meta.time_nanos, meta.duration_nanos) / kNsPerMs;
  flame.info.observed_seconds = static_cast<double>(meta.duration_nanos) / 1e9;
  return flame;
}

double CoresOf(const FlameInfo& info, int64_t value) {
  bool is_cpu = info.value.type == "cpu" && info.value.unit == "nanoseconds";
  if (!is_cpu || info.observed_seconds <= 0) return 0;
  return static_cast<double>(value) / 1e9 / info.observed_seconds;
}

std::string_view KindMark(FrameKind kind) {
  switch (kind) {
    case FrameKind::kKernel:
      return " [k]";
    case FrameKind::kJit:
      return " [j]";
    case FrameKind::kInlined:
      return " [i]";
    case FrameKind::kUser:
    case FrameKind::kTotal:
    case FrameKind::kOther:
      return "";
  }
  return "";
}

std::string_view KindWord(FrameKind kind) {
  switch (kind) {
    case FrameKind::kKernel:
      return "kernel";
    case FrameKind::kJit:
      return "JIT";
    case FrameKind::kInlined:
      return "inlined";
    case FrameKind::kUser:
    case FrameKind::kTotal:
    case FrameKind::kOther:
      return "";
  }
  return "";
}

uint32_t ColorOf(const FlameName& name) {
  if (name.kind == FrameKind::kKernel) return kKernelColor;
  if (name.kind == FrameKind::kTotal || name.kind == FrameKind::kOther) return kPlainColor;
  std::string_view path = name.module;
  if (path.empty() || path == "[unknown]") return kUnknownColor;
  uint32_t hash = 0x811c9dc5;  // FNV-1a over the file's name: the folder differs between images
  for (char c : path.substr(path.rfind('/') + 1)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  }
  return kColors[hash % std::size(kColors)];
}

}  // namespace firetower::profile
