// SPDX-License-Identifier: Apache-2.0
#include "net/client/curl_setup.h"

#include <curl/curl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "net/url.h"

namespace firetower::net {
namespace {

// A silent peer is asked after 20 s, then every 10 s, and given up after four unanswered probes;
// bytes that nobody acknowledges give it up after a minute (tcp(7)).
constexpr int kKeepAliveIdleSeconds = 20;
constexpr int kKeepAliveIntervalSeconds = 10;
constexpr int kKeepAliveProbes = 4;
constexpr int kUnacknowledgedMs = 60'000;

void SetOptions(int socket) noexcept {
  const auto set = [socket](int level, int name, int value) {
    ::setsockopt(socket, level, name, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs);
}

// Programs that the daemon starts must not inherit a connection.
curl_socket_t OnOpenSocket(void*, curlsocktype, curl_sockaddr* address) noexcept {
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd >= 0) SetOptions(fd);
  return fd;
}

template <typename T>
void Set(CURL* easy, CURLoption option, T value) {
  ::curl_easy_setopt(easy, option, value);
}

void SetBlob(CURL* easy, CURLoption option, const std::string& pem) {
  if (pem.empty()) return;
  curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_COPY};
  Set(easy, option, &blob);
}

void SetTls(CURL* easy, const ClientOptions& options) {
  Set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  Set(easy, CURLOPT_SSL_VERIFYPEER, options.skip_verification ? 0L : 1L);
  Set(easy, CURLOPT_SSL_VERIFYHOST, options.skip_verification ? 0L : 2L);
  SetBlob(easy, CURLOPT_SSLCERT_BLOB, options.certificate_pem);
  SetBlob(easy, CURLOPT_SSLKEY_BLOB, options.key_pem);
  if (!options.ca_file.empty()) {
    Set(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  } else if (!options.ca_pem.empty()) {
    SetBlob(easy, CURLOPT_CAINFO_BLOB, options.ca_pem);
  } else {
    // OpenSSL's other users look at it, libcurl itself does not.
    const char* file = std::getenv("SSL_CERT_FILE");
    if (file == nullptr || *file == '\0') return;
    Set(easy, CURLOPT_CAINFO, file);
  }
  // Else the system's authorities would be trusted besides.
  Set(easy, CURLOPT_CAPATH, static_cast<char*>(nullptr));
}

// A proxy's answer to CONNECT where no tunnel came about.
Error RefusedTunnel(long status, const std::string& text) {
  if (status >= 500 || status == 408 || status == 429) return {ErrorCode::kUnavailable, text};
  return {ErrorCode::kPermission,
          text + (status == 407 ? "; the proxy wants a password: give it in https_proxy"
                                : "; let the proxy reach it, or name it in no_proxy")};
}

Error TimeoutError(CURL* easy, const std::string& text, const ClientOptions& options) {
  curl_off_t connected_us = 0;
  ::curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
  if (connected_us > 0)
    return {ErrorCode::kUnavailable, text + "; it does not answer, or too slowly", ETIMEDOUT};
  return {ErrorCode::kUnavailable,
          fmt::format("connecting: no answer within {}",
                      FormatDuration(options.connect_timeout_seconds * kNsPerSecond))};
}

Error ConnectError(CURL* easy, const std::string& text) {
  long sys_errno = 0;
  ::curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &sys_errno);
  if (sys_errno == 0) return {ErrorCode::kUnavailable, text};
  const int number = static_cast<int>(sys_errno);
  return {ErrorCode::kUnavailable, fmt::format("{} ({})", std::strerror(number), text), number};
}

Status CheckPem(std::string_view pem, std::string_view name) {
  if (pem.find("-----BEGIN CERTIFICATE-----") != std::string_view::npos) return OkStatus();
  return Error(ErrorCode::kInvalid, fmt::format("{} is not a PEM certificate", name));
}

}  // namespace

void StartCurl() {
  static const CURLcode started = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(started == CURLE_OK);
}

KeptSettings SetUpTransfer(void* easy, const ClientOptions& options, const std::string& url,
                           bool link_local) {
  Set(easy, CURLOPT_URL, url.c_str());
  Set(easy, CURLOPT_PATH_AS_IS, 1L);
  Set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  Set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(easy, CURLOPT_NOSIGNAL, 1L);
  Set(easy, CURLOPT_QUICK_EXIT, 1L);  // a stopped call does not wait for a name server
  Set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  Set(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  Set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout_seconds * 1000));
  Set(easy, CURLOPT_OPENSOCKETFUNCTION, OnOpenSocket);
  if (!options.unix_socket.empty())
    Set(easy, CURLOPT_UNIX_SOCKET_PATH, options.unix_socket.c_str());
  if (link_local || options.proxy == "none") {
    Set(easy, CURLOPT_PROXY, "");
  } else if (!options.proxy.empty()) {
    Set(easy, CURLOPT_PROXY, options.proxy.c_str());
    Set(easy, CURLOPT_NOPROXY, "");
  }
  SetTls(easy, options);
  KeptSettings kept(nullptr,
                    [](void* list) { ::curl_slist_free_all(static_cast<curl_slist*>(list)); });
  if (options.connect_to.empty()) return kept;
  kept.reset(::curl_slist_append(nullptr, ("::" + options.connect_to).c_str()));
  Set(easy, CURLOPT_CONNECT_TO, static_cast<curl_slist*>(kept.get()));
  return kept;
}

Error TransferError(void* easy, int code, std::string text, const ClientOptions& options,
                    ErrorCode broken_response) {
  if (text.empty()) text = ::curl_easy_strerror(static_cast<CURLcode>(code));
  long proxy_status = 0;
  ::curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  if (proxy_status >= 300) return RefusedTunnel(proxy_status, text);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return {ErrorCode::kPermission, fmt::format("the server's certificate is not trusted: {}; {}",
                                                  text, options.trust_advice)};
    case CURLE_SSL_CACERT_BADFILE:
      return {ErrorCode::kInvalid, "the certificate authority is not a PEM certificate: " + text};
    case CURLE_SSL_CERTPROBLEM:
      return {ErrorCode::kInvalid,
              "the client certificate or the client key is of no use: " + text};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {ErrorCode::kInvalid,
              text + "; see https_proxy, http_proxy and no_proxy, or the option proxy"};
    case CURLE_COULDNT_RESOLVE_HOST:
      return {ErrorCode::kUnavailable, fmt::format("host '{}': its name cannot be resolved",
                                                   text.substr(text.rfind(' ') + 1))};
    case CURLE_URL_MALFORMAT:
      return {ErrorCode::kInvalid, text};
    case CURLE_OUT_OF_MEMORY:
      return {ErrorCode::kExhausted, text};
    case CURLE_COULDNT_CONNECT:
      return ConnectError(easy, text);
    case CURLE_OPERATION_TIMEDOUT:
      return TimeoutError(easy, text, options);
    case CURLE_GOT_NOTHING:
      return {broken_response, "the connection broke before there was an answer"};
    case CURLE_PARTIAL_FILE:
    case CURLE_UNSUPPORTED_PROTOCOL:  // HTTP/0.9: anything that is no HTTP
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return {broken_response, fmt::format("the response was cut or is no HTTP ({})", text)};
    default:
      return {ErrorCode::kUnavailable, text};
  }
}

Status CheckAuthorities(const ClientOptions& options) {
  if (!options.ca_pem.empty())
    RETURN_IF_ERROR(CheckPem(options.ca_pem, "the certificate authority"));
  if (options.ca_file.empty()) return OkStatus();
  ASSIGN_OR_RETURN(const std::string pem,
                   ReadFile(options.ca_file, 16 << 20).Context("certificate authority"));
  return CheckPem(pem, "the certificate authority " + options.ca_file);
}

}  // namespace firetower::net
