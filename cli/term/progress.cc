// SPDX-License-Identifier: Apache-2.0
#include "cli/term/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "cli/term/table.h"
#include "profile/value_text.h"

namespace firetower::cli {
namespace {

constexpr int kFirstMs = 1000;
constexpr int kOnTerminalMs = 100;
constexpr int kElsewhereMs = 5000;
constexpr size_t kBarWidth = 20;

std::string Bar(size_t done, size_t total) {
  const size_t filled = std::min(done, total) * kBarWidth / total;
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, ' ') + "] ";
}

// A line that wraps cannot be written over.
void CutToTerminal(std::string& line) {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return;
  if (line.size() >= size.ws_col) line.resize(size.ws_col - size_t{1});
}

}  // namespace

std::string ProgressLine(const ProgressState& state, size_t done, int64_t elapsed_ns, bool bar) {
  const int64_t seconds = elapsed_ns / kNsPerSecond;
  if (state.total > 0) {
    return fmt::format("{} {}{} of {} {}, {}s", state.what, bar ? Bar(done, state.total) : "", done,
                       state.total, state.things, seconds);
  }
  if (done == 0) return fmt::format("{}, {}s", state.what, seconds);
  return fmt::format("{}: {}, {}s", state.what,
                     profile::FormatValue(static_cast<double>(done), "bytes"), seconds);
}

Progress::Progress(ProgressState state)
    : state_(std::move(state)),
      is_tty_(::isatty(STDERR_FILENO) == 1),
      thread_("progress", [this](const std::stop_token& stop, WakeFd& wake) { Run(stop, wake); }) {}

Progress::Progress(std::string what, std::string things, size_t total)
    : Progress(ProgressState{std::move(what), std::move(things), total}) {}

Progress::Progress(std::string what) : Progress(ProgressState{std::move(what), "", 0}) {}

void Progress::Run(const std::stop_token& stop, WakeFd& wake) const noexcept {
  const int64_t began_ns = Clock::System().MonotonicNs();
  (void)wake.Wait(kFirstMs);
  bool shown = false;
  for (; !stop.stop_requested(); (void)wake.Wait(is_tty_ ? kOnTerminalMs : kElsewhereMs)) {
    const int64_t elapsed_ns = Clock::System().MonotonicNs() - began_ns;
    std::string line = Printable(ProgressLine(state_, done_, elapsed_ns, is_tty_), false);
    if (is_tty_) CutToTerminal(line);
    std::fprintf(stderr, is_tty_ ? "\r%s\033[K" : "%s\n", line.c_str());
    std::fflush(stderr);
    shown = true;
  }
  if (shown && is_tty_) std::fputs("\r\033[K", stderr);
}

}  // namespace firetower::cli
