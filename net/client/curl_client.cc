// SPDX-License-Identifier: Apache-2.0
#include "net/client/curl_client.h"

#include <curl/curl.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "net/client/curl_setup.h"
#include "net/client/exchange.h"

namespace firetower::net {
namespace {

constexpr uint64_t kLargeBody = 1 << 20;
constexpr long kLargeUploadBuffer = 512 << 10;  // fewer system calls than with libcurl's 64 KiB
// Entries of bundles have 10 to 100 KB. Above 128 KiB malloc would map and unmap it each time.
constexpr long kReceiveBuffer = 96 << 10;
constexpr long kMaxConnections = 2;  // a handle's; it uses one at a time
constexpr int64_t kPollNs = kNsPerSecond;

// The callbacks are libcurl's: C frames lie between them and us, so nothing may be thrown.
size_t OnHeader(char* data, size_t size, size_t count, void* context) noexcept {
  return static_cast<Exchange*>(context)->OnHeadLine({data, size * count}) ? size * count : 0;
}

size_t OnBody(char* data, size_t size, size_t count, void* context) noexcept {
  return static_cast<Exchange*>(context)->OnBody({data, size * count}) ? size * count : 0;
}

size_t OnRead(char* out, size_t size, size_t count, void* context) noexcept {
  const Result<size_t> length =
      static_cast<Exchange*>(context)->ReadBody(std::span(out, size * count));
  return length ? *length : CURL_READFUNC_ABORT;
}

// A kept connection that the server closed meanwhile is tried again on a new one, from the start.
int OnSeek(void* context, curl_off_t offset, int origin) noexcept {
  auto* exchange = static_cast<Exchange*>(context);
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  exchange->Rewind(std::min(static_cast<uint64_t>(offset), exchange->request().body.size()));
  return CURL_SEEKFUNC_OK;
}

int OnConnected(void* context, char*, char*, int, int) noexcept {
  return static_cast<Exchange*>(context)->OnConnected() ? CURL_PREREQFUNC_OK
                                                        : CURL_PREREQFUNC_ABORT;
}

std::string_view HostOf(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  return url.substr(0, url.find_first_of("/?", begin));
}

}  // namespace

// One easy handle in a multi handle of its own, which can be woken up from another thread and holds
// the connections.
class CurlClient::Handle {
 public:
  Handle() : multi_(::curl_multi_init()), easy_(::curl_easy_init()) {
    CHECK(multi_ != nullptr && easy_ != nullptr);
    ::curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMaxConnections);
  }
  ~Handle() {
    ::curl_easy_cleanup(easy_);
    ::curl_multi_cleanup(multi_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Result<HttpResponse> Send(const ClientOptions& options, const ClientRequest& request,
                            const CallLimits& limits) {
    Exchange exchange(request);
    curl_slist* headers = nullptr;
    for (const auto& [name, value] : request.headers)
      headers = ::curl_slist_append(headers, fmt::format("{}: {}", name, value).c_str());
    // No "100 Continue" first: servers behind front ends let us wait a second for it.
    headers = ::curl_slist_append(headers, "Expect:");
    const KeptSettings kept = SetUpTransfer(easy_, options, request.url, request.link_local);
    SetRequest(options, request);
    SetExchange(&exchange, headers);
    Status ended = Perform(exchange, limits);
    const CURLcode code = ended ? TakeResult() : CURLE_ABORTED_BY_CALLBACK;
    Result<HttpResponse> response = Conclude(options, exchange, code, std::move(ended));
    ::curl_multi_remove_handle(multi_, easy_);
    ::curl_easy_reset(easy_);
    ::curl_slist_free_all(headers);
    return std::move(response).Context(fmt::format("{} {}", request.method, HostOf(request.url)));
  }

 private:
  template <typename T>
  void Set(CURLoption option, T value) {
    ::curl_easy_setopt(easy_, option, value);
  }

  void SetRequest(const ClientOptions& options, const ClientRequest& request) {
    const std::string& method = request.method;
    if (method == "PUT" || method == "POST" || method == "PATCH") {
      Set(CURLOPT_UPLOAD, 1L);
      Set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      if (request.body.size() > kLargeBody) Set(CURLOPT_UPLOAD_BUFFERSIZE, kLargeUploadBuffer);
    } else if (method == "GET") {
      Set(CURLOPT_BUFFERSIZE, kReceiveBuffer);
    } else if (method == "HEAD") {
      Set(CURLOPT_NOBODY, 1L);
    }
    if (method != "HEAD") Set(CURLOPT_CUSTOMREQUEST, method.c_str());
    if (request.gzip) Set(CURLOPT_ACCEPT_ENCODING, "gzip");
    Set(CURLOPT_FOLLOWLOCATION, request.max_redirects > 0 ? 1L : 0L);
    Set(CURLOPT_MAXREDIRS, static_cast<long>(request.max_redirects));
    if (request.sink != nullptr) return;
    const int64_t stall_s =
        request.stall_seconds > 0 ? request.stall_seconds : options.stall_seconds;
    Set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(kStallBytesPerSecond));
    Set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(stall_s));
  }

  void SetExchange(Exchange* exchange, curl_slist* headers) {
    error_[0] = '\0';
    void* context = exchange;
    Set(CURLOPT_ERRORBUFFER, error_.data());
    Set(CURLOPT_HTTPHEADER, headers);
    Set(CURLOPT_HEADERFUNCTION, OnHeader);
    Set(CURLOPT_HEADERDATA, context);
    Set(CURLOPT_WRITEFUNCTION, OnBody);
    Set(CURLOPT_WRITEDATA, context);
    Set(CURLOPT_READFUNCTION, OnRead);
    Set(CURLOPT_READDATA, context);
    Set(CURLOPT_SEEKFUNCTION, OnSeek);
    Set(CURLOPT_SEEKDATA, context);
    Set(CURLOPT_PREREQFUNCTION, OnConnected);
    Set(CURLOPT_PREREQDATA, context);
  }

  // Until libcurl has done what it can; an error when a limit ended it before.
  Status Perform(const Exchange& exchange, const CallLimits& limits) {
    ::curl_multi_add_handle(multi_, easy_);
    const std::stop_callback wake(limits.stop, [this] { ::curl_multi_wakeup(multi_); });
    for (int running = 1; running > 0;) {
      RETURN_IF_ERROR(CheckLimits(limits));
      if (::curl_multi_perform(multi_, &running) != CURLM_OK || running == 0) break;
      const int64_t now_ns = Clock::System().MonotonicNs();
      const int64_t wait_end_ns = exchange.WaitEndNs();
      if (now_ns >= wait_end_ns) {
        return Error(
            ErrorCode::kUnavailable,
            fmt::format("{}no answer within {}", exchange.connected() ? "" : "connecting: ",
                        FormatDuration(exchange.WaitLimitNs())),
            exchange.connected() ? ETIMEDOUT : 0);
      }
      const int64_t left_ns =
          std::min({kPollNs, wait_end_ns - now_ns, limits.deadline_ns - now_ns});
      const int64_t left_ms = std::max<int64_t>(left_ns / kNsPerMs + 1, 0);
      ::curl_multi_poll(multi_, nullptr, 0, static_cast<int>(left_ms), nullptr);
    }
    return OkStatus();
  }

  CURLcode TakeResult() {
    int left = 0;
    CURLcode code = CURLE_FAILED_INIT;
    while (const CURLMsg* message = ::curl_multi_info_read(multi_, &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
    return code;
  }

  Result<HttpResponse> Conclude(const ClientOptions& options, Exchange& exchange, CURLcode code,
                                Status ended) {
    RETURN_IF_ERROR(exchange.Unwanted());
    RETURN_IF_ERROR(std::move(ended));
    // A refusal whose body is too long, or missing because the server reset the connection behind
    // it: its status is known all the same.
    if (exchange.refused() || (code == CURLE_OK && exchange.head_done()))
      return exchange.TakeResponse();
    RETURN_IF_ERROR(exchange.read());
    if (code == CURLE_OK) code = CURLE_PARTIAL_FILE;
    if (code == CURLE_RECV_ERROR && exchange.head_done()) code = CURLE_PARTIAL_FILE;
    // It was to be sent on another connection, and may not.
    if (code == CURLE_ABORTED_BY_CALLBACK) code = CURLE_GOT_NOTHING;
    return TransferError(easy_, code, error_.data(), options, exchange.request().broken_response);
  }

  CURLM* multi_;
  CURL* easy_;
  std::array<char, CURL_ERROR_SIZE> error_ = {};
};

CurlClient::CurlClient(ClientOptions options) : options_(std::move(options)) { StartCurl(); }
CurlClient::~CurlClient() = default;

Result<std::unique_ptr<CurlClient>> CurlClient::Create(ClientOptions options) {
  RETURN_IF_ERROR(CheckAuthorities(options));
  return std::make_unique<CurlClient>(std::move(options));
}

std::unique_ptr<CurlClient::Handle> CurlClient::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Handle> handle = std::move(idle_.back());
      idle_.pop_back();
      return handle;
    }
  }
  return std::make_unique<Handle>();
}

void CurlClient::GiveBack(std::unique_ptr<Handle> handle) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(handle));
}

Result<HttpResponse> CurlClient::Send(const ClientRequest& request, const CallLimits& limits) {
  RETURN_IF_ERROR(CheckLimits(limits).Context(HostOf(request.url)));
  std::unique_ptr<Handle> handle = Take();
  Result<HttpResponse> response = handle->Send(options_, request, limits);
  GiveBack(std::move(handle));
  return response;
}

}  // namespace firetower::net
