// SPDX-License-Identifier: Apache-2.0
#include "cli/term/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/clock.h"

namespace firetower::cli {
namespace {

constexpr int64_t kOnTerminalNs = kNsPerSecond / 10;
constexpr int64_t kElsewhereNs = 5 * kNsPerSecond;

}  // namespace

Progress::Progress(std::string verb, std::string things, size_t total)
    : verb_(std::move(verb)),
      things_(std::move(things)),
      total_(total),
      is_tty_(::isatty(STDERR_FILENO) == 1),
      next_ns_(Clock::System().MonotonicNs() + kNsPerSecond) {}

Progress::~Progress() {
  if (shown_ && is_tty_) std::fputs("\r\033[K", stderr);
}

void Progress::Step(size_t done) {
  const int64_t now_ns = Clock::System().MonotonicNs();
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + (is_tty_ ? kOnTerminalNs : kElsewhereNs);
  shown_ = true;
  std::fprintf(stderr, "%s%s %zu of %zu %s%s", is_tty_ ? "\r" : "", verb_.c_str(), done, total_,
               things_.c_str(), is_tty_ ? "\033[K" : "\n");
  std::fflush(stderr);
}

}  // namespace firetower::cli
