// SPDX-License-Identifier: Apache-2.0
// Written by hand: a graph of 100,000 bars is half a million numbers.
#include "profile/flame/levels_json.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"

namespace firetower::profile {
namespace {

constexpr int kVersion = 1;

void AppendString(std::string_view text, std::string& out) {
  out += '"';
  out += JsonEscape(text);
  out += '"';
}

void AppendInteger(int64_t value, std::string& out) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

void AppendInfo(const Flame& flame, std::string_view type, std::string& out) {
  const FlameInfo& info = flame.info;
  fmt::format_to(std::back_inserter(out), "{{\"version\":{},\"title\":\"{}\",\"type\":\"{}\",",
                 kVersion, JsonEscape(info.title), JsonEscape(type));
  fmt::format_to(std::back_inserter(out), "\"value\":\"{}\",\"unit\":\"{}\",",
                 JsonEscape(info.value.type), JsonEscape(info.value.unit));
  fmt::format_to(std::back_inserter(out),
                 "\"from_ms\":{},\"to_ms\":{},\"observed_seconds\":{:.3f},\"profiles\":{},"
                 "\"skipped\":{},\"total\":{},\"cut_nodes\":{},\"max_hidden\":{},",
                 info.from_ms, info.to_ms, info.observed_seconds, info.profiles, info.skipped,
                 flame.levels.total(), flame.levels.cut_nodes, flame.levels.max_hidden);
  if (flame.levels.left.empty()) return;
  fmt::format_to(std::back_inserter(out),
                 "\"base_from_ms\":{},\"base_to_ms\":{},\"base_observed_seconds\":{:.3f},"
                 "\"base_profiles\":{},\"base_total\":{},",
                 info.base.from_ms, info.base.to_ms, info.base.observed_seconds, info.base.profiles,
                 flame.levels.left[0].total);
}

// "names", "kinds" (a digit a name: FrameKind), "domains" (a letter a name) if they are known,
// "modules" and each name's index in them.
void AppendNames(const FlameLevels& levels, std::string& out) {
  std::unordered_map<std::string_view, size_t> ids;
  std::vector<std::string_view> modules;
  std::string names;
  std::string kinds;
  std::string domains;
  bool has_domains = false;
  std::string name_modules;
  for (const FlameName& name : levels.names) {
    if (!names.empty()) names += ',';
    AppendString(name.text, names);
    kinds += static_cast<char>('0' + static_cast<uint32_t>(name.kind));
    domains += name.domain == 0 ? '-' : name.domain;
    has_domains = has_domains || name.domain != 0;
    auto [at, is_new] = ids.try_emplace(name.module, modules.size());
    if (is_new) modules.push_back(name.module);
    if (!name_modules.empty()) name_modules += ',';
    AppendInteger(static_cast<int64_t>(at->second), name_modules);
  }
  out += "\"names\":[" + names + "],\"kinds\":\"" + kinds + "\",";
  if (has_domains) out += "\"domains\":\"" + domains + "\",";
  out += "\"name_modules\":[" + name_modules + "],\"modules\":[";
  for (size_t i = 0; i < modules.size(); ++i) {
    if (i > 0) out += ',';
    AppendString(modules[i], out);
  }
  out += ']';
}

void AppendBar(const FlameBar& bar, int64_t& end, std::string& out) {
  AppendInteger(bar.x - end, out);
  out += ',';
  AppendInteger(bar.total, out);
  out += ',';
  AppendInteger(bar.self, out);
  out += ',';
  end = bar.x + bar.total;
}

void AppendLevels(const FlameLevels& levels, std::string& out) {
  out += "\"levels\":[";
  for (size_t level = 0; level < levels.level_count(); ++level) {
    out += level > 0 ? ",[" : "[";
    int64_t end = 0;
    int64_t left_end = 0;
    for (uint32_t bar = levels.level_starts[level]; bar < levels.level_starts[level + 1]; ++bar) {
      if (bar > levels.level_starts[level]) out += ',';
      if (!levels.left.empty()) AppendBar(levels.left[bar], left_end, out);
      AppendBar(levels.bars[bar], end, out);
      AppendInteger(levels.name_of[bar], out);
    }
    out += ']';
  }
  out += ']';
}

// Returns the index of each bar's first child. Children follow one another on the next level.
std::vector<uint32_t> FirstChildren(const FlameLevels& levels) {
  std::vector<uint32_t> counts(levels.bars.size() + 1, 0);
  for (uint32_t bar = 1; bar < levels.bars.size(); ++bar) ++counts[levels.parent_of[bar]];
  uint32_t next = 1;
  for (uint32_t& count : counts) next = std::exchange(count, next) + next;
  return counts;
}

void AppendRow(const FlameLevels& levels, uint32_t bar, uint32_t level, std::string& out) {
  const bool is_diff = !levels.left.empty();
  const FlameBar& right = levels.bars[bar];
  const FlameBar& shown = is_diff ? levels.left[bar] : right;
  fmt::format_to(std::back_inserter(out), "{{\"level\":{},\"value\":{},\"self\":{},", level,
                 shown.total, shown.self);
  if (is_diff) {
    fmt::format_to(std::back_inserter(out), "\"valueRight\":{},\"selfRight\":{},", right.total,
                   right.self);
  }
  out += "\"label\":";
  AppendString(levels.names[levels.name_of[bar]].text, out);
  out += '}';
}

}  // namespace

std::string FlameLevelsJson(const Flame& flame, std::string_view type) {
  std::string out;
  AppendInfo(flame, type, out);
  AppendNames(flame.levels, out);
  out += ',';
  AppendLevels(flame.levels, out);
  out += "}\n";
  return out;
}

std::string FlameRowsJson(const Flame& flame, std::string_view type) {
  struct Open {
    uint32_t bar;
    uint32_t level;
  };
  std::string out;
  AppendInfo(flame, type, out);
  out += "\"rows\":[";
  const std::vector<uint32_t> first = FirstChildren(flame.levels);
  std::vector<Open> open{{0, 0}};
  while (!open.empty()) {
    const Open at = open.back();
    open.pop_back();
    if (at.bar > 0) out += ',';
    AppendRow(flame.levels, at.bar, at.level, out);
    for (uint32_t child = first[at.bar + 1]; child-- > first[at.bar];) {
      open.push_back({child, at.level + 1});
    }
  }
  out += "]}\n";
  return out;
}

}  // namespace firetower::profile
