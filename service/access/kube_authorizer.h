// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "k8s/access/review.h"
#include "query/authorizer.h"

namespace firetower::service {

// Authorizer that applies the cluster's own rights to profiles:
//
//   get profilingpolicies/profiles in a namespace           profiles of its pods
//   get profilingpolicies/profiles in all                   profiles of all pods
//   get clusterprofilingpolicies/profiles (of no namespace) the hosts' profiles
//
//   get the path /metrics                                   metrics, where these ask for a right
//
// A request carries the caller's token. A caller who may not read all namespaces names one with
// {namespace="…"}. Answers are cached for kKeepNs, refusals for kKeepRefusedNs, so a right that was
// taken away still counts that long; that to metrics counts for kKeepMetricsNs, without another
// look at the token, because each of 5,000 agents is scraped by the same one. Any thread. Reviews
// are sent one at a time; for unknown tokens kMaxStrangers are sent at once, then
// kStrangersPerSecond.
class KubeAuthorizer : public query::Authorizer {
 public:
  static constexpr int64_t kKeepNs = 60 * kNsPerSecond;
  static constexpr int64_t kKeepRefusedNs = 10 * kNsPerSecond;
  static constexpr int64_t kKeepMetricsNs = 300 * kNsPerSecond;
  // How long after that who was known comes before who never was.
  static constexpr int64_t kFamiliarNs = 600 * kNsPerSecond;
  static constexpr int64_t kStrangersPerSecond = 10;
  static constexpr int64_t kMaxStrangers = 50;
  static constexpr size_t kMaxKept = 4096;
  static constexpr size_t kMaxTokenBytes = 16 << 10;

  // Both references outlive this; `server` is nobody else's. A caller with the token that stands in
  // `own_token_file` may read everything, without a question to the API server: an agent's pod has
  // a token of its own there, which only a process with that pod's rights can read.
  KubeAuthorizer(k8s::ApiServer& server, const Clock& clock, std::string own_token_file = "")
      : server_(server), clock_(clock), own_token_file_(std::move(own_token_file)) {}

  Result<bool> Recall(const net::HttpRequest& request) const override;
  // kPermission: no token, or one that is nobody's. kUnavailable: the API server does not answer,
  // or not to this program, which may not ask; or too many unknown tokens came.
  Status Identify(const net::HttpRequest& request) const override;
  // The same, and kPermission where a right is missing.
  Result<profile::Selector> Narrow(const net::HttpRequest& request,
                                   const profile::Selector& asked) const override;
  Status ReadMetrics(const net::HttpRequest& request) const override;

 private:
  template <typename T>
  struct Kept {
    T value;
    int64_t until_ns;
  };
  template <typename T, typename Ask>
  Result<T> Remember(std::map<std::string, Kept<T>>& kept, const std::string& key, Ask ask,
                     const std::function<bool(const T&)>& granted, int64_t keep_ns = kKeepNs) const;
  template <typename T>
  std::optional<T> Find(const std::map<std::string, Kept<T>>& kept, const std::string& key) const;
  Result<k8s::UserInfo> UserOf(const std::string& token) const;
  // Whether the token is that of this program itself.
  bool IsOwn(const std::string& token) const;
  bool IsFamiliar(const std::string& digest) const;
  // Whether one more may be asked about; counts it.
  bool TakesStranger() const;
  Result<bool> MayRead(const std::string& token, const k8s::UserInfo& user, bool of_hosts,
                       const std::string& namespace_name) const;

  k8s::ApiServer& server_;
  const Clock& clock_;
  const std::string own_token_file_;  // empty: none
  mutable std::mutex asking_;         // the API server; taken before mutex_
  mutable std::mutex mutex_;          // what follows; HTTP workers meet here, a few a second
  // The moment from which on a bucket of kMaxStrangers fills.
  mutable int64_t strangers_from_ns_ = std::numeric_limits<int64_t>::min();
  mutable std::map<std::string, Kept<std::optional<k8s::UserInfo>>> users_;  // by a token's digest
  mutable std::map<std::string, Kept<bool>> rights_;  // by that, and what is read
};

}  // namespace firetower::service
