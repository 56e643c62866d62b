// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "k8s/lease/leader_election.h"
#include "k8s/status/aggregate.h"
#include "k8s/status/write_budget.h"

namespace k8s = firetower::k8s;

namespace {

k8s::FieldSet WithIdentity(k8s::FieldSet fields) {
  for (const char* identity : {"name", "namespace", "uid", "resourceVersion"})
    fields.Keep({"metadata", identity});
  return fields;
}

// A report that was read can be written, and is then read again unchanged.
void TryReport(std::string_view text, std::vector<k8s::PolicyRow>& rows) {
  const auto node = k8s::ParseObject(text, WithIdentity(k8s::NodeReportFields()));
  if (!node) return;
  const auto report = k8s::ReadNodeReport(*node);
  if (!report) return;
  CHECK(report->policies.size() <= k8s::kMaxReportedPolicies);
  const auto again =
      k8s::ParseObject(k8s::NodeReportJson(*report), WithIdentity(k8s::NodeReportFields()));
  CHECK(again);
  const auto read = k8s::ReadNodeReport(*again);
  CHECK(read && read->policies.size() == report->policies.size());
  rows = read->policies;
}

// Whatever policy and rows: the status is within its bounds, and once it is written there is
// nothing left to write.
void TryPolicy(std::string_view text, const std::vector<k8s::PolicyRow>& rows) {
  const auto node = k8s::ParseObject(text, WithIdentity(k8s::WatchedPolicyFields()));
  if (!node) return;
  for (const bool cluster : {false, true}) {
    auto policy = k8s::ReadWatchedPolicy(*node, cluster);
    if (!policy) continue;
    std::vector<k8s::ReportedRow> reported;
    for (const k8s::PolicyRow& row : rows) reported.push_back({"node-1", &row});
    for (const bool late : {false, true}) {
      const k8s::PolicyMoment moment{int64_t{1795290207} * 1000000000, late, late, late};
      k8s::PolicyStatus status = k8s::Aggregate(*policy, reported, moment);
      CHECK(status.conditions.size() <= k8s::kMaxConditions);
      CHECK(status.failures.size() <= k8s::kMaxFailures);
      const auto patch = k8s::ParseObject(k8s::StatusPatchJson(status, "1"), {"status"});
      CHECK(patch);
      policy->status = k8s::ReadPolicyStatus(*patch);
      const k8s::PolicyStatus next = k8s::Aggregate(*policy, reported, moment);
      CHECK(k8s::ChangeOf(policy->status, next) == k8s::StatusChange::kNone);
    }
  }
}

void TryLease(std::string_view text) {
  const auto lease = k8s::ReadLease(text);
  if (!lease) return;
  k8s::LeaderElection election({.identity = "me"});
  election.Observe(*lease, 0);
  if (const auto wanted = election.Attempt(3600 * firetower::kNsPerSecond, "now")) {
    CHECK(wanted->holder == "me");
    CHECK(wanted->resource_version == lease->resource_version);
  }
}

}  // namespace

// The objects that the hub and the agents read from an API server, one of each kind.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TryLease(text);
  // A report and a policy, with a newline between them where there are both.
  const size_t cut = text.find('\n');
  std::vector<k8s::PolicyRow> rows;
  TryReport(text.substr(0, cut), rows);
  TryPolicy(cut == std::string_view::npos ? text : text.substr(cut + 1), rows);
  return 0;
}
