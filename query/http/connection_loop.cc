// SPDX-License-Identifier: Apache-2.0
#include "query/http/connection_loop.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "query/http/engine.h"

namespace firetower::query {
namespace {

constexpr int64_t kDrainNs = 2 * kNsPerSecond;
constexpr int64_t kLingerNs = kNsPerSecond;
constexpr int64_t kAcceptPauseNs = 100 * kNsPerMs;
constexpr int64_t kLongestSleepNs = kNsPerSecond;
// A request beyond the first in one read (pipelining) waits its turn in `in`.
constexpr size_t kReadBytes = 16 << 10;

std::string NumericHost(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST] = "";
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::getnameinfo(generic, size, host, sizeof(host), nullptr, 0, NI_NUMERICHOST) != 0) return "?";
  return host;
}

}  // namespace

ConnectionLoop::ConnectionLoop(const HttpServerOptions& options, UniqueFd listener,
                               WorkerPool& workers, WakeFd& done)
    : options_(options), listener_(std::move(listener)), workers_(workers), done_(done) {}

void ConnectionLoop::Run(const std::stop_token& stop, WakeFd& wake) noexcept {
  const Clock& clock = Clock::System();
  now_ns_ = clock.MonotonicNs();
  while (!stop.stop_requested()) PollOnce(wake);

  // No new connections or requests; what is being answered may still go out.
  listener_.reset();
  int64_t drained_by_ns = clock.MonotonicNs() + kDrainNs;
  for (auto at = connections_.begin(); at != connections_.end();) {
    auto here = at++;
    State state = here->second.state;
    if (state == State::kReading || state == State::kLingering) Close(here);
  }
  while (!connections_.empty() && clock.MonotonicNs() < drained_by_ns) PollOnce(wake);
  for (auto& [id, connection] : connections_) connection.gone.request_stop();
  connections_.clear();
}

void ConnectionLoop::PollOnce(WakeFd& wake) {
  polled_.clear();
  polled_ids_.clear();
  polled_.push_back({wake.fd(), POLLIN, 0});
  polled_.push_back({done_.fd(), POLLIN, 0});
  int64_t until_ns = now_ns_ + kLongestSleepNs;
  bool full = static_cast<int>(connections_.size()) >= options_.max_connections;
  bool accepting = !draining() && now_ns_ >= accept_again_ns_ && (!full || CloseLeastUseful());
  polled_.push_back({accepting ? listener_.get() : -1, POLLIN, 0});
  for (const auto& [id, connection] : connections_) {
    const bool working = connection.state == State::kWorking;
    if (working && connection.gone.stop_requested()) continue;
    polled_.push_back({connection.fd.get(), EventsOf(connection.state), 0});
    polled_ids_.push_back(id);
    if (!working) until_ns = std::min(until_ns, connection.deadline_ns);
  }
  if (draining() || !accepting) until_ns = std::min(until_ns, now_ns_ + kAcceptPauseNs);

  int timeout_ms = static_cast<int>(std::max<int64_t>(0, until_ns - now_ns_) / kNsPerMs) + 1;
  (void)::poll(polled_.data(), polled_.size(), timeout_ms);
  now_ns_ = Clock::System().MonotonicNs();

  if (polled_[0].revents != 0) wake.Clear();
  if (polled_[1].revents != 0) done_.Clear();
  TakeReplies();
  for (size_t i = 0; i < polled_ids_.size(); ++i) {
    short events = polled_[i + 3].revents;
    auto at = connections_.find(polled_ids_[i]);
    if (events == 0 || at == connections_.end()) continue;
    if (!OnReady(at->first, at->second, events)) Close(at);
  }
  if (polled_[2].revents != 0) Accept();
  CloseLate();
}

// A peer that is being answered is only watched for its leaving.
short ConnectionLoop::EventsOf(State state) {
  if (state == State::kWorking) return POLLRDHUP;
  return state == State::kWriting ? POLLOUT : POLLIN;
}

void ConnectionLoop::Accept() {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  UniqueFd fd(::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size,
                        SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    // Out of descriptors or memory: the connection stays in the backlog, and would spin this loop.
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      LOG(kWarn, "cannot accept an HTTP connection", {{"errno", errno}});
      accept_again_ns_ = now_ns_ + kAcceptPauseNs;
    }
    return;
  }
  Connection connection;
  connection.fd = std::move(fd);
  connection.remote_address = NumericHost(address, size);
  connection.deadline_ns = now_ns_ + options_.idle_timeout_ns;
  connections_.emplace(next_id_++, std::move(connection));
}

void ConnectionLoop::TakeReplies() {
  for (WorkerPool::Done& done : workers_.TakeDone()) {
    auto at = connections_.find(done.connection);
    if (at == connections_.end()) continue;
    BeginWriting(at->second, std::move(done.reply.bytes), done.reply.close || draining());
    if (!Write(at->first, at->second)) Close(at);
  }
}

void ConnectionLoop::CloseLate() {
  for (auto at = connections_.begin(); at != connections_.end();) {
    auto here = at++;
    Connection& connection = here->second;
    if (connection.state == State::kWorking || now_ns_ < connection.deadline_ns) continue;
    bool mid_request = connection.state == State::kReading && !connection.in.empty();
    if (mid_request && Refuse(connection, 408, "the request did not arrive in time") &&
        Write(here->first, connection)) {
      continue;
    }
    Close(here);
  }
}

// Makes room for a new connection: the longest idle one goes, else the one that has been sending
// its request for longest (honest ones arrive in a packet or two). False when all are answering.
bool ConnectionLoop::CloseLeastUseful() {
  auto least = connections_.end();
  auto rank = [](const Connection& c) { return std::pair(!c.in.empty(), c.deadline_ns); };
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    if (at->second.state != State::kReading) continue;
    if (least == connections_.end() || rank(at->second) < rank(least->second)) least = at;
  }
  // Only when somebody waits: an idle connection costs nothing.
  pollfd waiting{listener_.get(), POLLIN, 0};
  if (least == connections_.end() || ::poll(&waiting, 1, 0) <= 0) return false;
  Close(least);
  return true;
}

bool ConnectionLoop::OnReady(uint64_t id, Connection& connection, short events) {
  if (connection.state == State::kWorking) {
    // The connection stays until its worker is done: there is one job for each, at most.
    connection.gone.request_stop();
    return true;
  }
  if ((events & (POLLERR | POLLNVAL)) != 0) return false;
  return connection.state == State::kWriting ? Write(id, connection) : Read(id, connection);
}

bool ConnectionLoop::Read(uint64_t id, Connection& connection) {
  char buffer[kReadBytes];
  ssize_t n = ::recv(connection.fd.get(), buffer, sizeof(buffer), 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  if (connection.state == State::kLingering) return true;
  if (connection.in.empty()) connection.deadline_ns = now_ns_ + options_.read_timeout_ns;
  connection.in.append(buffer, static_cast<size_t>(n));
  return Advance(id, connection);
}

// Hands a whole request to the workers.
bool ConnectionLoop::Advance(uint64_t id, Connection& connection) {
  if (connection.in.size() < connection.needed) return true;
  Frame frame = FrameRequest(connection.in, connection.scanned, options_.limits);
  connection.needed = frame.total_bytes;
  if (frame.state == Frame::State::kNeedMore) {
    if (connection.needed == 0) connection.scanned = connection.in.size();
    return true;
  }
  if (frame.state == Frame::State::kRefused) {
    return Refuse(connection, frame.status, frame.reason) && Write(id, connection);
  }
  if (pending_bytes_ > options_.max_pending_bytes) {
    return Refuse(connection, 503, "too many responses wait for their readers; try again later") &&
           Write(id, connection);
  }
  WorkerPool::Job job;
  job.connection = id;
  job.request = connection.in.substr(0, frame.total_bytes);
  job.remote_address = connection.remote_address;
  job.last = ++connection.requests >= options_.requests_per_connection;
  connection.gone = {};
  job.gone = connection.gone.get_token();
  connection.in.erase(0, frame.total_bytes);
  connection.scanned = 0;
  connection.needed = 0;
  connection.state = State::kWorking;
  workers_.Submit(std::move(job));
  return true;
}

bool ConnectionLoop::Refuse(Connection& connection, int status, const char* reason) {
  if (options_.observer) options_.observer({"refused", status, 0});
  connection.in.clear();
  BeginWriting(connection, RefusalBytes(status, reason), true);
  return true;
}

void ConnectionLoop::BeginWriting(Connection& connection, std::string bytes, bool close_after) {
  connection.state = State::kWriting;
  connection.out = std::move(bytes);
  connection.written = 0;
  connection.close_after = close_after;
  connection.deadline_ns = now_ns_ + options_.write_timeout_ns;
  pending_bytes_ += connection.out.size();
}

bool ConnectionLoop::Write(uint64_t id, Connection& connection) {
  while (connection.written < connection.out.size()) {
    ssize_t n = ::send(connection.fd.get(), connection.out.data() + connection.written,
                       connection.out.size() - connection.written, MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    connection.written += static_cast<size_t>(n);
    connection.deadline_ns = now_ns_ + options_.write_timeout_ns;
  }
  if (connection.close_after) {
    if (draining()) return false;
    (void)::shutdown(connection.fd.get(), SHUT_WR);
    connection.state = State::kLingering;
    connection.deadline_ns = now_ns_ + kLingerNs;
    pending_bytes_ -= std::exchange(connection.out, {}).size();
    return true;
  }
  pending_bytes_ -= connection.out.size();
  connection.out = {};
  connection.state = State::kReading;
  bool pipelined = !connection.in.empty();
  connection.deadline_ns =
      now_ns_ + (pipelined ? options_.read_timeout_ns : options_.idle_timeout_ns);
  return !pipelined || Advance(id, connection);
}

void ConnectionLoop::Close(Connections::iterator at) {
  pending_bytes_ -= at->second.out.size();
  connections_.erase(at);
}

}  // namespace firetower::query
