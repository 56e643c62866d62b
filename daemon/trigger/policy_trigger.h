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

// A container and how often its tasks were killed for memory since it is watched.
struct WatchedTarget {
  std::shared_ptr<const Container> container;
  double kills = 0;
};

// One armed policy: its rules on the node and on each container it takes, and when it may fire.
// Pure but for the readings it asks for. Bounded by the containers it is given; a subject's last
// capture is forgotten when its cooldown is over.
//
// A condition is what fires by itself: with AnyOf each rule, with AllOf all of them together.
class PolicyTrigger {
 public:
  explicit PolicyTrigger(ArmedPolicy policy);

  // The containers that it takes now, in a steady order. State goes with those that are not there.
  void SetTargets(const std::vector<const WatchedTarget*>& targets);

  // The same policy with the same trigger: what else it says was edited.
  void SetPolicy(ArmedPolicy policy) { policy_ = std::move(policy); }

  // Takes over the hour's captures of the same policy before it was changed.
  void Inherit(const PolicyTrigger& before);
  // The same of before this process; monotonic times, in order.
  void Inherit(const std::vector<int64_t>& captures_ns);

  std::vector<Firing> Evaluate(MetricSource& source, int64_t now_ns, int64_t wall_ns);

  const ArmedPolicy& policy() const { return policy_; }
  // Counts of the last Evaluate.
  const TriggerCounts& counts() const { return counts_; }
  const std::vector<Rule>& rules() const { return rules_; }
  bool WantsKills() const;
  // Some of its rules are about the node, or somebody is there whom they are about.
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
