// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/push/target.h"
#include "net/client/http_client.h"
#include "store/catalog.h"

namespace firetower::daemon {

enum class PushVerdict : uint8_t {
  kTaken,
  kLater,    // the same request may be taken later
  kRefused,  // never
};

struct PushAnswer {
  PushVerdict verdict = PushVerdict::kTaken;
  // Something in the request is at fault, perhaps one profile of several.
  bool blames_content = false;
  uint64_t rejected = 0;    // of what was taken, these were not
  int64_t wait_ns = 0;      // of kLater, as the server asks; 0: it does not
  std::string reason = {};  // for people
};

// How a kind of server is told of profiles. Adds up one request at a time. One thread.
class PushProtocol {
 public:
  virtual ~PushProtocol() = default;

  // kCorrupt or kExhausted for a profile that cannot be read: it is then not in the request.
  virtual Status Add(const store::CatalogRow& row, std::string_view pprof) = 0;
  // Of the body so far, about, before compression.
  virtual size_t bytes() const = 0;
  // The body. The next one begins.
  virtual std::string TakeBody() = 0;
  // Those that say what the body is.
  virtual const net::NamedValues& headers() const = 0;
  // `tries`: how often this request was sent. `wall_ns`: the time of now.
  virtual PushAnswer Judge(const net::HttpResponse& response, int tries, int64_t wall_ns) const = 0;
};

// `cluster`: its name, for profiles of pods.
std::unique_ptr<PushProtocol> NewPyroscopeProtocol(std::string cluster);
std::unique_ptr<PushProtocol> NewOtlpProtocol(std::string cluster);

// What a server says, cut and without what a terminal might obey.
std::string ReasonOf(std::string_view words);
// A status and that.
std::string DescribeRefusal(const net::HttpResponse& response);

// Of a status after which the same request may be taken: with the time in Retry-After.
PushAnswer AskLater(const net::HttpResponse& response, int64_t wall_ns);

}  // namespace firetower::daemon
