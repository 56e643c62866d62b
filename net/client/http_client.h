// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange as a client has it: the one interface through which all of us ask servers. The
// real one is net/client/curl_client.h, the one of tests tests/support/http/fake_http_client.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/call_limits.h"
#include "base/result.h"
#include "net/client/body.h"
#include "net/message.h"

namespace firetower::net {

// Bytes that are kept of the body of a response that is no 2xx.
inline constexpr size_t kMaxRefusalBytes = 64 << 10;
// A longer head of a response is an error.
inline constexpr size_t kMaxHeadBytes = 64 << 10;

// Takes the body of a 2xx response, unpacked, as it arrives.
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

// A request that a client sends. The server's side of one is net::HttpRequest.
struct ClientRequest {
  std::string method = "GET";
  std::string url = {};  // whole and encoded
  NamedValues headers = {};
  HttpBody body = {};  // of PUT, POST and PATCH
  // Bound for a 2xx body without a sink; with one the response's body stays empty.
  uint64_t max_response_bytes = 64 << 10;
  BodySink* sink = nullptr;
  bool link_local = false;      // the cloud's own addresses: never through a proxy
  bool gzip = false;            // the body may come packed
  bool resend = true;           // where a kept connection turns out to be closed: on a new one
  int max_redirects = 0;        // that are followed
  int64_t head_timeout_ns = 0;  // how long the head may take; 0: as `limits` say
  // A transfer without a sink that is slower than kStallBytesPerSecond for so long ends; 0: as the
  // client was told.
  int64_t stall_seconds = 0;
  // Code of the error for a response that was cut, or that is no HTTP.
  ErrorCode broken_response = ErrorCode::kUnavailable;
};

inline constexpr int64_t kStallBytesPerSecond = 512;

// How a client reaches servers. What it trusts and shows is the same for all of them.
struct ClientOptions {
  std::string ca_file = {};  // PEM; the only CAs trusted. Empty: those of ca_pem, or the system's
  std::string ca_pem = {};   // the same as text
  std::string certificate_pem = {};  // the client's own, with its chain; empty: none
  std::string key_pem = {};
  bool skip_verification = false;
  // Ends the message about a certificate that is not trusted: it says how to mend that.
  std::string trust_advice =
      "if the server has a certificate of your own authority, name its file with ca-file";
  // "": as the environment says (https_proxy, no_proxy …); "none"; or a proxy's URL, which is then
  // used whatever no_proxy says.
  std::string proxy = {};
  std::string user_agent = "firetower";
  int64_t connect_timeout_seconds = 5;
  int64_t stall_seconds = 20;
  std::string connect_to = {};  // "HOST:PORT" to connect to, whatever a URL says; empty: as it says
  std::string unix_socket = {};  // a path to connect to instead; empty: none
};

// May be used by several threads at once.
class HttpClient {
 public:
  virtual ~HttpClient() = default;

  // The response, whatever its status. Errors name the server. kUnavailable: not reached, broken
  // off, too slow (ETIMEDOUT, and the limit is named) or over by `limits`; kExhausted: a 2xx body
  // above max_response_bytes, or the sink did not want more; kPermission: a certificate that is not
  // trusted, or a proxy that refuses; kInvalid: an address or a file that cannot be used.
  virtual Result<HttpResponse> Send(const ClientRequest& request, const CallLimits& limits) = 0;
};

}  // namespace firetower::net
