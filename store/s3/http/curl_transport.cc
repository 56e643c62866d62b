// SPDX-License-Identifier: Apache-2.0
#include "store/s3/http/curl_transport.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "store/access/limited_store.h"
#include "store/s3/http/retry.h"

namespace firetower::store::s3 {
namespace {

constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr uint64_t kMaxRefusalBytes = 64 << 10;
constexpr uint64_t kLargeBody = 1 << 20;
constexpr long kLargeUploadBuffer = 512 << 10;  // fewer system calls than with libcurl's 64 KiB
// Entries of bundles have 10 to 100 KB. Above 128 KiB malloc would map and unmap it each time.
constexpr long kReceiveBuffer = 96 << 10;
constexpr long kMaxConnections = 2;  // a handle's; it uses one at a time
constexpr int kPollMs = 1000;

// libcurl's functions, from the library as it is loaded when the first S3 store is opened, or the
// first server of --push: it brings some 25 libraries and 4 MB along, which a daemon that writes
// into a directory does without.
struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_setopt) multi_setopt = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_wakeup) multi_wakeup = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
  std::string missing = {};  // what keeps it from being used
};

Curl LoadCurl() {
  constexpr const char* kName = "libcurl.so.4";
  Curl curl;
  void* library = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    curl.missing = fmt::format("{} cannot be loaded: {}", kName, ::dlerror());
    return curl;
  }
  auto load = [&](auto* function, const char* name) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(::dlsym(library, name));
    if (*function == nullptr) curl.missing = fmt::format("{} has no {}", kName, name);
  };
  load(&curl.global_init, "curl_global_init");
  load(&curl.easy_init, "curl_easy_init");
  load(&curl.easy_setopt, "curl_easy_setopt");
  load(&curl.easy_getinfo, "curl_easy_getinfo");
  load(&curl.easy_reset, "curl_easy_reset");
  load(&curl.easy_cleanup, "curl_easy_cleanup");
  load(&curl.easy_strerror, "curl_easy_strerror");
  load(&curl.slist_append, "curl_slist_append");
  load(&curl.slist_free_all, "curl_slist_free_all");
  load(&curl.multi_init, "curl_multi_init");
  load(&curl.multi_setopt, "curl_multi_setopt");
  load(&curl.multi_cleanup, "curl_multi_cleanup");
  load(&curl.multi_add_handle, "curl_multi_add_handle");
  load(&curl.multi_remove_handle, "curl_multi_remove_handle");
  load(&curl.multi_perform, "curl_multi_perform");
  load(&curl.multi_poll, "curl_multi_poll");
  load(&curl.multi_wakeup, "curl_multi_wakeup");
  load(&curl.multi_info_read, "curl_multi_info_read");
  if (curl.missing.empty() && curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    curl.missing = "libcurl cannot be initialized";
  }
  return curl;
}

// Immutable once loaded; the library stays to the end.
const Curl& TheCurl() {
  static const Curl curl = LoadCurl();
  return curl;
}

// State that the callbacks of one exchange share.
struct Exchange {
  const HttpRequest* request = nullptr;
  uint64_t sent = 0;
  size_t header_bytes = 0;
  HttpResponse response = {};
  bool too_long = false;
  Status read = OkStatus();  // of the request's body

  bool SetStatus(std::string_view line) {
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return false;
    response = {};  // what came before was an interim answer, or a proxy's
    const std::string_view digits = line.substr(blank + 1, 3);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), response.status);
    return error == std::errc() && end == digits.data() + digits.size();
  }

  bool AddHeader(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > kMaxHeaderBytes) return false;
    if (line.starts_with("HTTP/")) return SetStatus(line);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return true;  // the empty line
    HttpHeader header{.name = std::string(line.substr(0, colon))};
    std::ranges::transform(header.name, header.name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    std::string_view value = line.substr(colon + 1);
    constexpr std::string_view kBlanks = " \t\r\n";
    value.remove_prefix(std::min(value.find_first_not_of(kBlanks), value.size()));
    value = value.substr(0, value.find_last_not_of(kBlanks) + 1);
    header.value = value;
    response.headers.push_back(std::move(header));
    return true;
  }

  // Returns the length in the answer's header; 0 without one.
  uint64_t ContentLength() const {
    uint64_t length = 0;
    const std::string_view text = response.Header("content-length");
    std::from_chars(text.data(), text.data() + text.size(), length);
    return length;
  }

  // Whether the transfer goes on.
  bool AddBody(std::string_view bytes) {
    const uint64_t most = response.ok() ? request->max_response_bytes : kMaxRefusalBytes;
    if (bytes.size() > most - response.body.size()) {
      too_long = true;
      return false;
    }
    if (response.body.empty()) response.body.reserve(std::min({most, ContentLength(), kLargeBody}));
    response.body.append(bytes);
    return true;
  }
};

// The callbacks are libcurl's: C frames lie between them and us, so nothing may be thrown.
size_t OnHeader(char* data, size_t size, size_t count, void* context) noexcept {
  auto* exchange = static_cast<Exchange*>(context);
  return exchange->AddHeader({data, size * count}) ? size * count : 0;
}

size_t OnBody(char* data, size_t size, size_t count, void* context) noexcept {
  auto* exchange = static_cast<Exchange*>(context);
  return exchange->AddBody({data, size * count}) ? size * count : 0;
}

size_t OnRead(char* out, size_t size, size_t count, void* context) noexcept {
  auto* exchange = static_cast<Exchange*>(context);
  const HttpBody& body = exchange->request->body;
  const size_t length = std::min<uint64_t>(body.size() - exchange->sent, size * count);
  exchange->read = body.ReadAt(exchange->sent, std::as_writable_bytes(std::span(out, length)));
  if (!exchange->read) return CURL_READFUNC_ABORT;
  exchange->sent += length;
  return length;
}

// A kept connection that the server closed meanwhile is tried again on a new one, from the start.
int OnSeek(void* context, curl_off_t offset, int origin) noexcept {
  auto* exchange = static_cast<Exchange*>(context);
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  exchange->sent = std::min(static_cast<uint64_t>(offset), exchange->request->body.size());
  return CURL_SEEKFUNC_OK;
}

// Programs that the daemon starts must not inherit a connection.
curl_socket_t OnOpenSocket(void*, curlsocktype, curl_sockaddr* address) noexcept {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::string_view HostOf(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  return url.substr(0, url.find_first_of("/?", begin));
}

ErrorCode CodeOf(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return ErrorCode::kPermission;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return ErrorCode::kInvalid;
    case CURLE_OUT_OF_MEMORY:
      return ErrorCode::kExhausted;
    default:
      return ErrorCode::kUnavailable;
  }
}

std::string_view AdviceFor(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return "; if the server has a certificate of your own authority, name its file with ca-file";
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "; see https_proxy, http_proxy and no_proxy, or the option proxy";
    case CURLE_OPERATION_TIMEDOUT:
      return "; it does not answer, or too slowly";
    default:
      return "";
  }
}

// A proxy's answer to CONNECT, `status`, where no tunnel came about. 0: there was none.
std::optional<Error> RefusedTunnel(long status, std::string_view what, std::string_view text) {
  if (status < 300) return std::nullopt;
  const std::string told = fmt::format("{}: {}", what, text);
  if (status >= 500 || IsRetryable(static_cast<int>(status), ""))
    return Error(ErrorCode::kUnavailable, told);
  return Error(ErrorCode::kPermission,
               told + (status == 407 ? "; the proxy wants a password: give it in https_proxy"
                                     : "; let the proxy reach it, or name it in no_proxy"));
}

}  // namespace

// One easy handle in a multi handle of its own, which can be woken up from another thread and holds
// the connections.
class CurlTransport::Handle {
 public:
  Handle() : multi_(TheCurl().multi_init()), easy_(TheCurl().easy_init()) {
    CHECK(multi_ != nullptr && easy_ != nullptr);
    TheCurl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMaxConnections);
  }
  ~Handle() {
    TheCurl().easy_cleanup(easy_);
    TheCurl().multi_cleanup(multi_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Result<HttpResponse> Send(const TransportOptions& options, const HttpRequest& request,
                            const CallLimits& limits) {
    Exchange exchange{.request = &request};
    curl_slist* headers = nullptr;
    for (const HttpHeader& header : request.headers) {
      headers =
          TheCurl().slist_append(headers, fmt::format("{}: {}", header.name, header.value).c_str());
    }
    // No "100 Continue" first: servers behind front ends let us wait a second for it.
    headers = TheCurl().slist_append(headers, "Expect:");
    SetUp(options, request);
    SetExchange(&exchange, headers);
    SetTimes(options, request, limits);
    const bool done = Perform(limits);
    const CURLcode code = done ? TakeResult() : CURLE_ABORTED_BY_CALLBACK;
    long proxy_status = 0;
    TheCurl().easy_getinfo(easy_, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
    TheCurl().multi_remove_handle(multi_, easy_);
    TheCurl().easy_reset(easy_);
    TheCurl().slist_free_all(headers);
    return Conclude(std::move(exchange), code, proxy_status, limits);
  }

 private:
  template <typename T>
  void Set(CURLoption option, T value) {
    TheCurl().easy_setopt(easy_, option, value);
  }

  void SetUp(const TransportOptions& options, const HttpRequest& request) {
    Set(CURLOPT_URL, request.url.c_str());
    Set(CURLOPT_PATH_AS_IS, 1L);
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_QUICK_EXIT, 1L);  // a stopped call does not wait for a name server
    Set(CURLOPT_FOLLOWLOCATION, 0L);
    Set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    Set(CURLOPT_USERAGENT, "firetower");
    Set(CURLOPT_OPENSOCKETFUNCTION, OnOpenSocket);
    if (!options.ca_file.empty()) Set(CURLOPT_CAINFO, options.ca_file.c_str());
    if (request.link_local || options.proxy == "none") {
      Set(CURLOPT_PROXY, "");
    } else if (!options.proxy.empty()) {
      Set(CURLOPT_PROXY, options.proxy.c_str());
    }
    if (request.method == "PUT" || request.method == "POST") {
      Set(CURLOPT_UPLOAD, 1L);
      Set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      if (request.body.size() > kLargeBody) Set(CURLOPT_UPLOAD_BUFFERSIZE, kLargeUploadBuffer);
    } else if (request.method == "GET") {
      Set(CURLOPT_BUFFERSIZE, kReceiveBuffer);
    } else if (request.method == "HEAD") {
      Set(CURLOPT_NOBODY, 1L);
    }
    if (request.method != "HEAD") Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }

  void SetExchange(Exchange* exchange, curl_slist* headers) {
    error_[0] = '\0';
    Set(CURLOPT_ERRORBUFFER, error_.data());
    Set(CURLOPT_HTTPHEADER, headers);
    Set(CURLOPT_HEADERFUNCTION, OnHeader);
    Set(CURLOPT_HEADERDATA, static_cast<void*>(exchange));
    Set(CURLOPT_WRITEFUNCTION, OnBody);
    Set(CURLOPT_WRITEDATA, static_cast<void*>(exchange));
    Set(CURLOPT_READFUNCTION, OnRead);
    Set(CURLOPT_READDATA, static_cast<void*>(exchange));
    Set(CURLOPT_SEEKFUNCTION, OnSeek);
    Set(CURLOPT_SEEKDATA, static_cast<void*>(exchange));
  }

  void SetTimes(const TransportOptions& options, const HttpRequest& request,
                const CallLimits& limits) {
    const int64_t stall_s =
        request.stall_seconds > 0 ? request.stall_seconds : options.stall_seconds;
    Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout_seconds * 1000));
    Set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(kStallBytesPerSecond));
    Set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(stall_s));
    if (limits.deadline_ns == CallLimits::kNoDeadline) return;
    const int64_t left_ns = limits.deadline_ns - Clock::System().MonotonicNs();
    Set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<int64_t>(left_ns / kNsPerMs, 1)));
  }

  // False when `limits` ended it.
  bool Perform(const CallLimits& limits) {
    TheCurl().multi_add_handle(multi_, easy_);
    const std::stop_callback wake(limits.stop, [this] { TheCurl().multi_wakeup(multi_); });
    for (int running = 1; running > 0;) {
      if (limits.stop.stop_requested()) return false;
      if (TheCurl().multi_perform(multi_, &running) != CURLM_OK) return true;
      if (running > 0) TheCurl().multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
    }
    return true;
  }

  CURLcode TakeResult() {
    int left = 0;
    CURLcode code = CURLE_FAILED_INIT;
    while (const CURLMsg* message = TheCurl().multi_info_read(multi_, &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
    return code;
  }

  Result<HttpResponse> Conclude(Exchange exchange, CURLcode code, long proxy_status,
                                const CallLimits& limits) {
    const HttpRequest& request = *exchange.request;
    const std::string what = fmt::format("{} {}", request.method, HostOf(request.url));
    if (exchange.too_long && exchange.response.ok()) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("{}: more than {} bytes", what, request.max_response_bytes));
    }
    // A refusal whose body is too long, or missing because the server reset the connection behind
    // it: its status is known all the same.
    const bool refused = exchange.response.status >= 300;
    if (code == CURLE_OK || (refused && code != CURLE_ABORTED_BY_CALLBACK)) {
      return std::move(exchange.response);
    }
    RETURN_IF_ERROR(CheckLimits(limits).Context(what));
    RETURN_IF_ERROR(exchange.read.Context(what));
    const char* text = error_[0] != '\0' ? error_.data() : TheCurl().easy_strerror(code);
    if (auto refusal = RefusedTunnel(proxy_status, what, text)) return *std::move(refusal);
    return Error(CodeOf(code), fmt::format("{}: {}{}", what, text, AdviceFor(code)));
  }

  CURLM* multi_;
  CURL* easy_;
  std::array<char, CURL_ERROR_SIZE> error_ = {};
};

CurlTransport::CurlTransport(TransportOptions options) : options_(std::move(options)) {}
CurlTransport::~CurlTransport() = default;

Result<std::unique_ptr<CurlTransport>> CurlTransport::Create(TransportOptions options) {
  if (!TheCurl().missing.empty()) return Error(ErrorCode::kUnsupported, TheCurl().missing);
  if (!options.ca_file.empty()) {
    ASSIGN_OR_RETURN(const std::string pem, ReadFile(options.ca_file, 16 << 20).Context("ca-file"));
    if (pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("ca-file: {} holds no certificate in PEM", options.ca_file));
    }
  }
  return std::unique_ptr<CurlTransport>(new CurlTransport(std::move(options)));
}

std::unique_ptr<CurlTransport::Handle> CurlTransport::Take() {
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

void CurlTransport::GiveBack(std::unique_ptr<Handle> handle) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(handle));
}

Result<HttpResponse> CurlTransport::Send(const HttpRequest& request, const CallLimits& limits) {
  RETURN_IF_ERROR(CheckLimits(limits).Context(HostOf(request.url)));
  std::unique_ptr<Handle> handle = Take();
  Result<HttpResponse> response = handle->Send(options_, request, limits);
  GiveBack(std::move(handle));
  return response;
}

}  // namespace firetower::store::s3
