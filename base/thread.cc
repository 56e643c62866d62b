// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <cstdint>

#include "base/check.h"

namespace firetower {

WakeFd::WakeFd() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CHECK(fd_); }

void WakeFd::Notify() noexcept {
  uint64_t one = 1;
  // The only failure is a counter at its top, which is a notification already.
  [[maybe_unused]] ssize_t n = ::write(fd_.get(), &one, sizeof(one));
}

void WakeFd::Clear() noexcept {
  uint64_t count = 0;
  [[maybe_unused]] ssize_t n = ::read(fd_.get(), &count, sizeof(count));
}

bool WakeFd::Wait(int timeout_ms) noexcept {
  pollfd poll_fd{fd_.get(), POLLIN, 0};
  bool notified = ::poll(&poll_fd, 1, timeout_ms) > 0;
  if (notified) Clear();
  return notified;
}

void SetThreadName(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

NamedThread::NamedThread(std::string name, std::function<void(std::stop_token, WakeFd&)> body)
    : wake_(std::make_unique<WakeFd>()) {
  WakeFd* wake = wake_.get();
  thread_ = std::jthread(
      [name = std::move(name), body = std::move(body), wake](std::stop_token stop) noexcept {
        SetThreadName(name);
        body(std::move(stop), *wake);
      });
}

NamedThread::~NamedThread() {
  RequestStop();
  Join();
}

void NamedThread::RequestStop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  wake_->Notify();
}

void NamedThread::Join() {
  if (thread_.joinable()) thread_.join();
}

Result<UniqueFd> CatchStopSignals() {
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  UniqueFd stop_fd(::signalfd(-1, &stop_signals, SFD_CLOEXEC));
  if (!stop_fd) return ErrnoError("signalfd");
  return stop_fd;
}

}  // namespace firetower
