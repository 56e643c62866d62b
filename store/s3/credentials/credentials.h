// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "store/store.h"

namespace firetower::store::s3 {

// Never logged, never part of an error.
struct Credentials {
  static constexpr int64_t kNever = INT64_MAX;

  std::string access_key_id = {};
  std::string secret_access_key = {};
  std::string session_token = {};  // of temporary ones

  // Unix time. New ones are fetched from `refresh_ns` on; after `expires_ns` these are invalid.
  int64_t refresh_ns = kNever;
  int64_t expires_ns = kNever;
};

// Replaces each of these in a server's message by "[secret]", also if some characters are written
// as XML's "&#43;" or "&#x2B;". Some servers quote the whole request that they refuse, with its
// headers.
void HideSecrets(std::initializer_list<std::string_view> secrets, std::string* text);

// The value of an environment variable, "" for none.
using Environment = std::function<std::string(const char* name)>;
Environment SystemEnvironment();

// One source. Each Fetch asks it again. Calls do not overlap.
class CredentialsSource {
 public:
  virtual ~CredentialsSource() = default;
  virtual Result<Credentials> Fetch(const CallLimits& limits) = 0;
  // For messages: "the environment (AWS_ACCESS_KEY_ID)".
  virtual std::string Describe() const = 0;
};

// Servers may reject keys some time before they expire, and clocks differ.
inline constexpr int64_t kRefreshBeforeNs = 300 * kNsPerSecond;
// Wait before the next fetch if keys expire sooner than that, or the source did not answer.
inline constexpr int64_t kRefreshAgainNs = 60 * kNsPerSecond;

// When to fetch credentials again that expire at `expires_ns`.
int64_t RefreshTimeNs(int64_t expires_ns, int64_t now_ns);

// kInvalid if a part is missing or contains characters that a header cannot carry. The message has
// `source` and the part's name, never a value.
Status CheckCredentials(const Credentials& credentials, const std::string& source);

}  // namespace firetower::store::s3
