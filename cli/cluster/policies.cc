// SPDX-License-Identifier: Apache-2.0
// policies: those of the cluster with their status, or what each does about one pod.
#include <fmt/core.h>
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/cluster/condition.h"
#include "cli/cluster/kube_client.h"
#include "cli/cluster/verdict.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/term/table.h"
#include "k8s/client/exec_plugin.h"
#include "k8s/watch/object_meta.h"
#include "query/select/kinds.h"

namespace firetower::cli {
namespace {

using k8s::TextAt;

struct Found {
  bool cluster = false;
  k8s::Node object;
};

k8s::FieldSet Fields() {
  k8s::FieldSet fields = k8s::PolicyObjectFields();
  fields.Keep({"status"});
  return fields;
}

// Reads both kinds; a kind that may not be read is reported and omitted.
Outcome<std::vector<Found>> ReadPolicies(const Context& context, KubeClient& kube,
                                         std::string_view name_space) {
  std::vector<Found> found;
  std::optional<Failure> refused;
  for (const bool cluster : {false, true}) {
    const KubeResource& resource = cluster ? kClusterProfilingPolicies : kProfilingPolicies;
    Outcome<std::vector<k8s::Node>> objects = kube.List(resource, name_space, Fields());
    if (!objects) {
      if (objects.failure().http_status != 403 || refused) return objects.failure();
      refused = objects.failure();
      continue;
    }
    for (k8s::Node& object : *objects) found.push_back({cluster, std::move(object)});
  }
  if (refused) {
    std::fprintf(stderr, "%s: warning: omitted, %s\n", context.program.c_str(),
                 refused->what.c_str());
  }
  return found;
}

std::string_view KindOf(bool cluster) {
  return cluster ? "ClusterProfilingPolicy" : "ProfilingPolicy";
}

// "shop/checkout"; the cluster kind has no namespace.
std::string NameOf(const k8s::Node& object) {
  const std::string_view name_space = TextAt(object, {"metadata", "namespace"});
  const std::string_view name = TextAt(object, {"metadata", "name"});
  return name_space.empty() ? std::string(name) : fmt::format("{}/{}", name_space, name);
}

std::string OrDash(std::string_view text) { return text.empty() ? "-" : std::string(text); }

// Formats an age like kubectl, with the largest unit only.
std::string AgeOf(const k8s::Node& object, int64_t now_ns) {
  const std::optional<int64_t> created =
      k8s::ParseTimestampNs(TextAt(object, {"metadata", "creationTimestamp"}));
  if (!created) return "-";
  const int64_t seconds = std::max<int64_t>((now_ns - *created) / kNsPerSecond, 0);
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 7200) return fmt::format("{}m", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", JsonEscape(text)); }

Failure NoPolicies(std::string_view name_space) {
  return {ExitCode::kNoData, "no policies",
          name_space == "*"
              ? "the cluster has none"
              : fmt::format("neither namespace {} nor the cluster has any", name_space),
          "'record' creates one that ends by itself; docs/examples has more"};
}

Outcome<int> ListPolicies(const Context& context, const std::vector<Found>& found) {
  const std::string output = context.args.Get("output");
  const int64_t now_ns = Clock::System().WallNs();
  Table table({{"NAMESPACE", false, true},
               {"NAME", false, true},
               {"MODE"},
               {"PODS", true},
               {"NODES", true},
               {"DESIRED", true},
               {"PROGRAMMED"},
               {"REASON", false, true},
               {"AGE", true}});
  std::string names;
  std::string json;
  for (const Found& one : found) {
    const k8s::Node& object = one.object;
    const Condition programmed = ConditionOf(object, "Programmed");
    const std::string_view pods = TextAt(object, {"status", "pods", "matched"});
    const std::string_view nodes = TextAt(object, {"status", "nodes", "ready"});
    const std::string_view desired = TextAt(object, {"status", "nodes", "desired"});
    const Style style = programmed.status == "True"    ? Style::kGood
                        : programmed.status == "False" ? Style::kWarn
                                                       : Style::kPlain;
    table.AddRow({OrDash(TextAt(object, {"metadata", "namespace"})),
                  std::string(TextAt(object, {"metadata", "name"})),
                  OrDash(TextAt(object, {"spec", "mode"})),
                  OrDash(pods),
                  OrDash(nodes),
                  OrDash(desired),
                  {OrDash(programmed.status), style},
                  OrDash(programmed.reason),
                  AgeOf(object, now_ns)});
    names += NameOf(object) + "\n";
    json += fmt::format(
        R"({}{{"kind":"{}","namespace":{},"name":{},"mode":{},"pods":{},"nodes":{},"desired":{},)"
        R"("programmed":{},"reason":{},"message":{}}})",
        json.empty() ? "" : ",", KindOf(one.cluster),
        Quoted(TextAt(object, {"metadata", "namespace"})),
        Quoted(TextAt(object, {"metadata", "name"})), Quoted(TextAt(object, {"spec", "mode"})),
        pods.empty() ? "null" : pods, nodes.empty() ? "null" : nodes,
        desired.empty() ? "null" : desired, Quoted(programmed.status), Quoted(programmed.reason),
        Quoted(programmed.message));
  }
  if (output == "json") return Emit(fmt::format("{{\"policies\":[{}]}}\n", json), ExitCode::kOk);
  if (output == "name") return Emit(names, ExitCode::kOk);
  return Emit(table.Render(context.terminal, !context.args.Has("no-headers"), output == "wide"),
              ExitCode::kOk);
}

// Returns the labels if they may be read; otherwise they stay unknown.
std::optional<k8s::Labels> ReadLabels(KubeClient& kube, const KubeResource& resource,
                                      const std::string& name) {
  if (name.empty()) return std::nullopt;
  Outcome<k8s::Node> object = kube.Get(resource, "", name, {"metadata.labels"});
  if (!object) return std::nullopt;
  return LabelsOf(*object);
}

Outcome<PodFacts> ReadFacts(KubeClient& kube, const std::string& pod) {
  Outcome<k8s::Node> object = kube.Get(kPods, "", pod, PodFactFields());
  if (!object) return object.failure();
  Result<PodFacts> facts = PodFactsOf(*object);
  if (!facts)
    return Failure{ExitCode::kFailure, fmt::format("pod '{}' cannot be read", pod),
                   facts.error().message(),
                   fmt::format("check the cluster's object: kubectl get pod {} -n {} -o yaml", pod,
                               kube.namespace_name())};
  facts->namespace_labels = ReadLabels(kube, kNamespaces, kube.namespace_name());
  facts->node_labels = ReadLabels(kube, kNodes, facts->pod.node);
  if (facts->pod.node.empty()) return *std::move(facts);
  Outcome<k8s::Node> report = kube.Get(kProfilingNodes, "", facts->pod.node, NodeRowFields());
  if (report) {
    facts->report = NodeReport::kRead;
    facts->rows = NodeRowsOf(*report);
  } else if (report.failure().http_status == 404) {
    facts->report = NodeReport::kAbsent;
  }
  return *std::move(facts);
}

Style StyleOf(Answer answer) {
  if (answer == Answer::kYes) return Style::kGood;
  return answer == Answer::kNo ? Style::kPlain : Style::kWarn;
}

Outcome<int> ExplainPod(const Context& context, KubeClient& kube, const std::string& name) {
  Outcome<PodFacts> facts = ReadFacts(kube, name);
  if (!facts) return facts.failure();
  Outcome<std::vector<Found>> found = ReadPolicies(context, kube, kube.namespace_name());
  if (!found) return found.failure();
  if (found->empty()) return NoPolicies(kube.namespace_name());
  Table table({{"POLICY", false, true}, {"PROFILED"}, {"CONTAINERS", false, true}, {"WHY"}});
  std::string names;
  std::string json;
  for (const Found& one : *found) {
    Result<k8s::PolicyObject> policy = k8s::ReadPolicyObject(one.object, one.cluster);
    if (!policy) continue;
    const Verdict verdict = Judge(*policy, *facts, Clock::System().WallNs());
    const std::string containers = fmt::format("{}", fmt::join(verdict.containers, ","));
    table.AddRow({NameOf(one.object),
                  {std::string(AnswerName(verdict.answer)), StyleOf(verdict.answer)},
                  OrDash(containers),
                  Printable(verdict.why, context.terminal.utf8)});
    if (verdict.answer == Answer::kYes) names += NameOf(one.object) + "\n";
    std::string list;
    for (const std::string& container : verdict.containers)
      list += (list.empty() ? "" : ",") + Quoted(container);
    json += fmt::format(
        R"({}{{"kind":"{}","namespace":{},"name":{},"profiled":"{}","containers":[{}],"why":{}}})",
        json.empty() ? "" : ",", KindOf(one.cluster),
        Quoted(TextAt(one.object, {"metadata", "namespace"})),
        Quoted(TextAt(one.object, {"metadata", "name"})), AnswerName(verdict.answer), list,
        Quoted(verdict.why));
  }
  const std::string output = context.args.Get("output");
  if (output == "json") {
    return Emit(fmt::format(R"({{"pod":{{"namespace":{},"name":{},"node":{}}},"policies":[{}]}})"
                            "\n",
                            Quoted(facts->pod.namespace_name), Quoted(facts->pod.name),
                            Quoted(facts->pod.node), json),
                ExitCode::kOk);
  }
  if (output == "name") return Emit(names, ExitCode::kOk);
  // A reason that ends in "…" explains nothing.
  return Emit(table.Render(context.terminal, !context.args.Has("no-headers"), true), ExitCode::kOk);
}

}  // namespace

Outcome<int> RunPolicies(const Context& context) {
  Outcome<std::shared_ptr<KubeClient>> kube = ClusterOf(context);
  if (!kube) return kube.failure();
  const bool all = context.args.Has("all-namespaces");
  if (context.args.Has("pod")) {
    const std::string pod = context.args.Get("pod");
    if (all || !query::IsObjectName(pod)) {
      return BadFlag(
          context,
          Error(ErrorCode::kInvalid,
                all ? "--pod needs one namespace: give -n instead of -A"
                    : fmt::format("--pod is '{}': that is not a valid name of a pod", pod)));
    }
    return ExplainPod(context, **kube, pod);
  }
  const std::string name_space = all ? "*" : (*kube)->namespace_name();
  Outcome<std::vector<Found>> found = ReadPolicies(context, **kube, name_space);
  if (!found) return found.failure();
  if (found->empty()) return NoPolicies(name_space);
  return ListPolicies(context, *found);
}

}  // namespace firetower::cli
