// SPDX-License-Identifier: Apache-2.0
// The one place of the CLI that knows cpp-httplib.
#include "cli/http_client.h"

#include <fmt/core.h>
#include <httplib.h>
#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>

#include "base/clock.h"
#include "base/units.h"
#include "query/http/url.h"
#include "query/wire.h"

namespace firetower::cli {
namespace {

// More than any merged profile the server builds; keeps a wrong address from filling memory.
constexpr size_t kMaxReplyBytes = size_t{512} << 20;
constexpr int64_t kConnectTimeoutNs = 5 * kNsPerSecond;

Error BadUrl(std::string_view text, std::string_view why, ErrorCode code = ErrorCode::kInvalid) {
  return Error(code, fmt::format("server '{}': {}; write for example http://127.0.0.1:7070 or "
                                 "http://[::1]:7070",
                                 text, why));
}

Failure Unreachable(const ServerUrl& server, std::string why) {
  return {ExitCode::kUnreachable, fmt::format("cannot reach {}", server.text), std::move(why),
          "start firetowerd, or name its address with --server URL or FIRETOWER_SERVER"};
}

// What the server said: JSON errors carry a message, pprof ones are plain text.
std::string MessageOf(const std::string& body) {
  std::string message = query::ErrorMessageFromJson(body);
  if (message.empty()) message = body.substr(0, 1000);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\n') c = ' ';
  }
  return message;
}

Failure Refused(const ServerUrl& server, std::string_view path, int status,
                const std::string& body) {
  std::string why = MessageOf(body);
  switch (status) {
    case 400:
      return {ExitCode::kUsage, "the server does not understand the question", why,
              "'--help' shows the forms of selectors, types and times"};
    case 401:
    case 403:
      return {ExitCode::kUnreachable, fmt::format("{} refuses", server.text), why,
              "ask for the right that is missing, or narrow the selector"};
    case 404:
      // Only the profile path answers so; on others the server is no Firetower or another version.
      if (path != "/api/v1/profile") {
        return {ExitCode::kFailure, fmt::format("{} has no {}", server.text, path), why,
                "see that --server names a firetowerd of this version"};
      }
      return {ExitCode::kNoData, "no data", why,
              "widen the range with --since, or see 'series' for what there is"};
    case 413:
      return {ExitCode::kFailure, "the answer is too large", why,
              "narrow the selector or the range"};
    case 503:
      return {ExitCode::kUnreachable, fmt::format("{} is not ready", server.text), why,
              "try again, and see 'doctor' if it stays so"};
    default:
      return {ExitCode::kFailure, fmt::format("{} answered {}", server.text, status), why,
              status >= 500 ? "the daemon's log has the reason" : ""};
  }
}

// Seconds and microseconds, as httplib takes time-outs.
struct SplitTime {
  explicit SplitTime(int64_t ns) : seconds(ns / kNsPerSecond), us(ns % kNsPerSecond / 1000) {}
  time_t seconds;
  time_t us;
};

// httplib keeps no errno, so what went wrong is told by the kind of failure.
std::string WhyNot(const ServerUrl& server, httplib::Error error, int64_t timeout_ns) {
  if (error == httplib::Error::ConnectionTimeout) return "it does not answer: connecting timed out";
  if (error == httplib::Error::Read) {
    return fmt::format("no answer within {}, or the connection broke", FormatDuration(timeout_ns));
  }
  if (error != httplib::Error::Connection) return httplib::to_string(error);
  addrinfo* list = nullptr;
  int failed = ::getaddrinfo(server.host.c_str(), nullptr, nullptr, &list);
  if (failed != 0) return fmt::format("host '{}': {}", server.host, ::gai_strerror(failed));
  ::freeaddrinfo(list);
  return "connection refused: nothing listens there";
}

Outcome<HttpReply> Fetch(const ServerUrl& server, int64_t timeout_ns, std::string_view path,
                         const std::string& target) {
  httplib::Client client(server.host, server.port);
  SplitTime connect(std::min(timeout_ns, kConnectTimeoutNs));
  SplitTime wait(timeout_ns);
  client.set_connection_timeout(connect.seconds, connect.us);
  client.set_read_timeout(wait.seconds, wait.us);
  client.set_write_timeout(wait.seconds, wait.us);
  client.set_url_encode(false);  // it is encoded already

  std::string body;
  httplib::Result result = client.Get(target, [&](const char* data, size_t size) {
    if (body.size() + size > kMaxReplyBytes) return false;
    body.append(data, size);
    return true;
  });
  if (!result) {
    if (body.size() + (64 << 10) > kMaxReplyBytes) {
      return Failure{ExitCode::kFailure, "the answer is too large",
                     fmt::format("it passes {} MiB", kMaxReplyBytes >> 20),
                     "narrow the selector or the range"};
    }
    return Unreachable(server, WhyNot(server, result.error(), timeout_ns));
  }
  if (result->status != 200) return Refused(server, path, result->status, body);
  HttpReply reply;
  reply.body = std::move(body);
  std::string skipped = result->get_header_value("X-Firetower-Skipped");
  std::from_chars(skipped.data(), skipped.data() + skipped.size(), reply.skipped);
  return reply;
}

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

Outcome<HttpReply> HttpClient::Get(std::string_view path, const query::NamedValues& params) const {
  std::string target = server_.path + std::string(path) + query::EncodeQuery(params);
  if (verbose_)
    std::fprintf(stderr, "GET http://%s:%d%s\n", server_.host.c_str(), server_.port,
                 target.c_str());
  try {
    return Fetch(server_, timeout_ns_, path, target);
  } catch (const std::exception& e) {
    return Unreachable(server_, e.what());
  }
}

}  // namespace firetower::cli
