// SPDX-License-Identifier: Apache-2.0
// HTTP to the API server. ApiServer is the one interface through which everything above reaches it;
// ApiClient is the real one.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread.h"
#include "k8s/client/config.h"
#include "k8s/client/credentials.h"
#include "net/client/http_client.h"

namespace firetower::k8s {

class PodPort;
struct PodPortTarget;

using net::BodySink;
using net::kMaxRefusalBytes;

struct ApiRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, percent-encoded, without the server's base path
  std::string body = {};
  std::string content_type = {};  // of the body; none is sent when it is empty
};

struct ApiReply {
  int status = 0;
  std::string refusal;         // the body when the status is not 2xx, cut at kMaxRefusalBytes
  int64_t retry_after_ns = 0;  // RFC 9110 §10.2.3 in seconds, 0 when absent; at most an hour

  bool ok() const { return status >= 200 && status < 300; }
};

class ApiServer {
 public:
  virtual ~ApiServer() = default;
  // Sends one request. A reply with any status is a value. kUnavailable: no connection, no answer
  // in time, or cancelled; kCorrupt: the reply was cut, or is not HTTP; kPermission: the server's
  // certificate is not trusted; kExhausted: the sink refused more bytes.
  virtual Result<ApiReply> Send(const ApiRequest& request, BodySink& sink) = 0;
};

// Keeps one connection between requests. Each request uses the current credentials and CA; if they
// changed, the connection is opened again. A 401 is retried once with credentials that are read
// again. A connection that was idle for kMaxIdleNs is replaced before a request. If the server has
// closed it earlier, a GET is sent again once, if nothing was answered; a write is not, because it
// may have been done.
//
// Belongs to one thread, except Cancel. The program must ignore SIGPIPE. Redirects are not
// followed: an API server sends none, and the token must not go to another server.
class ApiClient final : public ApiServer {
 public:
  // A kube-apiserver closes connections that are idle for 90 s; load balancers close them sooner.
  static constexpr int64_t kMaxIdleNs = 50 * kNsPerSecond;

  // `clock` outlives this. `user_agent` such as "firetower/0.1.0 (agent)".
  ApiClient(ClientConfig config, std::string user_agent, const Clock& clock);
  ~ApiClient() override;

  Result<ApiReply> Send(const ApiRequest& request, BodySink& sink) override;

  // From any thread: the request under way ends within milliseconds, and every later one at once.
  void Cancel() noexcept;

  // Returns today's token; "" for a user without one, such as one with a
  // certificate.
  Result<std::string> BearerToken();
  // A connection of its own to a port of a pod; errors as of PodPort::Open and net::OpenStream.
  // It must not outlive this.
  Result<std::unique_ptr<PodPort>> OpenPodPort(const PodPortTarget& target, int64_t timeout_ns);

  const ClientConfig& config() const { return config_; }

 private:
  Result<ApiReply> Exchange(const ApiRequest& request, const Identity& identity, BodySink& sink);
  // Makes http_ one for this identity and today's CA.
  Status EnsureClient(const Identity& identity);
  net::ClientOptions Options(const Identity& identity, std::string ca_pem) const;
  // Returns the URL to ask: with the name that the certificate has to have.
  net::Url Server() const;
  // Today's; "" where none is wanted.
  Result<std::string> ReadCa() const;

  const ClientConfig config_;
  const std::string user_agent_;
  const Clock& clock_;
  WakeFd cancel_;  // of what waits for descriptors: plugins and pods' ports
  std::stop_source stop_;
  Credentials credentials_;
  std::unique_ptr<net::HttpClient> http_;
  int64_t used_ns_ = 0;  // when http_'s last request ended; monotonic
  std::string ca_pem_;   // the last that could be read, and http_'s
  Identity identity_;    // http_'s
};

}  // namespace firetower::k8s
