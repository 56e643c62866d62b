// SPDX-License-Identifier: Apache-2.0
#include "net/server/connection_loop.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/log.h"
#include "net/server/request_reader.h"
#include "net/server/response_bytes.h"
#include "net/server/tls_certificate.h"
#include "net/server/worker_pool.h"

namespace firetower::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using TlsStream = asio::ssl::stream<tcp::socket&>;
using boost::system::error_code;
using std::chrono::nanoseconds;

constexpr nanoseconds kDrain = std::chrono::seconds(2);
constexpr nanoseconds kLinger = std::chrono::seconds(1);
// After running out of descriptors: accepting again at once would spin.
constexpr nanoseconds kAcceptPause = std::chrono::milliseconds(100);
// Most requests fit into one page.
constexpr size_t kReadBytes = 4096;
// First byte of a TLS connection: the record type handshake (RFC 8446 §5.1). No HTTP method has it.
constexpr unsigned char kTlsHandshake = 22;

// kHandshaking: TLS is not there yet. kLingering: answered for the last time; what still arrives is
// dropped until the peer closes, because closing with unread input would reset the connection and
// lose the answer.
enum class State { kHandshaking, kReading, kWorking, kWriting, kLingering, kClosed };

struct Connection {
  Connection(tcp::socket peer, RequestLimits limits)
      : socket(std::move(peer)), deadline(socket.get_executor()), reader(limits) {}

  tcp::socket socket;
  std::optional<TlsStream> tls;  // over `socket`, from the first byte of a handshake
  asio::steady_timer deadline;   // none while kWorking
  std::string remote_address;
  State state = State::kReading;
  RequestReader reader;
  std::array<char, kReadBytes> arrived{};
  std::string in;  // not yet consumed by `reader`
  bool is_receiving = false;
  bool peer_has_closed = false;
  ResponseBytes out;
  size_t written = 0;
  std::stop_source gone;  // of the request that is kWorking
  int requests = 0;

  bool IsMidRequest() const { return reader.has_begun() || !in.empty(); }
  // Whether the server waits for the peer, and owes it nothing.
  bool IsWaiting() const { return state == State::kReading || state == State::kHandshaking; }
  bool IsLingering() const { return state == State::kLingering; }

  template <typename Handler>
  void ReadSome(Handler handler) {
    if (tls) return tls->async_read_some(asio::buffer(arrived), std::move(handler));
    socket.async_read_some(asio::buffer(arrived), std::move(handler));
  }
  template <typename Buffers, typename Handler>
  void WriteSome(const Buffers& buffers, Handler handler) {
    if (tls) return tls->async_write_some(buffers, std::move(handler));
    socket.async_write_some(buffers, std::move(handler));
  }
};
using ConnectionPtr = std::shared_ptr<Connection>;

}  // namespace

class ConnectionLoop::Impl {
 public:
  Impl(const HttpServerOptions& options, const HttpHandler& handler, Listener listener,
       std::optional<TlsCertificate> certificate)
      : options_(options),
        handler_(handler),
        certificate_(std::move(certificate)),
        workers_(options.worker_threads) {
    const bool is_v6 = listener.address.starts_with('[');
    error_code ignored;  // It listens already; only a mistake of ours could fail.
    acceptor_.assign(is_v6 ? tcp::v6() : tcp::v4(), listener.fd.release(), ignored);
  }

  void Run(const std::stop_token& stop) {
    Accept();
    if (certificate_) WatchCertificate();
    const std::stop_callback on_stop(
        stop, [this] { asio::post(io_, [this]() noexcept { BeginDrain(); }); });
    io_.run();
    workers_.Stop();
  }

 private:
  void Accept();
  void Admit();
  void CloseLeastUseful();
  void WatchCertificate();
  void AwaitHandshake(const ConnectionPtr& connection);
  void OnFirstByte(const ConnectionPtr& connection);
  void BeginReading(const ConnectionPtr& connection);
  void Receive(const ConnectionPtr& connection);
  void OnReceived(const ConnectionPtr& connection, const error_code& error, size_t bytes);
  void Advance(const ConnectionPtr& connection);
  void BeginWork(const ConnectionPtr& connection);
  ResponseBytes Answer(const ReadRequest& request, bool last) const noexcept;
  void Refuse(const ConnectionPtr& connection, int status, std::string_view why);
  void BeginWriting(const ConnectionPtr& connection, ResponseBytes response);
  void Write(const ConnectionPtr& connection);
  void OnWritten(const ConnectionPtr& connection);
  void BeginLingering(const ConnectionPtr& connection);
  void Drain(const ConnectionPtr& connection);
  void SetDeadline(const ConnectionPtr& connection, nanoseconds from_now);
  void OnDeadline(const ConnectionPtr& connection);
  void Close(const ConnectionPtr& connection);
  void BeginDrain();
  void Finish();

  const HttpServerOptions& options_;
  const HttpHandler& handler_;
  std::optional<TlsCertificate> certificate_;  // none: plain HTTP
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> open_ = asio::make_work_guard(io_);
  tcp::acceptor acceptor_{io_};
  asio::steady_timer pause_{io_};
  asio::steady_timer look_{io_};                   // at the certificate's files
  std::optional<tcp::socket> next_;                // accepted, and no room for it yet
  std::unordered_set<ConnectionPtr> connections_;  // at most options_.max_connections
  size_t pending_bytes_ = 0;
  bool is_draining_ = false;
  WorkerPool workers_;  // after what its jobs use
};

void ConnectionLoop::Impl::Accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket peer) {
    if (is_draining_) return;
    if (error) {
      // Out of descriptors or memory: the connection stays in the backlog.
      LOG(kWarn, "cannot accept an HTTP connection", {{"errno", error.value()}});
      pause_.expires_after(kAcceptPause);
      pause_.async_wait([this](const error_code& cancelled) {
        if (!cancelled) Accept();
      });
      return;
    }
    next_.emplace(std::move(peer));
    Admit();
  });
}

// Takes the connection that waits in, as soon as there is room.
void ConnectionLoop::Impl::Admit() {
  if (!next_) return;
  // Closing one comes back here.
  if (static_cast<int>(connections_.size()) >= options_.max_connections) return CloseLeastUseful();
  auto connection =
      std::make_shared<Connection>(*std::exchange(next_, std::nullopt), options_.limits);
  error_code ignored;
  (void)::fcntl(connection->socket.native_handle(), F_SETFD, FD_CLOEXEC);
  connection->remote_address = connection->socket.remote_endpoint(ignored).address().to_string();
  connections_.insert(connection);
  if (certificate_) {
    SetDeadline(connection, nanoseconds(options_.idle_timeout_ns));
    AwaitHandshake(connection);
  } else {
    BeginReading(connection);
  }
  Accept();
}

void ConnectionLoop::Impl::WatchCertificate() {
  look_.expires_after(nanoseconds(options_.tls_look_ns));
  look_.async_wait([this](const error_code& cancelled) {
    if (cancelled) return;
    if (certificate_->Reload() && options_.on_certificate)
      options_.on_certificate(certificate_->state());
    WatchCertificate();
  });
}

// Looks at the first byte before TLS has it: an HTTP client is told its mistake.
void ConnectionLoop::Impl::AwaitHandshake(const ConnectionPtr& connection) {
  connection->state = State::kHandshaking;
  connection->socket.async_wait(tcp::socket::wait_read,
                                [this, connection](const error_code& error) {
                                  if (connection->state == State::kClosed) return;
                                  if (error) return Close(connection);
                                  OnFirstByte(connection);
                                });
}

void ConnectionLoop::Impl::OnFirstByte(const ConnectionPtr& connection) {
  unsigned char first = 0;
  const ssize_t size =
      ::recv(connection->socket.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN) return AwaitHandshake(connection);
  if (size <= 0) return Close(connection);
  if (first != kTlsHandshake) {
    return Refuse(connection, 400, "this port speaks TLS: ask it by an https:// URL");
  }
  // One for the whole handshake: a byte now and then does not renew it.
  SetDeadline(connection, nanoseconds(options_.read_timeout_ns));
  connection->tls.emplace(connection->socket, *certificate_->context());
  connection->tls->async_handshake(TlsStream::server, [this, connection](const error_code& error) {
    if (connection->state == State::kClosed) return;
    if (error) return Close(connection);
    BeginReading(connection);
  });
}

void ConnectionLoop::Impl::BeginReading(const ConnectionPtr& connection) {
  connection->state = State::kReading;
  SetDeadline(connection, nanoseconds(options_.idle_timeout_ns));
  Receive(connection);
}

// Makes room for a new connection: one that was answered for the last time goes, else the longest
// idle one, else the one that has been sending its request, or shaking hands, for longest (honest
// ones arrive in a packet or two); none when all are answering.
void ConnectionLoop::Impl::CloseLeastUseful() {
  const auto rank = [](const ConnectionPtr& c) {
    const bool has_begun = c->IsMidRequest() || (c->state == State::kHandshaking && c->tls);
    return std::tuple(!c->IsLingering(), !c->IsWaiting(), has_begun, c->deadline.expiry());
  };
  const auto least = std::ranges::min_element(connections_, {}, rank);
  if (least == connections_.end() || !((*least)->IsWaiting() || (*least)->IsLingering())) return;
  Close(ConnectionPtr(*least));  // a copy: the set's own is erased
}

// Reads on in every state, since that is how a peer's closing shows, up to as many bytes ahead as a
// head may have.
void ConnectionLoop::Impl::Receive(const ConnectionPtr& connection) {
  if (connection->is_receiving || connection->peer_has_closed ||
      connection->in.size() > options_.limits.head_bytes) {
    return;
  }
  connection->is_receiving = true;
  connection->ReadSome([this, connection](const error_code& error, size_t bytes) {
    connection->is_receiving = false;
    const State state = connection->state;
    if (state == State::kLingering) return Drain(connection);
    if (state != State::kClosed) OnReceived(connection, error, bytes);
  });
}

void ConnectionLoop::Impl::OnReceived(const ConnectionPtr& connection, const error_code& error,
                                      size_t bytes) {
  if (error) {
    connection->peer_has_closed = true;
    const State state = connection->state;
    // A connection stays until its worker is done: there is one job for each, at most.
    if (state == State::kWorking) connection->gone.request_stop();
    if (state == State::kReading) Close(connection);
    return;
  }
  const bool is_first = !connection->IsMidRequest();
  connection->in.append(connection->arrived.data(), bytes);
  if (connection->state == State::kReading) {
    if (is_first) SetDeadline(connection, nanoseconds(options_.read_timeout_ns));
    Advance(connection);
  }
  if (connection->state != State::kClosed) Receive(connection);
}

// Hands a whole request to the workers.
void ConnectionLoop::Impl::Advance(const ConnectionPtr& connection) {
  switch (connection->reader.Feed(connection->in)) {
    case RequestReader::State::kNeedMore:
      return;
    case RequestReader::State::kRefused:
      Refuse(connection, connection->reader.refused_status(), connection->reader.refused_why());
      return;
    case RequestReader::State::kComplete:
      break;
  }
  if (pending_bytes_ > options_.max_pending_bytes) {
    Refuse(connection, 503, "too many responses wait for their readers; try again later");
    return;
  }
  BeginWork(connection);
}

void ConnectionLoop::Impl::BeginWork(const ConnectionPtr& connection) {
  auto request = std::make_shared<ReadRequest>(connection->reader.Take());
  connection->state = State::kWorking;
  connection->deadline.cancel();
  connection->gone = {};
  request->http.remote_address = connection->remote_address;
  request->http.gone = connection->gone.get_token();
  const bool last = ++connection->requests >= options_.requests_per_connection;
  workers_.Submit([this, connection, request, last]() noexcept {
    auto response = std::make_shared<ResponseBytes>(Answer(*request, last));
    asio::post(io_, [this, connection, response] {
      if (connection->state == State::kWorking) BeginWriting(connection, std::move(*response));
    });
  });
}

// Runs on a worker thread.
ResponseBytes ConnectionLoop::Impl::Answer(const ReadRequest& request, bool last) const noexcept {
  const int64_t begin_ns = Clock::System().MonotonicNs();
  HttpResponse response;
  try {
    response = handler_(request.http);
  } catch (const std::exception& e) {
    LOG(kError, "request handler failed", {{"path", request.http.path}, {"error", e.what()}});
    response = options_.error_format(500, "internal error; the server's log has the reason");
  }
  const RequestStats stats = {response.route.empty() ? "other" : response.route, response.status};
  ResponseBytes bytes = EncodeResponse(std::move(response), request, last || !request.keep_alive);
  if (options_.observer) {
    const int64_t taken_ns = Clock::System().MonotonicNs() - begin_ns;
    options_.observer({stats.route, stats.status, static_cast<double>(taken_ns) / kNsPerSecond});
  }
  return bytes;
}

void ConnectionLoop::Impl::Refuse(const ConnectionPtr& connection, int status,
                                  std::string_view why) {
  if (options_.observer) options_.observer({"refused", status, 0});
  connection->in.clear();
  BeginWriting(connection, EncodeResponse(options_.error_format(status, why), {}, true));
}

void ConnectionLoop::Impl::BeginWriting(const ConnectionPtr& connection, ResponseBytes response) {
  connection->state = State::kWriting;
  connection->out = std::move(response);
  connection->written = 0;
  pending_bytes_ += connection->out.size();
  Write(connection);
}

void ConnectionLoop::Impl::Write(const ConnectionPtr& connection) {
  SetDeadline(connection, nanoseconds(options_.write_timeout_ns));
  const ResponseBytes& out = connection->out;
  const size_t of_head = std::min(connection->written, out.head.size());
  const std::array<asio::const_buffer, 2> rest = {
      asio::buffer(out.head) + of_head, asio::buffer(out.body) + (connection->written - of_head)};
  connection->WriteSome(rest, [this, connection](const error_code& error, size_t bytes) {
    if (connection->state == State::kClosed) return;
    connection->written += bytes;
    if (error) return Close(connection);
    return connection->written < connection->out.size() ? Write(connection) : OnWritten(connection);
  });
}

void ConnectionLoop::Impl::OnWritten(const ConnectionPtr& connection) {
  const ResponseBytes out = std::exchange(connection->out, {});
  pending_bytes_ -= out.size();
  if (is_draining_ || (out.close && connection->peer_has_closed)) return Close(connection);
  if (out.close) return BeginLingering(connection);
  connection->state = State::kReading;
  SetDeadline(connection, nanoseconds(connection->in.empty() ? options_.idle_timeout_ns
                                                             : options_.read_timeout_ns));
  Advance(connection);
  // A request that came in part will never be whole.
  if (connection->state == State::kReading && connection->peer_has_closed) return Close(connection);
  Receive(connection);
  Admit();
}

void ConnectionLoop::Impl::BeginLingering(const ConnectionPtr& connection) {
  connection->state = State::kLingering;
  connection->in = {};
  SetDeadline(connection, kLinger);
  error_code ignored;
  if (connection->tls) {
    connection->tls->async_shutdown([connection](const error_code&) {});
  } else {
    connection->socket.shutdown(tcp::socket::shutdown_send, ignored);
  }
  // If two reads wait, only the first one sees the end: it comes back here.
  if (!connection->is_receiving) Drain(connection);
}

// Drops what arrives until the peer closes; below TLS, which takes no data after its own end. What
// is there is read at once: an end that another read has seen is not told again. Other connections
// have their turn all the same, however fast this peer sends.
void ConnectionLoop::Impl::Drain(const ConnectionPtr& connection) {
  const ssize_t size = ::recv(connection->socket.native_handle(), connection->arrived.data(),
                              connection->arrived.size(), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN)) return Close(connection);
  connection->socket.async_wait(tcp::socket::wait_read,
                                [this, connection](const error_code& error) {
                                  if (connection->state == State::kClosed) return;
                                  error ? Close(connection) : Drain(connection);
                                });
}

void ConnectionLoop::Impl::SetDeadline(const ConnectionPtr& connection, nanoseconds from_now) {
  connection->deadline.expires_after(from_now);
  connection->deadline.async_wait([this, connection](const error_code& cancelled) {
    // It may have been moved after this call was queued.
    const bool is_over = connection->deadline.expiry() <= std::chrono::steady_clock::now();
    const State state = connection->state;
    if (cancelled || !is_over || state == State::kWorking || state == State::kClosed) return;
    OnDeadline(connection);
  });
}

void ConnectionLoop::Impl::OnDeadline(const ConnectionPtr& connection) {
  if (connection->state == State::kReading && connection->IsMidRequest()) {
    return Refuse(connection, 408, "the request did not arrive in time");
  }
  Close(connection);
}

void ConnectionLoop::Impl::Close(const ConnectionPtr& connection) {
  pending_bytes_ -= connection->out.size();
  connection->state = State::kClosed;
  connection->gone.request_stop();
  connection->deadline.cancel();
  error_code ignored;
  connection->socket.close(ignored);
  connections_.erase(connection);
  if (is_draining_ && connections_.empty()) return Finish();
  Admit();
}

// Takes no more connections or requests; what is being answered may still go out.
void ConnectionLoop::Impl::BeginDrain() {
  is_draining_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  next_.reset();
  pause_.expires_after(kDrain);
  pause_.async_wait([this](const error_code& cancelled) {
    if (!cancelled) Finish();
  });
  for (const ConnectionPtr& connection : std::vector(connections_.begin(), connections_.end())) {
    if (connection->IsWaiting() || connection->IsLingering()) Close(connection);
  }
  if (connections_.empty()) Finish();
}

void ConnectionLoop::Impl::Finish() {
  for (const ConnectionPtr& connection : connections_) {
    connection->gone.request_stop();
    error_code ignored;
    connection->socket.close(ignored);
  }
  connections_.clear();
  io_.stop();
}

ConnectionLoop::ConnectionLoop(const HttpServerOptions& options, const HttpHandler& handler,
                               Listener listener, std::optional<TlsCertificate> certificate)
    : impl_(std::make_unique<Impl>(options, handler, std::move(listener), std::move(certificate))) {
}
ConnectionLoop::~ConnectionLoop() = default;

void ConnectionLoop::Run(const std::stop_token& stop) noexcept { impl_->Run(stop); }

}  // namespace firetower::net
