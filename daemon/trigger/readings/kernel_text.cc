// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/readings/kernel_text.h"

#include <algorithm>
#include <charconv>

namespace firetower::daemon {
namespace {

// Above it a v1 limit is none: PAGE_COUNTER_MAX is near 2^63, and no machine has 2^60 bytes.
constexpr uint64_t kNoLimitBytes = uint64_t{1} << 60;

// The number at the front and what ends it, one of `ends`; both are taken off.
std::optional<uint64_t> TakeNumber(std::string_view& text, std::string_view ends) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() + text.size()) return std::nullopt;
  if (ends.find(*end) == std::string_view::npos) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return value;
}

// The next whole line, without its end; nothing for a last one without one.
std::optional<std::string_view> TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end + 1);
  text.remove_prefix(end + 1);
  return line;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "cpu12 " off the front; not "cpu ", which is their sum.
bool TakeCpuName(std::string_view& line) {
  return TakePrefix(line, "cpu") && TakeNumber(line, " ").has_value();
}

}  // namespace

std::optional<uint64_t> ParseCount(std::string_view text) { return TakeNumber(text, "\n"); }

std::optional<uint64_t> FindCount(std::string_view text, std::string_view key) {
  while (std::optional<std::string_view> line = TakeLine(text)) {
    if (TakePrefix(*line, key) && TakePrefix(*line, " ")) return TakeNumber(*line, "\n");
  }
  return std::nullopt;
}

std::optional<double> ParseCpuMax(std::string_view text) {
  const bool none = TakePrefix(text, "max ");
  const std::optional<uint64_t> quota = none ? 0 : TakeNumber(text, " ");
  const std::optional<uint64_t> period = TakeNumber(text, "\n");
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<uint64_t> ParseMemoryMax(std::string_view text) {
  if (text == "max\n") return 0;
  const std::optional<uint64_t> bytes = ParseCount(text);
  return bytes && *bytes >= kNoLimitBytes ? 0 : bytes;
}

std::optional<uint64_t> ParsePressureTotalUs(std::string_view text) {
  while (std::optional<std::string_view> line = TakeLine(text)) {
    if (!TakePrefix(*line, "some ")) continue;
    const size_t total = line->find("total=");
    if (total == std::string_view::npos) return std::nullopt;
    line->remove_prefix(total + std::string_view("total=").size());
    return TakeNumber(*line, "\n");
  }
  return std::nullopt;
}

std::optional<double> ParseLoadAverage(std::string_view text) {
  const std::optional<uint64_t> whole = TakeNumber(text, ".");
  const std::string_view digits = text;
  const std::optional<uint64_t> hundredths = TakeNumber(text, " ");
  if (!whole || !hundredths || digits.size() - text.size() != 3) return std::nullopt;
  return static_cast<double>(*whole) + static_cast<double>(*hundredths) / 100;
}

std::optional<uint64_t> ParseMemoryTotalBytes(std::string_view text) {
  while (std::optional<std::string_view> line = TakeLine(text)) {
    if (!TakePrefix(*line, "MemTotal:")) continue;
    line->remove_prefix(std::min(line->find_first_not_of(' '), line->size()));
    const std::optional<uint64_t> kib = TakeNumber(*line, " ");
    if (!kib || *line != "kB\n" || *kib > kNoLimitBytes / 1024) return std::nullopt;
    return *kib * 1024;
  }
  return std::nullopt;
}

void ParseCpuTicks(std::string_view text, std::vector<CpuTicks>& cpus) {
  cpus.clear();
  bool inside = false;
  while (std::optional<std::string_view> line = TakeLine(text)) {
    if (!TakeCpuName(*line)) {
      if (inside) return;  // The rest is long, and not about CPU time.
      continue;
    }
    inside = true;
    // user nice system idle iowait irq softirq
    uint64_t ticks[7] = {};
    for (uint64_t& one : ticks) {
      const std::optional<uint64_t> number = TakeNumber(*line, " \n");
      if (!number) return;
      one = *number;
    }
    cpus.push_back({ticks[0] + ticks[1], ticks[2] + ticks[5] + ticks[6]});
  }
}

std::optional<RunDelay> ParseRunDelay(std::string_view text) {
  std::optional<std::string_view> line = TakeLine(text);
  if (!line || !TakePrefix(*line, "version ")) return std::nullopt;
  if (TakeNumber(*line, "\n").value_or(0) < 15) return std::nullopt;
  RunDelay sum;
  bool any = false;
  while ((line = TakeLine(text))) {
    if (!TakeCpuName(*line)) continue;
    uint64_t fields[9] = {};
    for (uint64_t& field : fields) {
      const std::optional<uint64_t> number = TakeNumber(*line, " \n");
      if (!number) return std::nullopt;
      field = *number;
    }
    any = true;
    sum.wait_ns += fields[7];
    sum.runs += fields[8];
  }
  return any ? std::optional(sum) : std::nullopt;
}

}  // namespace firetower::daemon
