// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/policy_trigger.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kHourNs = 3600 * kNsPerSecond;
// The node, and what holds the samples of everything that a policy takes.
constexpr std::string_view kNodeSubject;

}  // namespace

PolicyTrigger::PolicyTrigger(ArmedPolicy policy)
    : policy_(std::move(policy)), spec_(*policy_->spec.trigger) {
  for (const k8s::TriggerRule& rule : spec_.rules) rules_.emplace_back(rule, spec_.reset_percent);
  Condition all;
  all.of_node = true;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const bool instant = rules_[i].metric == k8s::Metric::kOomKill;
    if (spec_.combine == k8s::Combine::kAnyOf)
      conditions_.push_back({{i}, instant, rules_[i].OfNode()});
    all.rules.push_back(i);
    all.of_node &= rules_[i].OfNode();
  }
  if (spec_.combine == k8s::Combine::kAllOf) conditions_.push_back(std::move(all));
  unserved_.resize(rules_.size());
  node_ = NewTarget(nullptr);
}

PolicyTrigger::Target PolicyTrigger::NewTarget(const WatchedTarget* watched) const {
  const double kills = watched == nullptr ? 0 : watched->kills;
  return {watched, std::vector<RuleState>(rules_.size(), RuleState(kills)),
          std::vector<ConditionState>(conditions_.size())};
}

void PolicyTrigger::SetTargets(const std::vector<const WatchedTarget*>& targets) {
  std::unordered_map<const WatchedTarget*, Target*> known;
  for (Target& target : targets_) known.emplace(target.watched, &target);
  std::vector<Target> now;
  now.reserve(targets.size());
  for (const WatchedTarget* watched : targets) {
    const auto found = known.find(watched);
    now.push_back(found == known.end() ? NewTarget(watched) : std::move(*found->second));
  }
  targets_ = std::move(now);
}

void PolicyTrigger::Inherit(const PolicyTrigger& before) { captures_ns_ = before.captures_ns_; }

void PolicyTrigger::Inherit(const std::vector<int64_t>& captures_ns) {
  captures_ns_.assign(captures_ns.begin(), captures_ns.end());
}

bool PolicyTrigger::WantsKills() const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [](const Rule& rule) { return rule.metric == k8s::Metric::kOomKill; });
}

bool PolicyTrigger::MayFire() const {
  return !targets_.empty() ||
         std::any_of(conditions_.begin(), conditions_.end(),
                     [](const Condition& condition) { return condition.of_node; });
}

std::vector<Firing> PolicyTrigger::Evaluate(MetricSource& source, int64_t now_ns, int64_t wall_ns) {
  counts_ = {};
  Read(source, now_ns);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < conditions_.size(); ++i) {
    if (conditions_[i].of_node) {
      Judge(node_, i, candidates);
    } else {
      for (Target& target : targets_) Judge(target, i, candidates);
    }
  }
  // Rules that hold at the same time for one subject make one capture.
  std::vector<std::pair<std::string, std::vector<Candidate>>> subjects;
  for (const Candidate& candidate : candidates) {
    std::string subject = SubjectOf(*candidate.target);
    auto found = std::find_if(subjects.begin(), subjects.end(),
                              [&](const auto& one) { return one.first == subject; });
    if (found != subjects.end()) {
      found->second.push_back(candidate);
    } else {
      subjects.emplace_back(std::move(subject), std::vector{candidate});
    }
  }
  std::vector<Firing> firings;
  for (const auto& [subject, held] : subjects) {
    const std::optional<Suppressed> reason = Blocked(subject, now_ns);
    for (const Candidate& one : held) {
      ConditionState& state = one.target->conditions[one.condition];
      if (reason) Suppress(*reason, state);
      if (!reason || *reason == Suppressed::kCaptureRunning) state.armed = false;
    }
    if (reason) continue;
    const int64_t end_ns = now_ns + spec_.capture.duration_seconds * kNsPerSecond;
    subjects_[subject] = {end_ns, end_ns + spec_.cooldown_seconds * kNsPerSecond};
    captures_ns_.push_back(now_ns);
    firings.push_back(Fire(held, now_ns, wall_ns));
  }
  return firings;
}

void PolicyTrigger::Read(MetricSource& source, int64_t now_ns) {
  for (size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    if (rule.OfNode()) {
      const MetricReading reading = source.ReadNode(rule.metric, rule.cpus, now_ns);
      unserved_[i] = reading.missing == NoReading::kNotServed;
      Update(node_, i, reading);
      continue;
    }
    size_t unserved = 0;
    for (Target& target : targets_) {
      MetricReading reading;
      if (rule.metric == k8s::Metric::kOomKill) {
        reading.value = target.watched->kills;
        reading.from_ns = reading.at_ns = now_ns;
      } else {
        reading = source.ReadContainer(*target.watched->container, rule.metric, now_ns);
      }
      if (reading.missing == NoReading::kNotServed) ++unserved;
      Update(target, i, reading);
    }
    unserved_[i] = unserved > 0 && unserved == targets_.size();
  }
}

void PolicyTrigger::Update(Target& target, size_t rule, const MetricReading& reading) {
  target.rules[rule].Update(rules_[rule], reading);
  if (target.rules[rule].fresh()) ++counts_.evaluations;
}

const RuleState& PolicyTrigger::StateOf(const Target& target, size_t rule) const {
  return rules_[rule].OfNode() ? node_.rules[rule] : target.rules[rule];
}

void PolicyTrigger::Judge(Target& target, size_t condition, std::vector<Candidate>& candidates) {
  bool holds = true;
  bool reset = false;
  for (const size_t rule : conditions_[condition].rules) {
    const RuleState& state = StateOf(target, rule);
    if (!state.fresh()) return;
    holds &= state.holds();
    reset |= state.reset();
  }
  ConditionState& state = target.conditions[condition];
  const bool instant = conditions_[condition].instant;
  if (reset || instant) state.armed = true;
  const bool begins = holds && (!state.held || instant);
  if (begins) state.counted = 0;
  state.held = holds;
  if (!holds) return;
  if (!state.armed) {
    if (begins) Suppress(Suppressed::kNotReset, state);
    return;
  }
  // The metric is the node's, but the policy has no target whose samples a capture could contain.
  if (target.watched == nullptr && targets_.empty() &&
      spec_.capture.scope != k8s::CaptureScope::kNode) {
    return;
  }
  candidates.push_back({&target, condition});
}

void PolicyTrigger::Suppress(Suppressed reason, ConditionState& state) {
  const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(reason));
  if ((state.counted & bit) != 0) return;
  state.counted = static_cast<uint8_t>(state.counted | bit);
  ++counts_.suppressed[static_cast<size_t>(reason)];
}

std::string PolicyTrigger::SubjectOf(const Target& target) const {
  if (target.watched == nullptr || spec_.capture.scope == k8s::CaptureScope::kNode)
    return std::string(kNodeSubject);
  const Container& container = *target.watched->container;
  const bool pod =
      spec_.capture.scope == k8s::CaptureScope::kPod && !container.path.pod_uid.empty();
  return pod ? container.path.pod_uid : container.root_path;
}

std::optional<Suppressed> PolicyTrigger::Blocked(const std::string& subject, int64_t now_ns) {
  std::erase_if(subjects_, [&](const auto& one) { return one.second.cooldown_end_ns <= now_ns; });
  while (!captures_ns_.empty() && captures_ns_.front() <= now_ns - kHourNs)
    captures_ns_.pop_front();
  // A capture of the node's subject has everything that the policy takes.
  std::optional<Suppressed> reason;
  for (const std::string& one : {subject, std::string(kNodeSubject)}) {
    const auto found = subjects_.find(one);
    if (found == subjects_.end()) continue;
    if (now_ns < found->second.capture_end_ns) return Suppressed::kCaptureRunning;
    reason = Suppressed::kCooldown;
  }
  if (reason) return reason;
  if (captures_ns_.size() >= static_cast<size_t>(spec_.max_captures_per_hour))
    return Suppressed::kHourlyCap;
  return std::nullopt;
}

Firing PolicyTrigger::Fire(const std::vector<Candidate>& candidates, int64_t now_ns,
                           int64_t wall_ns) {
  Firing firing;
  firing.policy = policy_;
  firing.capture = spec_.capture;
  firing.monotonic_ns = now_ns;
  firing.wall_ns = wall_ns;
  for (const Candidate& candidate : candidates) {
    for (const size_t i : conditions_[candidate.condition].rules) {
      const Rule& rule = rules_[i];
      HeldRule held{spec_.rules[i].name, rule.metric, rule.op, rule.type, 0, rule.threshold, {}};
      held.reading = StateOf(*candidate.target, i).number();
      if (!rule.OfNode()) held.container = candidate.target->watched->container;
      firing.rules.push_back(std::move(held));
    }
  }
  const Target& first = *candidates.front().target;
  if (first.watched != nullptr) firing.container = first.watched->container;
  firing.whole_node = spec_.capture.scope == k8s::CaptureScope::kNode;
  if (!firing.whole_node) firing.captured = Captured(candidates);
  ++counts_.captures;
  return firing;
}

std::vector<std::shared_ptr<const Container>> PolicyTrigger::Captured(
    const std::vector<Candidate>& held) const {
  const Target& first = *held.front().target;
  std::vector<std::shared_ptr<const Container>> captured;
  for (const Target& target : targets_) {
    const bool taken = first.watched == nullptr || SubjectOf(target) == SubjectOf(first);
    if (taken) captured.push_back(target.watched->container);
  }
  return captured;
}

}  // namespace firetower::daemon
