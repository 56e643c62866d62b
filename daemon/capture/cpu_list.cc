// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/cpu_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace firetower::daemon {
namespace {

constexpr int kMaxCpu = 8191;

Result<int> ParseCpu(std::string_view text) {
  int cpu = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc() || end != text.data() + text.size() || cpu < 0 || cpu > kMaxCpu) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("\"{}\" is not a CPU number (0 to {})", text, kMaxCpu));
  }
  return cpu;
}

}  // namespace

Result<std::vector<int>> ParseCpuList(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::vector<int> cpus;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view range = text.substr(0, comma);
    size_t dash = range.find('-');
    ASSIGN_OR_RETURN(int first, ParseCpu(range.substr(0, dash)));
    int last = first;
    if (dash != std::string_view::npos) {
      ASSIGN_OR_RETURN(last, ParseCpu(range.substr(dash + 1)));
    }
    if (last < first) {
      return Error(ErrorCode::kInvalid, fmt::format("\"{}\" runs backwards", range));
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return Error(ErrorCode::kInvalid, "the list ends in a comma");
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

Result<int> PossibleCpuEnd(const std::string& sys_root) {
  const std::string path = sys_root + "/devices/system/cpu/possible";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const std::vector<int> cpus, ParseCpuList(text));
  if (cpus.empty()) return Error(ErrorCode::kCorrupt, path + " names no CPU");
  return cpus.back() + 1;
}

}  // namespace firetower::daemon
