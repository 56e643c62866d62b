// SPDX-License-Identifier: Apache-2.0
#include "cli/term/interrupt.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/clock.h"

namespace firetower::cli {
namespace {

UniqueFd BlockAndOpen() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A reader that went away is a failed write here, not a silent end.
  (void)std::signal(SIGPIPE, SIG_IGN);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

}  // namespace

InterruptGuard::InterruptGuard()
    : signals_(BlockAndOpen()),
      thread_("signals", [this](const std::stop_token& stop, WakeFd& wake) {
        while (!stop.stop_requested()) {
          pollfd waiting[] = {{signals_.get(), POLLIN, 0}, {wake.fd(), POLLIN, 0}};
          (void)::poll(waiting, 2, -1);
          if ((waiting[0].revents & POLLIN) == 0) continue;
          signalfd_siginfo info{};
          if (::read(signals_.get(), &info, sizeof(info)) != sizeof(info)) continue;
          const int code = 128 + static_cast<int>(info.ssi_signo);
          if (holding_.exchange(false)) {
            exit_code_ = code;
            came_.Notify();
            continue;
          }
          const char* text = farewell_;
          [[maybe_unused]] ssize_t n = ::write(STDOUT_FILENO, text, std::strlen(text));
          ::_exit(code);
        }
      }) {}

bool InterruptGuard::WaitNs(int64_t ns) {
  if (exit_code_ == 0) came_.Wait(static_cast<int>(ns / kNsPerMs));
  return exit_code_ != 0;
}

}  // namespace firetower::cli
