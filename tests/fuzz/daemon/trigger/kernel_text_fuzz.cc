// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "daemon/trigger/readings/kernel_text.h"

using firetower::daemon::CpuTicks;
using firetower::daemon::FindCount;
using firetower::daemon::ParseCount;
using firetower::daemon::ParseCpuMax;
using firetower::daemon::ParseCpuTicks;
using firetower::daemon::ParseLoadAverage;
using firetower::daemon::ParseMemoryMax;
using firetower::daemon::ParseMemoryTotalBytes;
using firetower::daemon::ParsePressureTotalUs;
using firetower::daemon::ParseRunDelay;

// Any text as any of the files that triggers read: what is found is a number that stands in it,
// with what ends it, and cutting the text's last byte never makes another number of it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view cut = text.substr(0, size - std::min<size_t>(size, 1));
  const auto same_or_none = [](const auto& part, const auto& whole) {
    CHECK(!part || (whole && *part == *whole));
  };
  const auto stands_in = [&](const std::optional<uint64_t>& number) {
    CHECK(!number || text.find(std::to_string(*number)) != std::string_view::npos ||
          text.find('0') != std::string_view::npos);  // with leading zeros
  };
  stands_in(ParseCount(text));
  for (const std::string_view key : {"usage_usec", "nr_throttled", "oom_kill", "inactive_file"}) {
    stands_in(FindCount(text, key));
    same_or_none(FindCount(cut, key), FindCount(text, key));
  }
  stands_in(ParsePressureTotalUs(text));
  same_or_none(ParsePressureTotalUs(cut), ParsePressureTotalUs(text));
  const auto cpus = ParseCpuMax(text);
  CHECK(!cpus || (std::isfinite(*cpus) && *cpus >= 0));
  const auto load = ParseLoadAverage(text);
  CHECK(!load || (std::isfinite(*load) && *load >= 0));
  const auto memory = ParseMemoryMax(text);
  CHECK(!memory || *memory < uint64_t{1} << 60);
  const auto total = ParseMemoryTotalBytes(text);
  CHECK(!total || *total <= uint64_t{1} << 60);
  std::vector<CpuTicks> ticks;
  ParseCpuTicks(text, ticks);
  CHECK(ticks.size() <= static_cast<size_t>(std::count(text.begin(), text.end(), '\n')));
  const auto delay = ParseRunDelay(text);
  CHECK(!delay || text.starts_with("version "));
  return 0;
}
