// SPDX-License-Identifier: Apache-2.0
// The interfaces that the API needs from its program. They are called from several threads at once
// and must outlive the Api.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/query.h"

namespace firetower::query {

// Source of profiles that are not stored yet.
class LiveSource {
 public:
  virtual ~LiveSource() = default;
  // Returns a snapshot. It must not contain a profile that has reached the store.
  virtual std::vector<store::OpenProfile> OpenProfiles() const = 0;
};

class MetricsSource {
 public:
  struct Page {
    std::string content_type;
    std::string body;
  };
  virtual ~MetricsSource() = default;
  // `accept` is the request's Accept header. The source picks the format.
  virtual Page Render(std::string_view accept) const = 0;
};

// The result of a check, in rising order of severity. kSkip: not checked; only the CLI's own checks
// use it, never a server's.
enum class CheckStatus { kSkip, kOk, kWarn, kFail };
std::string_view CheckStatusName(CheckStatus status);  // "skip", "ok", "warn", "fail"

struct Check {
  std::string name;
  CheckStatus status = CheckStatus::kOk;
  std::string message;
  std::string fix;  // what to do; empty when ok
};

class DoctorSource {
 public:
  virtual ~DoctorSource() = default;
  virtual std::vector<Check> Checks() const = 0;
};

// How a policy is, in rising order of severity.
enum class PolicyHealth { kOk, kOff, kUnknown, kDegraded, kRefused };
// Returns "ok", "off" (suspended, over, or nothing to profile), "unknown", "degraded", "refused".
std::string_view PolicyHealthName(PolicyHealth health);

struct PolicyFailure {
  std::string node;
  std::string reason;  // CamelCase
  std::string message;
};

// A policy, and how it is. Counts are 0 where a server does not know them.
struct PolicyState {
  std::string kind;            // ProfilingPolicy or ClusterProfilingPolicy
  std::string namespace_name;  // empty for the cluster kind
  std::string name;
  std::string mode = {};                // "General"; empty if it could not be read
  std::vector<std::string> types = {};  // "CPU"
  PolicyHealth health = PolicyHealth::kUnknown;
  std::string reason = {};  // CamelCase
  std::string message = {};
  int64_t pods_matched = 0;
  int64_t pods_profiled = 0;
  int64_t nodes_desired = 0;
  int64_t nodes_ready = 0;
  int64_t captures = 0;
  int64_t last_capture_ns = 0;  // Unix time; 0: none
  std::vector<PolicyFailure> failures = {};
};

class PolicySource {
 public:
  virtual ~PolicySource() = default;
  virtual std::vector<PolicyState> Policies() const = 0;
};

class ReadySource {
 public:
  virtual ~ReadySource() = default;
  // Returns an empty list when the agent is sampling. Otherwise returns one line for each missing
  // part.
  virtual std::vector<std::string> NotReadyReasons() const = 0;
};

}  // namespace firetower::query
