// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "k8s/client/byte_stream.h"

namespace firetower::k8s {

// TLS 1.2 or later over another stream. The peer's certificate is not verified: the stream is a
// pod's port that the API server hands out, and it is the API server's certificate that says who is
// at the other end, as it does for a pod without TLS. Belongs to one thread.
Result<std::unique_ptr<ByteStream>> OpenTlsStream(std::unique_ptr<ByteStream> below,
                                                  int64_t timeout_ns);

}  // namespace firetower::k8s
