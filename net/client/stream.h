// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "net/client/http_client.h"
#include "net/url.h"

namespace firetower::net {

// A connection to somewhere: bytes to and from a peer. Belongs to one thread.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Bytes read into `out`, at least one; 0 at an orderly end of the stream. ETIMEDOUT when none
  // came in time; with a time of 0 that is: there are none yet.
  virtual Result<size_t> Read(char* out, size_t size, int64_t timeout_ns) = 0;
  // All of them.
  virtual Status Write(std::string_view data, int64_t timeout_ns) = 0;
  // Readable when Read may have something, though not always: it may have read ahead.
  virtual int fd() const = 0;
};

// Connects to `server` by libcurl, with TLS and through a proxy as an HTTP request would be. Every
// wait ends at its time-out, which is an ETIMEDOUT that names the limit, and at once when
// `cancel_fd` (-1: none) is readable.
Result<std::unique_ptr<ByteStream>> OpenStream(const ClientOptions& options, const Url& server,
                                               int cancel_fd, int64_t timeout_ns);

}  // namespace firetower::net
