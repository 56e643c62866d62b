// SPDX-License-Identifier: Apache-2.0
#include "net/client/stream.h"

#include <curl/curl.h>
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "net/client/curl_setup.h"

namespace firetower::net {
namespace {

struct Deadline {
  explicit Deadline(int64_t ns) : at_ns(Clock::System().MonotonicNs() + ns), limit_ns(ns) {}
  int LeftMs() const {
    const int64_t left_ns = at_ns - Clock::System().MonotonicNs();
    return static_cast<int>(std::clamp<int64_t>((left_ns + kNsPerMs - 1) / kNsPerMs, 0, INT_MAX));
  }
  Error Passed() const {
    return {ErrorCode::kUnavailable, fmt::format("no answer within {}", FormatDuration(limit_ns)),
            ETIMEDOUT};
  }

  const int64_t at_ns;
  const int64_t limit_ns;
};

Error Cancelled() { return {ErrorCode::kUnavailable, "cancelled"}; }

class CurlStream final : public ByteStream {
 public:
  CurlStream(ClientOptions options, int cancel_fd)
      : options_(std::move(options)),
        cancel_fd_(cancel_fd),
        multi_(::curl_multi_init()),
        easy_(::curl_easy_init()) {
    CHECK(multi_ != nullptr && easy_ != nullptr);
  }
  ~CurlStream() override {
    ::curl_multi_remove_handle(multi_, easy_);
    ::curl_easy_cleanup(easy_);
    ::curl_multi_cleanup(multi_);
  }
  CurlStream(const CurlStream&) = delete;
  CurlStream& operator=(const CurlStream&) = delete;

  Status Connect(const Url& server, int64_t timeout_ns) {
    const Deadline deadline(timeout_ns);
    const KeptSettings kept = SetUpTransfer(easy_, options_, server.Text(), /*link_local=*/false);
    ::curl_easy_setopt(easy_, CURLOPT_CONNECT_ONLY, 1L);
    ::curl_easy_setopt(easy_, CURLOPT_HTTPPROXYTUNNEL, 1L);
    ::curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_.data());
    ::curl_multi_add_handle(multi_, easy_);
    for (int running = 1;;) {
      ::curl_multi_perform(multi_, &running);
      if (running == 0) break;
      const int left_ms = deadline.LeftMs();
      if (left_ms == 0) return deadline.Passed();
      curl_waitfd cancel{.fd = cancel_fd_, .events = CURL_WAIT_POLLIN, .revents = 0};
      ::curl_multi_poll(multi_, &cancel, cancel_fd_ < 0 ? 0U : 1U, left_ms, nullptr);
      if (cancel.revents != 0) return Cancelled();
    }
    int left = 0;
    const CURLMsg* message = ::curl_multi_info_read(multi_, &left);
    CHECK(message != nullptr);
    if (message->data.result != CURLE_OK) return Failed(message->data.result);
    curl_socket_t socket = CURL_SOCKET_BAD;
    ::curl_easy_getinfo(easy_, CURLINFO_ACTIVESOCKET, &socket);
    fd_ = socket;
    return OkStatus();
  }

  Result<size_t> Read(char* out, size_t size, int64_t timeout_ns) override {
    const Deadline deadline(timeout_ns);
    for (;;) {
      size_t got = 0;
      const CURLcode code = ::curl_easy_recv(easy_, out, size, &got);
      if (code == CURLE_OK) return got;
      if (code != CURLE_AGAIN) return Failed(code);
      RETURN_IF_ERROR(Wait(POLLIN, deadline));
    }
  }

  Status Write(std::string_view data, int64_t timeout_ns) override {
    const Deadline deadline(timeout_ns);
    while (!data.empty()) {
      size_t sent = 0;
      const CURLcode code = ::curl_easy_send(easy_, data.data(), data.size(), &sent);
      if (code != CURLE_OK && code != CURLE_AGAIN) return Failed(code);
      data.remove_prefix(sent);
      if (code == CURLE_AGAIN) RETURN_IF_ERROR(Wait(POLLOUT, deadline));
    }
    return OkStatus();
  }

  int fd() const override { return fd_; }

 private:
  Error Failed(CURLcode code) const {
    return TransferError(easy_, code, error_.data(), options_, ErrorCode::kCorrupt);
  }

  Status Wait(short events, const Deadline& deadline) const {
    std::array<pollfd, 2> fds = {pollfd{fd_, events, 0}, pollfd{cancel_fd_, POLLIN, 0}};
    for (;;) {
      const int count = ::poll(fds.data(), fds.size(), deadline.LeftMs());
      if (count > 0) return fds[1].revents != 0 ? Status(Cancelled()) : OkStatus();
      if (count == 0) return deadline.Passed();
      if (errno != EINTR) return ErrnoError("poll");
    }
  }

  const ClientOptions options_;
  const int cancel_fd_;
  CURLM* const multi_;
  CURL* const easy_;
  int fd_ = -1;
  std::array<char, CURL_ERROR_SIZE> error_ = {};
};

}  // namespace

Result<std::unique_ptr<ByteStream>> OpenStream(const ClientOptions& options, const Url& server,
                                               int cancel_fd, int64_t timeout_ns) {
  StartCurl();
  RETURN_IF_ERROR(CheckAuthorities(options));
  auto stream = std::make_unique<CurlStream>(options, cancel_fd);
  RETURN_IF_ERROR(stream->Connect(server, timeout_ns).Context(server.Text()));
  return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace firetower::net
