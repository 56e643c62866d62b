// SPDX-License-Identifier: Apache-2.0
// The targets of pushes, as docs/reference/push.md describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client/http_client.h"

namespace firetower::daemon {

enum class PushKind : uint8_t { kPyroscope, kOtlp };

// The parts of pyroscope+http://HOST:PORT/BASE?OPTION=VALUE&… or otlp+https://….
struct PushTarget {
  PushKind kind = PushKind::kPyroscope;
  std::string name = {};             // as configured, without its options
  std::string url = {};              // of the requests
  std::string tenant = {};           // X-Scope-OrgID; empty: not sent
  std::string token_file = {};       // holds a bearer token; empty: none
  std::string basic_auth_file = {};  // holds user:password; empty: none
  int64_t timeout_seconds = 10;      // of one request
  net::ClientOptions transport = {};
};

inline constexpr size_t kMaxPushTargets = 4;

// Parses a target. kInvalid says what is wrong and what is allowed. It never repeats a part that
// may be a secret.
Result<PushTarget> ParsePushTarget(std::string_view text);
// Splits a list of targets at commas and spaces. Each must be valid; duplicates and more than
// kMaxPushTargets are errors.
Result<std::vector<std::string>> SplitPushUrls(std::string_view list);

}  // namespace firetower::daemon
