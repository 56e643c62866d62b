// SPDX-License-Identifier: Apache-2.0
// HTTP to the API server. ApiServer is the one interface through which everything above reaches it;
// ApiClient is the real one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread.h"
#include "k8s/client/config.h"
#include "k8s/client/credentials.h"

namespace firetower::k8s {

class HttpSession;
class PodPort;
struct PodPortTarget;

// A longer head is no API server's: it is the one part that httplib would read without a bound.
inline constexpr size_t kMaxHeadBytes = 64 << 10;
// Bytes that are kept of a refusal's body, a Status object.
inline constexpr size_t kMaxRefusalBytes = 64 << 10;

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

// Takes the body of a 2xx reply, decompressed, as it arrives.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // A 2xx head has come; the body may take its time.
  virtual void OnHead() {}
  // The next bytes, at least one. False ends the exchange and the connection.
  virtual bool OnBody(std::string_view bytes) = 0;
  // How long to wait for the next bytes; asked before each wait.
  virtual int64_t idle_timeout_ns() const = 0;
};

class ApiServer {
 public:
  virtual ~ApiServer() = default;
  // One exchange. A reply with any status is a value. kUnavailable: no connection, no answer in
  // time, cancelled; kCorrupt: the reply was cut or is no HTTP; kPermission: the server's
  // certificate is not trusted; kExhausted: the sink did not want more.
  virtual Result<ApiReply> Send(const ApiRequest& request, BodySink& sink) = 0;
};

// Keeps one connection between requests. Credentials and CA are those of the moment of the request:
// when they changed, the connection is made anew. A 401 is tried once more with credentials read
// again. A connection that was idle for kMaxIdleNs is replaced before a request; one that turns out
// to be closed all the same is, once, when nothing was answered to a GET: a write may have been
// done.
//
// Belongs to one thread, but for Cancel. The program ignores SIGPIPE. Redirects are not followed:
// an API server sends none, and a token must not follow one.
class ApiClient final : public ApiServer {
 public:
  // A kube-apiserver closes what was idle for 90 s, and balancers before it do sooner.
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
  // A connection of its own to a port of a pod; errors as of PodPort::Open and Connection::Open.
  // It must not outlive this.
  Result<std::unique_ptr<PodPort>> OpenPodPort(const PodPortTarget& target, int64_t timeout_ns);

  const ClientConfig& config() const { return config_; }

 private:
  Result<ApiReply> Exchange(const ApiRequest& request, const Identity& identity, BodySink& sink);
  // Makes session_ one for this identity and today's CA. Whether it was used before.
  Result<bool> EnsureSession(const Identity& identity);
  // Today's; "" where none is wanted.
  Result<std::string> ReadCa() const;

  const ClientConfig config_;
  const std::string user_agent_;
  const Clock& clock_;
  WakeFd cancel_;
  Credentials credentials_;
  std::unique_ptr<HttpSession> session_;
  int64_t used_ns_ = 0;  // when session_'s last request ended; monotonic
  std::string ca_pem_;   // the last that could be read, and session_'s
  Identity identity_;    // session_'s
};

}  // namespace firetower::k8s
