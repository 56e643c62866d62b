// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/skipped_ticks.h"

#include <cstdio>
#include <string>

namespace firetower::daemon {

uint64_t SkippedTicks::Add(const Reading& reading) {
  Reading last = last_;
  last_ = reading;
  bool continues = last.period_ns == reading.period_ns && reading.period_ns != 0 &&
                   last.changes == reading.changes && reading.counted_ns >= last.counted_ns &&
                   reading.idle_ns >= last.idle_ns && reading.runs >= last.runs;
  if (!continues) return total_;
  uint64_t counted_ns = reading.counted_ns - last.counted_ns;
  uint64_t idle_ns = reading.idle_ns - last.idle_ns;
  if (idle_ns >= counted_ns) return total_;
  uint64_t expected = (counted_ns - idle_ns) / reading.period_ns;
  uint64_t runs = reading.runs - last.runs;
  uint64_t all = counted_ns / reading.period_ns;
  if (expected > runs && (expected - runs) * 25 > all) total_ += expected - runs;
  return total_;
}

uint64_t IdleNs(std::string_view proc_stat) {
  // The first line: cpu user nice system idle iowait …
  unsigned long long idle = 0, iowait = 0;
  std::string line(proc_stat.substr(0, proc_stat.find('\n')));
  if (!line.starts_with("cpu ")) return 0;
  if (std::sscanf(line.c_str(), "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2) return 0;
  return (idle + iowait) * 10'000'000;
}

}  // namespace firetower::daemon
