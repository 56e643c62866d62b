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

  // Unix time. New ones are fetched from `refresh_ns` on; after `expires_ns` these are of no use.
  int64_t refresh_ns = kNever;
  int64_t expires_ns = kNever;
};

// Puts "[secret]" where one of these stands in what a server said, as it is or with characters
// written as XML's "&#43;" or "&#x2B;": some quote the request that they refuse, headers and all.
void HideSecrets(std::initializer_list<std::string_view> secrets, std::string* text);

// The value of an environment variable, "" for none.
using Environment = std::function<std::string(const char* name)>;
Environment SystemEnvironment();

// One source, asked anew each time. Calls do not overlap.
class CredentialsSource {
 public:
  virtual ~CredentialsSource() = default;
  virtual Result<Credentials> Fetch(const CallLimits& limits) = 0;
  // For messages: "the environment (AWS_ACCESS_KEY_ID)".
  virtual std::string Describe() const = 0;
};

// Servers drop what is about to expire at different times, and clocks differ.
inline constexpr int64_t kRefreshBeforeNs = 300 * kNsPerSecond;
// Wait before the next fetch if keys expire sooner than that, or the source did not answer.
inline constexpr int64_t kRefreshAgainNs = 60 * kNsPerSecond;

// When to fetch again what expires then.
int64_t RefreshTimeNs(int64_t expires_ns, int64_t now_ns);

// kInvalid when a part is missing or cannot stand in a header; `source` and the name of what is
// wrong are told, never a value.
Status CheckCredentials(const Credentials& credentials, const std::string& source);

}  // namespace firetower::store::s3
