// SPDX-License-Identifier: Apache-2.0
// The one place of the CLI that knows cpp-httplib.
#include "cli/http/direct.h"

#include <fmt/core.h>
#include <httplib.h>
#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

#include "base/clock.h"

namespace firetower::cli {
namespace {

constexpr int64_t kConnectTimeoutNs = 5 * kNsPerSecond;

Error BadUrl(std::string_view text, std::string_view why, ErrorCode code = ErrorCode::kInvalid) {
  return Error(code, fmt::format("server '{}': {}; write for example http://127.0.0.1:7070 or "
                                 "http://[::1]:7070",
                                 text, why));
}

Failure Unreachable(const ServerUrl& server, std::string why) {
  return {ExitCode::kUnreachable, fmt::format("cannot reach {}", server.text), std::move(why),
          "start firetowerd, name its address with --server URL or FIRETOWER_SERVER, or a cluster "
          "with --context"};
}

// Seconds and microseconds, as httplib takes time-outs.
struct SplitTime {
  explicit SplitTime(int64_t ns) : seconds(ns / kNsPerSecond), us(ns % kNsPerSecond / 1000) {}
  time_t seconds;
  time_t us;
};

// httplib keeps no errno, so what went wrong is told by the kind of failure.
std::string WhyNot(const ServerUrl& server, httplib::Error error) {
  if (error == httplib::Error::ConnectionTimeout) return "it does not answer: connecting timed out";
  if (error == httplib::Error::Read) return "the connection broke before there was an answer";
  if (error != httplib::Error::Connection) return httplib::to_string(error);
  addrinfo* list = nullptr;
  int failed = ::getaddrinfo(server.host.c_str(), nullptr, nullptr, &list);
  if (failed != 0) return fmt::format("host '{}': {}", server.host, ::gai_strerror(failed));
  ::freeaddrinfo(list);
  return "connection refused: nothing listens there";
}

class DirectTransport : public HttpTransport {
 public:
  DirectTransport(ServerUrl server, int64_t timeout_ns, std::string bearer_token,
                  size_t max_reply_bytes)
      : server_(std::move(server)),
        timeout_ns_(timeout_ns),
        max_reply_bytes_(max_reply_bytes),
        client_(server_.host, server_.port) {
    const SplitTime connect(std::min(timeout_ns, kConnectTimeoutNs));
    const SplitTime wait(timeout_ns);
    client_.set_connection_timeout(connect.seconds, connect.us);
    client_.set_read_timeout(wait.seconds, wait.us);
    client_.set_write_timeout(wait.seconds, wait.us);
    client_.set_url_encode(false);  // it is encoded already
    client_.set_keep_alive(true);
    if (!bearer_token.empty()) client_.set_bearer_token_auth(bearer_token);
  }

  Outcome<HttpAnswer> Get(const std::string& target, Progress* progress) override {
    try {
      return Fetch(server_.path + target, progress);
    } catch (const std::exception& e) {
      return Unreachable(server_, e.what());
    }
  }
  std::string name() const override { return server_.text; }
  std::string page_url() const override { return server_.text + "/"; }

 private:
  Outcome<HttpAnswer> Fetch(const std::string& target, Progress* progress) {
    const int64_t deadline_ns = Clock::System().MonotonicNs() + timeout_ns_;
    for (;;) {
      HttpAnswer answer;
      const int64_t asked_ns = Clock::System().MonotonicNs();
      bool too_large = false;
      const httplib::Result result = client_.Get(target, [&](const char* data, size_t size) {
        too_large = answer.body.size() + size > max_reply_bytes_;
        if (too_large) return false;
        answer.body.append(data, size);
        if (progress != nullptr) progress->Step(answer.body.size());
        return true;
      });
      const bool was_kept = std::exchange(kept_, static_cast<bool>(result));
      if (too_large) return TooLarge(max_reply_bytes_);
      if (result) {
        answer.status = result->status;
        answer.skipped = result->get_header_value("X-Firetower-Skipped");
        answer.max_hidden = result->get_header_value("X-Firetower-Max-Hidden");
        answer.observed_seconds = result->get_header_value("X-Firetower-Observed-Seconds");
        answer.retry_after = result->get_header_value("Retry-After");
        return answer;
      }
      // A time-out and a connection that broke are one kind of failure.
      const int64_t waited_ns = Clock::System().MonotonicNs() - asked_ns;
      if (result.error() == httplib::Error::Read && waited_ns >= timeout_ns_)
        return TooSlow(server_.text, timeout_ns_);
      // The server closes idle connections when it likes (RFC 9112 §9.3.1).
      const bool may_be_stale = was_kept && answer.body.empty();
      if (!may_be_stale || Clock::System().MonotonicNs() >= deadline_ns)
        return Unreachable(server_, WhyNot(server_, result.error()));
    }
  }

  const ServerUrl server_;
  const int64_t timeout_ns_;
  const size_t max_reply_bytes_;
  httplib::Client client_;
  bool kept_ = false;  // the last request left a connection
};

}  // namespace

Result<ServerUrl> ParseServerUrl(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (text.starts_with("https://")) {
    return BadUrl(text,
                  "https is not spoken yet: put a tunnel such as kubectl port-forward before it",
                  ErrorCode::kUnsupported);
  }
  if (!text.starts_with(kScheme)) return BadUrl(text, "it does not start with http://");
  ServerUrl url;
  url.text = text;
  std::string_view rest = text.substr(kScheme.size());
  size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    url.path = rest.substr(slash);
    rest = rest.substr(0, slash);
    while (url.path.ends_with('/')) url.path.pop_back();
  }
  size_t bracket = rest.rfind(']');
  size_t colon = rest.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    std::string_view port = rest.substr(colon + 1);
    auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || end != port.data() + port.size() || url.port == 0) {
      return BadUrl(text, "the port is not a number from 1 to 65535");
    }
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  if (rest.empty() || text.find_first_of("?#@ ") != std::string_view::npos) {
    return BadUrl(text, "only host, port and path may stand there");
  }
  url.host = rest;
  while (url.text.ends_with('/')) url.text.pop_back();
  return url;
}

std::unique_ptr<HttpTransport> OpenDirect(ServerUrl server, int64_t timeout_ns,
                                          std::string bearer_token, size_t max_reply_bytes) {
  return std::make_unique<DirectTransport>(std::move(server), timeout_ns, std::move(bearer_token),
                                           max_reply_bytes);
}

}  // namespace firetower::cli
