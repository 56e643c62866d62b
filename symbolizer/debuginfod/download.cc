// SPDX-License-Identifier: Apache-2.0
// The one place of this module that knows cpp-httplib.
#include "symbolizer/debuginfod/download.h"

#include <fmt/core.h>
#include <httplib.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "base/clock.h"

namespace firetower::symbolizer {

namespace {

constexpr int64_t kConnectTimeoutNs = 5 * kNsPerSecond;

// "http://host:1" and "/path".
struct SplitUrl {
  explicit SplitUrl(const std::string& url) {
    const size_t slash = url.find('/', url.find("://") + 3);
    server = url.substr(0, slash);
    path = slash == std::string::npos ? "/" : url.substr(slash);
  }
  std::string server;
  std::string path;
};

bool WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t wrote = ::write(fd, data, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    data += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

Status Get(const std::string& url, int fd, uint64_t max_bytes, int64_t timeout_ns) {
  const SplitUrl split(url);
  httplib::Client client(split.server);
  const int64_t deadline_ns = Clock::System().MonotonicNs() + timeout_ns;
  auto set = [](auto setter, int64_t ns) {
    setter(static_cast<time_t>(ns / kNsPerSecond), static_cast<time_t>(ns % kNsPerSecond / 1000));
  };
  set([&](time_t s, time_t us) { client.set_connection_timeout(s, us); },
      std::min(timeout_ns, kConnectTimeoutNs));
  set([&](time_t s, time_t us) { client.set_read_timeout(s, us); }, timeout_ns);
  client.set_follow_location(true);
  uint64_t received = 0;
  Status written = OkStatus();
  httplib::Result result = client.Get(split.path, [&](const char* data, size_t size) {
    received += size;
    if (received > max_bytes) {
      written = Error(ErrorCode::kExhausted,
                      fmt::format("{}: more than the limit of {} bytes", url, max_bytes));
    } else if (Clock::System().MonotonicNs() > deadline_ns) {
      written = Error(ErrorCode::kUnavailable, fmt::format("{}: not done in time", url));
    } else if (!WriteAll(fd, data, size)) {
      written = ErrnoError("write");
    }
    return written.has_value();
  });
  RETURN_IF_ERROR(written);
  if (!result) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{}: {}", url, httplib::to_string(result.error())));
  }
  if (result->status == 404) return Error(ErrorCode::kNotFound, url + ": not there");
  if (result->status != 200) {
    return Error(ErrorCode::kUnavailable, fmt::format("{}: status {}", url, result->status));
  }
  return OkStatus();
}

}  // namespace

bool IsHttpUrl(std::string_view url) {
  for (std::string_view scheme : {"http://", "https://"}) {
    if (url.starts_with(scheme)) {
      return url.size() > scheme.size() && url[scheme.size()] != '/' &&
             url.find_first_of("?#\"'\\") == std::string_view::npos;
    }
  }
  return false;
}

Status Download(const std::string& url, int fd, uint64_t max_bytes, int64_t timeout_ns) {
  try {
    return Get(url, fd, max_bytes, timeout_ns);
  } catch (const std::exception& e) {
    return Error(ErrorCode::kUnavailable, fmt::format("{}: {}", url, e.what()));
  }
}

}  // namespace firetower::symbolizer
