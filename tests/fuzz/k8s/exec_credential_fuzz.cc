// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "base/text/base64.h"
#include "k8s/client/exec_plugin.h"

// The output of a credential plugin: if it is accepted, it has a credential. The same bytes are
// also tried as a time and as base64.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace k8s = firetower::k8s;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto credential = k8s::ParseExecCredential(text)) {
    CHECK(!credential->token.empty() || !credential->certificate_pem.empty());
    CHECK(credential->certificate_pem.empty() == credential->key_pem.empty());
  } else {
    CHECK(!credential.error().message().empty());
  }
  // From 1970 to 2200, and as far beyond as an offset of 99:99 reaches.
  if (const auto time_ns = k8s::ParseTimestampNs(text)) {
    constexpr int64_t kOffsetNs = (99 * 60 + 99) * 60 * firetower::kNsPerSecond;
    constexpr int64_t kEndNs =
        7'289'654'400 * firetower::kNsPerSecond;  // date -u -d 2201-01-01 +%s
    CHECK(*time_ns >= -kOffsetNs && *time_ns < kEndNs + kOffsetNs);
  }
  if (const auto decoded = firetower::DecodeBase64(text)) CHECK(decoded->size() <= size / 4 * 3);
  return 0;
}
