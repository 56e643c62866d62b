// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/port_relay.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.h"

namespace firetower::cli {
namespace {

constexpr int64_t kWriteTimeoutNs = 10 * kNsPerSecond;

// Until one of the first two is ready. False when the thread is to end.
bool Wait(pollfd one, pollfd other, const WakeFd& wake) {
  std::array<pollfd, 3> fds = {one, other, pollfd{wake.fd(), POLLIN, 0}};
  return (::poll(fds.data(), fds.size(), -1) >= 0 || errno == EINTR) && fds[2].revents == 0;
}

bool IsOurs(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == ::getpid();
}

bool SendAll(int socket, std::string_view bytes, const WakeFd& wake) {
  const pollfd none{-1, 0, 0};
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent < 0 && !Wait(pollfd{socket, POLLOUT, 0}, none, wake)) return false;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<PortRelay>> PortRelay::Start(std::unique_ptr<net::ByteStream> stream) {
  std::unique_ptr<PortRelay> relay(new PortRelay);
  relay->stream_ = std::move(stream);
  std::error_code none;
  std::string folder = std::filesystem::temp_directory_path(none) / "firetower-XXXXXX";
  if (none || ::mkdtemp(folder.data()) == nullptr)
    return ErrnoError("a folder for temporary files");
  relay->folder_ = std::move(folder);
  relay->socket_path_ = relay->folder_ + "/port";
  relay->listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int fd = relay->listener_.get();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (relay->socket_path_.size() >= sizeof(address.sun_path)) {
    return Error(ErrorCode::kInvalid,
                 "socket for the pod's port: the name of the folder for temporary files is too "
                 "long: set TMPDIR to another one");
  }
  std::ranges::copy(relay->socket_path_, address.sun_path);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (fd < 0 || ::bind(fd, any, sizeof(address)) != 0 || ::listen(fd, 1) != 0)
    return ErrnoError("socket for the pod's port, " + relay->socket_path_);
  relay->thread_ = NamedThread(
      "relay", [self = relay.get()](std::stop_token, WakeFd& wake) { self->Run(wake); });
  return relay;
}

PortRelay::~PortRelay() {
  (void)Stop();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Status PortRelay::Stop() {
  thread_.RequestStop();
  thread_.Join();
  return status_;
}

UniqueFd PortRelay::Accept(const WakeFd& wake) const {
  const pollfd none{-1, 0, 0};
  while (Wait(pollfd{listener_.get(), POLLIN, 0}, none, wake)) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket && IsOurs(socket.get())) return socket;
  }
  return {};
}

bool PortRelay::Forward(int socket, const WakeFd& wake) {
  std::array<char, 16 << 10> buffer;
  for (;;) {
    Result<size_t> got = stream_->Read(buffer.data(), buffer.size(), 0);
    if (!got && got.error().sys_errno() == ETIMEDOUT) return true;
    if (!got) status_ = std::move(got).error();
    if (!status_ || *got == 0) return false;
    if (!SendAll(socket, {buffer.data(), *got}, wake)) return false;
  }
}

void PortRelay::Run(WakeFd& wake) {
  const UniqueFd socket = Accept(wake);
  listener_.reset();
  if (!socket) return;
  std::array<char, 16 << 10> buffer;
  while (Forward(socket.get(), wake)) {
    if (!Wait(pollfd{socket.get(), POLLIN, 0}, pollfd{stream_->fd(), POLLIN, 0}, wake)) return;
    const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return;
    status_ = stream_->Write({buffer.data(), static_cast<size_t>(got)}, kWriteTimeoutNs);
    if (!status_) return;
  }
}

}  // namespace firetower::cli
