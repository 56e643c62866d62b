// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/trigger/firing.h"
#include "daemon/trigger/metric_source.h"
#include "daemon/trigger/rule.h"

namespace firetower::daemon {

// A container, with the number of OOM kills of its tasks since it is watched.
struct WatchedTarget {
  std::shared_ptr<const Container> container;
  double kills = 0;
};

// One armed policy: evaluates its rules on the node and on each of its containers, and decides when
// it may fire. Has no input but its arguments and the readings. Bounded by its containers. A
// subject's last capture is forgotten when its cooldown is over.
//
// A condition fires by itself: with AnyOf each rule is one, with AllOf all rules together are one.
class PolicyTrigger {
 public:
  explicit PolicyTrigger(ArmedPolicy policy);

  // Sets its containers, in a stable order. The state of missing containers is dropped.
  void SetTargets(const std::vector<const WatchedTarget*>& targets);

  // Replaces the policy by an edited version with the same trigger.
  void SetPolicy(ArmedPolicy policy) { policy_ = std::move(policy); }

  // Takes over the last hour's captures of the same policy before it was changed.
  void Inherit(const PolicyTrigger& before);
  // Takes over captures from before this process; monotonic times, in order.
  void Inherit(const std::vector<int64_t>& captures_ns);

  std::vector<Firing> Evaluate(MetricSource& source, int64_t now_ns, int64_t wall_ns);

  const ArmedPolicy& policy() const { return policy_; }
  // The counts of the last Evaluate.
  const TriggerCounts& counts() const { return counts_; }
  const std::vector<Rule>& rules() const { return rules_; }
  bool WantsKills() const;
  // Tells whether some rule is about the node, or some container is there for the rules.
  bool MayFire() const;
  size_t captures() const { return captures_ns_.size(); }  // of the last hour, about
  bool CapturedAfter(int64_t ns) const { return !captures_ns_.empty() && captures_ns_.back() > ns; }
  // Tells, after Evaluate, whether no target here can ever have a reading for the rule.
  bool Unserved(size_t rule) const { return unserved_[rule]; }

 private:
  struct Condition {
    std::vector<size_t> rules;
    bool instant = false;
    bool of_node = false;  // on the node alone
  };
  struct ConditionState {
    bool armed = true;
    bool held = false;
    uint8_t counted = 0;  // reasons already counted since it began to hold
  };
  struct Target {
    const WatchedTarget* watched = nullptr;  // nullptr: the node
    std::vector<RuleState> rules;            // by place in rules_
    std::vector<ConditionState> conditions;  // by place in conditions_
  };
  struct Candidate {
    Target* target;
    size_t condition;
  };
  struct Subject {
    int64_t capture_end_ns = 0;
    int64_t cooldown_end_ns = 0;
  };

  Target NewTarget(const WatchedTarget* watched) const;
  void Read(MetricSource& source, int64_t now_ns);
  void Update(Target& target, size_t rule, const MetricReading& reading);
  void Judge(Target& target, size_t condition, std::vector<Candidate>& candidates);
  const RuleState& StateOf(const Target& target, size_t rule) const;
  std::string SubjectOf(const Target& target) const;
  std::optional<Suppressed> Blocked(const std::string& subject, int64_t now_ns);
  void Suppress(Suppressed reason, ConditionState& state);
  Firing Fire(const std::vector<Candidate>& candidates, int64_t now_ns, int64_t wall_ns);
  std::vector<std::shared_ptr<const Container>> Captured(const std::vector<Candidate>& held) const;

  ArmedPolicy policy_;
  const k8s::TriggerSpec spec_;
  std::vector<Rule> rules_;
  std::vector<bool> unserved_;  // by place in rules_
  std::vector<Condition> conditions_;
  Target node_;
  std::vector<Target> targets_;
  std::unordered_map<std::string, Subject> subjects_;
  std::deque<int64_t> captures_ns_;  // of the last hour
  TriggerCounts counts_;
};

}  // namespace firetower::daemon
