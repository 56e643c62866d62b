// SPDX-License-Identifier: Apache-2.0
#include "k8s/status/timestamp.h"

#include <fmt/core.h>

#include <ctime>

#include "base/clock.h"

namespace firetower::k8s {
namespace {

std::string Seconds(int64_t wall_ns) {
  const auto seconds = static_cast<time_t>(wall_ns / kNsPerSecond);
  std::tm utc = {};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

std::string TimeText(int64_t wall_ns) { return Seconds(wall_ns) + "Z"; }

std::string MicroTimeText(int64_t wall_ns) {
  return fmt::format("{}.{:06}Z", Seconds(wall_ns), wall_ns % kNsPerSecond / 1000);
}

}  // namespace firetower::k8s
