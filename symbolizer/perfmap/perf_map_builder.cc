// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perfmap/perf_map_builder.h"

#include <algorithm>
#include <charconv>
#include <queue>
#include <utility>

namespace firetower::symbolizer {

namespace {

// A function of more than this is a lie: it would name half the address space.
constexpr uint64_t kMaxFunctionBytes = 256u << 20;

// The most that is kept of a line: two numbers and a name. Longer names are cut.
constexpr size_t kMaxLineBytes = PerfMap::kMaxNameBytes + 64;

// Takes a hex number, with or without 0x, and the blanks after it.
bool TakeHex(std::string_view& line, uint64_t& value) {
  if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc()) return false;
  auto used = static_cast<size_t>(end - line.data());
  size_t blanks = std::min(line.find_first_not_of(" \t", used), line.size());
  if (blanks == used) return false;
  line.remove_prefix(blanks);
  return true;
}

}  // namespace

bool PerfMapBuilder::AddText(std::string_view text) {
  while (!ended_ && !text.empty()) {
    if (pending_.empty() && text[0] == '\0') {
      ended_ = true;
      break;
    }
    size_t end = text.find('\n');
    std::string_view part = text.substr(0, end);
    part = part.substr(0, kMaxLineBytes - pending_.size());
    if (end == std::string_view::npos) {
      pending_.append(part);
      break;
    }
    if (pending_.empty()) {
      AddLine(part);
    } else {
      AddLine(pending_.append(part));
      pending_.clear();
    }
    text.remove_prefix(end + 1);
    if (dropped_lines_ > PerfMap::kMaxDroppedLines) ended_ = true;
  }
  return !ended_;
}

void PerfMapBuilder::AddLine(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  uint64_t start = 0;
  uint64_t size = 0;
  uint64_t end = 0;
  if (!TakeHex(line, start) || !TakeHex(line, size) || line.empty() || line[0] == '\0' ||
      size == 0 || size > kMaxFunctionBytes || __builtin_add_overflow(start, size, &end) ||
      entries_.size() >= PerfMap::kMaxEntries) {
    ++dropped_lines_;
    return;
  }
  auto name = names_.Add(line.substr(0, PerfMap::kMaxNameBytes));
  if (!name) {
    ++dropped_lines_;
    return;
  }
  entries_.push_back(
      {start, static_cast<uint32_t>(size), *name, static_cast<uint32_t>(entries_.size())});
}

void PerfMapBuilder::Append(PerfMap& map, const Entry& entry, uint64_t from, uint64_t to) const {
  if (!map.bodies_.empty()) {
    PerfMap::Body& last = map.bodies_.back();
    if (map.starts_.back() + last.size_bytes == from && last.function_start == entry.start &&
        last.name_offset == entry.name_offset) {
      last.size_bytes += static_cast<uint32_t>(to - from);
      return;
    }
  }
  map.starts_.push_back(from);
  map.bodies_.push_back({static_cast<uint32_t>(to - from), entry.name_offset, entry.start});
}

PerfMap PerfMapBuilder::Finish() && {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.start != b.start ? a.start < b.start : a.line < b.line;
  });
  // Sweep upwards; the heap's top is the latest line that began at or below `position`. Lines that
  // ended are dropped when they come to the top, so the whole costs n log n however they nest.
  auto earlier = [this](uint32_t a, uint32_t b) { return entries_[a].line < entries_[b].line; };
  std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(earlier)> open(earlier);
  PerfMap map;
  uint64_t position = 0;
  for (uint32_t next = 0; next < entries_.size() || !open.empty();) {
    if (open.empty()) position = entries_[next].start;
    while (next < entries_.size() && entries_[next].start <= position) open.push(next++);
    const Entry& top = entries_[open.top()];
    if (top.end() <= position) {
      open.pop();
      continue;
    }
    uint64_t stop = top.end();
    if (next < entries_.size()) stop = std::min(stop, entries_[next].start);
    Append(map, top, position, stop);
    position = stop;
  }
  map.starts_.shrink_to_fit();
  map.bodies_.shrink_to_fit();
  map.names_ = names_.Take();
  map.dropped_lines_ = dropped_lines_;
  return map;
}

}  // namespace firetower::symbolizer
