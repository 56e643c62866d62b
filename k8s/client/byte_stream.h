// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace firetower::k8s {

// A connection to somewhere: bytes to and from a peer. Belongs to one thread.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Bytes read into `out`, at least one; 0 at an orderly end of the stream.
  virtual Result<size_t> Read(char* out, size_t size, int64_t timeout_ns) = 0;
  // All of them.
  virtual Status Write(std::string_view data, int64_t timeout_ns) = 0;
};

}  // namespace firetower::k8s
