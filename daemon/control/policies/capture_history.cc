// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/capture_history.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/file.h"

namespace firetower::daemon {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;
constexpr size_t kMaxPolicyBytes = 512;

}  // namespace

CaptureHistory::CaptureHistory(std::string path, int64_t now_wall_ns) : path_(std::move(path)) {
  const std::string text = ReadFile(path_, kMaxFileBytes).value_or("");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    int64_t ms = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), ms);
    const auto used = static_cast<size_t>(end - line.data());
    if (error != std::errc() || ms < 0 || ms > INT64_MAX / kNsPerMs || used + 1 >= line.size() ||
        line[used] != ' ' || line.size() - used > kMaxPolicyBytes) {
      continue;
    }
    // Somebody may have set the clock back: it is an hour until it does not count.
    captures_.push_back({std::min(ms * kNsPerMs, now_wall_ns), std::string(line.substr(used + 1))});
  }
  Forget(now_wall_ns);
}

void CaptureHistory::Forget(int64_t now_wall_ns) {
  std::erase_if(captures_,
                [&](const Capture& one) { return one.wall_ns <= now_wall_ns - kKeepNs; });
  if (captures_.size() > kMaxCaptures)
    captures_.erase(captures_.begin(), captures_.end() - static_cast<ptrdiff_t>(kMaxCaptures));
}

Status CaptureHistory::Add(const std::string& policy, int64_t wall_ns) {
  captures_.push_back({wall_ns, policy});
  Forget(wall_ns);
  std::string text;
  for (const Capture& one : captures_)
    text += fmt::format("{} {}\n", one.wall_ns / kNsPerMs, one.policy);
  RETURN_IF_ERROR(MakeDirectories(path_.substr(0, path_.rfind('/'))));
  return WriteFileAtomic(path_, text);
}

std::map<std::string, std::vector<int64_t>> CaptureHistory::ByPolicy() const {
  std::map<std::string, std::vector<int64_t>> by_policy;
  for (const Capture& one : captures_) by_policy[one.policy].push_back(one.wall_ns);
  for (auto& [policy, times] : by_policy) std::ranges::sort(times);
  return by_policy;
}

}  // namespace firetower::daemon
