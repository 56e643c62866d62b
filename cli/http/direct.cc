// SPDX-License-Identifier: Apache-2.0
#include "cli/http/direct.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "cli/http/ask.h"
#include "net/client/curl_client.h"

namespace firetower::cli {
namespace {

constexpr uint16_t kHttpPort = 7070;

class DirectTransport : public HttpTransport {
 public:
  DirectTransport(ServerUrl server, DirectOptions options, std::unique_ptr<net::HttpClient> client)
      : server_(std::move(server)), options_(std::move(options)), client_(std::move(client)) {}

  Outcome<net::HttpResponse> Get(const std::string& target, Progress* progress) override {
    HttpAnswer answer = Ask(*client_, {.url = server_.Text() + target,
                                       .bearer_token = options_.bearer_token,
                                       .timeout_ns = options_.timeout_ns,
                                       .max_reply_bytes = options_.max_reply_bytes,
                                       .progress = progress});
    if (answer.too_large) return TooLarge(options_.max_reply_bytes);
    if (answer.response) return *std::move(answer.response);
    const Error& error = answer.response.error();
    if (error.sys_errno() == ETIMEDOUT) return TooSlow(server_.text, options_.timeout_ns);
    if (error.code() == ErrorCode::kPermission) {
      return Failure{ExitCode::kUnreachable, fmt::format("cannot trust {}", server_.text),
                     error.message(),
                     "name the file of its certificate authority with --certificate-authority"};
    }
    return Failure{ExitCode::kUnreachable, fmt::format("cannot reach {}", server_.text),
                   error.sys_errno() == ECONNREFUSED ? "connection refused: nothing listens there"
                                                     : error.message(),
                   "start firetowerd, name its address with --server URL or FIRETOWER_SERVER, or a "
                   "cluster with --context"};
  }
  std::string name() const override { return server_.text; }
  std::string page_url() const override { return server_.text + "/"; }

 private:
  const ServerUrl server_;
  const DirectOptions options_;
  const std::unique_ptr<net::HttpClient> client_;
};

}  // namespace

Result<ServerUrl> ParseServerUrl(std::string_view text) {
  Result<net::Url> url = net::ParseUrl(text, {.http = kHttpPort});
  if (!url) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("server '{}': {}; write for example http://127.0.0.1:7070 or "
                             "http://[::1]:7070",
                             text, url.error().message()));
  }
  while (text.ends_with('/')) text.remove_suffix(1);
  return ServerUrl{*std::move(url), std::string(text)};
}

Result<std::unique_ptr<HttpTransport>> OpenDirect(ServerUrl server, DirectOptions options) {
  net::ClientOptions client;
  client.ca_file = options.ca_file;
  client.trust_advice = "see its name and its certificate authority";
  client.user_agent = kUserAgent;
  if (server.IsLoopback()) client.proxy = "none";
  ASSIGN_OR_RETURN(std::unique_ptr<net::CurlClient> http,
                   net::CurlClient::Create(std::move(client)));
  return std::unique_ptr<HttpTransport>(
      std::make_unique<DirectTransport>(std::move(server), std::move(options), std::move(http)));
}

}  // namespace firetower::cli
