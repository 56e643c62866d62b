// SPDX-License-Identifier: Apache-2.0
#include "query/select/selector.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "profile/selector.h"
#include "query/select/kinds.h"

namespace firetower::query {
namespace {

using profile::Matcher;
using profile::MatchOp;
using profile::Selector;

// The API server's names for generateName: 58 bytes of it, and five characters of its own.
constexpr size_t kMaxGeneratedBaseBytes = 58;
constexpr std::string_view kGeneratedEnd = "[a-z0-9]{5}";
// An indexed Job's pods have their index. CronJobs put the minutes since 1970 there in the names of
// their Jobs, which are eight digits since 1989: no index, as no Job counts ten million pods.
constexpr std::string_view kIndex = "([0-9]{1,7}-)?";
constexpr size_t kMinuteDigits = 8;

struct Known {
  std::string_view label;
  MatchOp op;
  std::string value;
};

// Escapes an object's name. Among the allowed characters, only dots are special in a regular
// expression.
std::string Escaped(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '.' ? "[.]" : std::string(1, c);
  return out;
}

// The CronJob that a Job may be of by its name, "" when by none.
std::string_view CronJobOf(std::string_view job) {
  const size_t dash = job.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return "";
  const std::string_view digits = job.substr(dash + 1);
  const bool is_minutes = digits.size() >= kMinuteDigits &&
                          digits.find_first_not_of("0123456789") == std::string_view::npos;
  return is_minutes ? job.substr(0, dash) : "";
}

// A CronJob's Job shows by its creation time (k8s/pods/workload.h), which is unknown here: a date
// at the end of a name has eight digits as well. Either workload is accepted, because the pods'
// names contain the digits.
Known WorkloadOfJob(std::string_view job) {
  const std::string_view cron_job = CronJobOf(job);
  if (cron_job.empty()) return {"workload", MatchOp::kEqual, std::string(job)};
  return {"workload", MatchOp::kRegex, fmt::format("{}|{}", Escaped(cron_job), Escaped(job))};
}

// Profiles name the workload at the top: not the ReplicaSet of a Deployment and not the Job of a
// CronJob, whose pods are known by the names that their controllers give them. A Job's are known by
// both: job/a and job/a-2 have pods whose names look the same.
std::vector<Known> KnownBy(const NamedObject& object) {
  const std::string_view kind = object.kind->kind;
  const std::string name(object.name);
  if (kind == "Pod") return {{"pod", MatchOp::kEqual, name}};
  if (kind == "Node") return {{"node", MatchOp::kEqual, name}};
  if (kind == "Namespace") return {{"namespace", MatchOp::kEqual, name}};
  const std::string base = Escaped((name + "-").substr(0, kMaxGeneratedBaseBytes));
  if (kind == "ReplicaSet")
    return {{"pod", MatchOp::kRegex, fmt::format("{}{}", base, kGeneratedEnd)}};
  if (kind == "Job") {
    return {WorkloadOfJob(name),
            {"pod", MatchOp::kRegex, fmt::format("{}{}{}", base, kIndex, kGeneratedEnd)}};
  }
  return {{"workload", MatchOp::kEqual, name}};
}

Error Wrong(std::string_view text, std::string_view why, std::string_view instead) {
  return {ErrorCode::kInvalid, fmt::format("'{}': {}; {}", text, why, instead)};
}

constexpr std::string_view kInstead =
    "give a workload, pod, node or namespace, such as deployment/checkout, pod/web-0 or "
    "node/worker-1, or label matchers, such as '{workload=\"checkout\"}'";

// The labels of profiles. Without braces they look like labels of pods.
constexpr std::string_view kProfileLabels[] = {"namespace", "pod", "container", "node", "workload"};

Error WrongLabel(std::string_view text) {
  const std::string_view key = text.substr(0, text.find_first_of("=!~ "));
  if (std::ranges::find(kProfileLabels, key) == std::end(kProfileLabels)) {
    return Wrong(text, "profiles do not have their pods' labels (only 'record' accepts them)",
                 kInstead);
  }
  return Wrong(text, "label matchers need braces, and their values need quotes",
               fmt::format("write '{{{}=\"NAME\"}}'", key));
}

Selector With(const Selector& selector, std::string_view label, MatchOp op, std::string value) {
  Result<Matcher> matcher = Matcher::Create(std::string(label), op, std::move(value));
  return matcher ? selector.With(*std::move(matcher)) : selector;
}

}  // namespace

Result<std::string> SelectorWithin(std::string_view text, const SelectorScope& scope) {
  Selector selector;
  bool of_namespace = true;
  const bool is_object = IsNamedObject(text);
  if (is_object) {
    const Result<NamedObject> object = ParseNamedObject(text);
    if (!object) return Wrong(text, object.error().message(), kInstead);
    of_namespace = object->kind->kind != "Node";
    for (Known& known : KnownBy(*object))
      selector = With(selector, known.label, known.op, std::move(known.value));
  } else if (text.find('=') != std::string_view::npos && text.find('{') == std::string_view::npos) {
    return WrongLabel(text);
  } else {
    Result<Selector> parsed = Selector::Parse(text);
    if (!parsed) return std::string(text);
    selector = *std::move(parsed);
  }
  const bool narrow = !scope.namespace_name.empty() &&
                      (scope.is_told || (of_namespace && !selector.Mentions("namespace")));
  if (narrow) selector = With(selector, "namespace", MatchOp::kEqual, scope.namespace_name);
  if (!scope.container.empty())
    selector = With(selector, "container", MatchOp::kEqual, scope.container);
  const bool is_changed = is_object || narrow || !scope.container.empty();
  return is_changed ? selector.ToString() : std::string(text);
}

}  // namespace firetower::query
