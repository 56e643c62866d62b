// SPDX-License-Identifier: Apache-2.0
// The status of a policy as a value of constant size. Only the hub writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "k8s/document/node.h"

namespace firetower::k8s {

inline constexpr size_t kMaxFailures = 10;
inline constexpr size_t kMaxConditions = 8;
inline constexpr size_t kMaxConditionMessageChars = 1024;

inline constexpr std::string_view kAcceptedCondition = "Accepted";  // valid beyond the schema
inline constexpr std::string_view kProgrammedCondition =
    "Programmed";                                                   // every desired node runs it
inline constexpr std::string_view kDegradedCondition = "Degraded";  // fails, or is cut, somewhere
inline constexpr std::string_view kCompleteCondition = "Complete";  // activeDeadlineSeconds passed
inline constexpr std::string_view kReadyCondition = "Ready";        // the sum of the others

enum class ConditionStatus : uint8_t { kTrue, kFalse, kUnknown };

// metav1.Condition.
struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;
  std::string message;
  int64_t observed_generation = 0;
  int64_t last_transition_ns = 0;  // Unix time, whole seconds

  bool operator==(const Condition&) const = default;
};

struct NodeCounts {
  int64_t desired = 0;  // where pods match, and nodeSelector takes the node
  int64_t ready = 0;    // run this generation
  int64_t failed = 0;
  int64_t skipped = 0;  // pods match, but nodeSelector does not take the node
  int64_t stale = 0;    // their last report is for another generation

  bool operator==(const NodeCounts&) const = default;
};

struct NodeFailure {
  std::string node;
  std::string reason;
  std::string message;

  bool operator==(const NodeFailure&) const = default;
};

struct PolicyStatus {
  int64_t observed_generation = 0;
  std::vector<Condition> conditions;
  NodeCounts nodes;
  int64_t pods_matched = 0;
  int64_t pods_profiled = 0;
  int64_t captures = 0;
  int64_t last_capture_ns = 0;  // Unix time, whole seconds; 0: none
  std::vector<NodeFailure> failures;

  // Returns nullptr when there is none.
  const Condition* Find(std::string_view type) const;
  bool operator==(const PolicyStatus&) const = default;
};

// Reads an object's "status"; a missing part is the same as in an empty status.
PolicyStatus ReadPolicyStatus(const Node& object);

// Returns a merge patch of the status subresource. It applies only to the object's version
// `resource_version`: after an edit or another write the server answers 409.
std::string StatusPatchJson(const PolicyStatus& status, std::string_view resource_version);

}  // namespace firetower::k8s
