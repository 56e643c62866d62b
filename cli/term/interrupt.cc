// SPDX-License-Identifier: Apache-2.0
#include "cli/term/interrupt.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

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
          const char* text = farewell_;
          [[maybe_unused]] ssize_t n = ::write(STDOUT_FILENO, text, std::strlen(text));
          ::_exit(128 + static_cast<int>(info.ssi_signo));
        }
      }) {}

}  // namespace firetower::cli
