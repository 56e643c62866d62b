// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/debuginfod/download.h"

#include <fmt/core.h>
#include <unistd.h>

#include "base/clock.h"

namespace firetower::symbolizer {

namespace {

constexpr int kMaxRedirects = 20;

// Writes the body to a file, up to a number of bytes.
class FileSink : public net::BodySink {
 public:
  FileSink(int fd, uint64_t max_bytes, int64_t timeout_ns)
      : fd_(fd), max_bytes_(max_bytes), left_(max_bytes), timeout_ns_(timeout_ns) {}

  bool OnBody(std::string_view bytes) override {
    if (bytes.size() > left_) {
      status_ =
          Error(ErrorCode::kExhausted, fmt::format("more than the limit of {} bytes", max_bytes_));
    } else {
      left_ -= bytes.size();
      Write(bytes);
    }
    return status_.has_value();
  }
  int64_t idle_timeout_ns() const override { return timeout_ns_; }

  const Status& status() const { return status_; }

 private:
  void Write(std::string_view bytes) {
    while (!bytes.empty() && status_) {
      const ssize_t wrote = ::write(fd_, bytes.data(), bytes.size());
      if (wrote > 0) bytes.remove_prefix(static_cast<size_t>(wrote));
      if (wrote <= 0 && errno != EINTR) status_ = ErrnoError("write");
    }
  }

  const int fd_;
  const uint64_t max_bytes_;
  uint64_t left_;
  const int64_t timeout_ns_;
  Status status_ = OkStatus();
};

}  // namespace

Status Download(net::HttpClient& client, const std::string& url, int fd, uint64_t max_bytes,
                int64_t timeout_ns) {
  FileSink sink(fd, max_bytes, timeout_ns);
  const net::ClientRequest request{
      .url = url, .sink = &sink, .max_redirects = kMaxRedirects, .head_timeout_ns = timeout_ns};
  const Result<net::HttpResponse> response =
      client.Send(request, {.deadline_ns = Clock::System().MonotonicNs() + timeout_ns});
  Status written = sink.status();
  if (!written) return std::move(written).error().Context(url);
  if (!response) return response.error();
  if (response->status == 404) return Error(ErrorCode::kNotFound, url + ": not there");
  if (response->status == 200) return OkStatus();
  return Error(ErrorCode::kUnavailable, fmt::format("{}: status {}", url, response->status));
}

}  // namespace firetower::symbolizer
