// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/installation.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "cli/cluster/condition.h"
#include "cli/cluster/hub.h"
#include "k8s/client/exec_plugin.h"
#include "k8s/watch/object_meta.h"

namespace firetower::cli {
namespace {

using query::Check;
using query::CheckStatus;

// The name and labels in the chart and in k8s/manifests.
constexpr std::string_view kAgents = "firetower-agent";
constexpr std::string_view kAgentLabels =
    "app.kubernetes.io/name=firetower,app.kubernetes.io/component=agent";
constexpr std::string_view kAgentEvents =
    "involvedObject.kind=DaemonSet,involvedObject.name=firetower-agent,reason=FailedCreate";

// The controller retries at least every 1000 s, and its Event has the time of the last refusal, so
// an older refusal was resolved. Events are kept for an hour.
constexpr int64_t kRefusalNs = 20 * 60 * kNsPerSecond;

constexpr std::string_view kLabel = "pod-security.kubernetes.io/enforce";
// The beginning of Pod Security's message about a pod.
constexpr std::string_view kViolates = "violates PodSecurity";

constexpr int kForbidden = 403;
constexpr int kNotFound = 404;

std::string LabelCommand(const std::string& name_space) {
  return fmt::format("kubectl label --overwrite namespace {} {}=privileged", name_space, kLabel);
}

// Returns the remedy for pods that Pod Security refused. If the label admits them by now, the
// controller retries by itself after a back-off of up to 1000 s.
std::string LetIn(const std::string& name_space, const Outcome<std::string>& enforced) {
  if (!enforced || *enforced != "privileged") return LabelCommand(name_space);
  return fmt::format(
      "kubectl -n {} rollout restart daemonset {}, or wait: the label admits them now, and the "
      "cluster retries within about 17 minutes",
      name_space, kAgents);
}

Check Skipped(std::string name, const Failure& failure) {
  return {std::move(name), CheckStatus::kSkip,
          failure.why.empty() ? failure.what : fmt::format("{}: {}", failure.what, failure.why),
          failure.fix};
}

bool IsOfPodSecurity(const std::string& refusal) {
  return refusal.find(kViolates) != std::string::npos;
}

// Tells whether all pods were created. False for a DaemonSet that the controller has not processed
// yet.
bool AreAllThere(const AgentsSeen& agents) {
  return agents.is_looked_at && agents.desired > 0 && agents.current >= agents.desired;
}

// Judges a namespace without the label, which has the cluster's default. The default cannot be
// read; it shows only when pods are created.
Check JudgeDefault(const std::string& name_space, const Outcome<AgentsSeen>& agents) {
  std::string message = fmt::format("namespace {} has no label {}, and ", name_space, kLabel);
  if (!agents && agents.failure().http_status != kNotFound) {
    Check skipped = Skipped("pod-security", agents.failure());
    skipped.message =
        message + "the agents would show the cluster's default: " + std::move(skipped.message);
    return skipped;
  }
  if (agents && AreAllThere(*agents)) {
    return {"pod-security", CheckStatus::kOk,
            std::move(message) + "the cluster's default admits the agents' pods", ""};
  }
  if (!agents) {
    message += "where the cluster enforces a standard by default, the agents' pods are refused";
  } else if (IsOfPodSecurity(agents->refusal)) {
    message += "the standard that the cluster enforces by default refuses the agents' pods";
  } else if (agents->is_looked_at && agents->desired > 0 && agents->refusal.empty()) {
    message += "agents' pods are missing: the cluster may enforce a standard by default";
  } else {
    message += "it is not known yet whether the cluster's default admits the agents' pods";
  }
  return {"pod-security", CheckStatus::kWarn, std::move(message), LabelCommand(name_space)};
}

}  // namespace

Check JudgePodSecurity(const std::string& name_space, const Outcome<std::string>& enforced,
                       const Outcome<AgentsSeen>& agents) {
  if (!enforced) {
    if (enforced.failure().http_status != kNotFound)
      return Skipped("pod-security", enforced.failure());
    return {"pod-security", CheckStatus::kWarn, fmt::format("there is no namespace {}", name_space),
            fmt::format("if Firetower is in another namespace, give it with --hub-namespace; else "
                        "kubectl create namespace {0} && {1}, and install it",
                        name_space, LabelCommand(name_space))};
  }
  if (enforced->empty()) return JudgeDefault(name_space, agents);
  if (*enforced == "privileged") {
    return {"pod-security", CheckStatus::kOk,
            fmt::format("namespace {} enforces \"privileged\", which admits the agents' pods",
                        name_space),
            ""};
  }
  // Pods from before the label stay, and an API server may exempt namespaces, which cannot be read.
  if (agents && AreAllThere(*agents)) {
    return {"pod-security", CheckStatus::kWarn,
            fmt::format(
                "namespace {} enforces the Pod Security Standard \"{}\": running pods of agents "
                "stay, but new ones are refused unless the cluster exempts this namespace",
                name_space, *enforced),
            LabelCommand(name_space)};
  }
  return {"pod-security", CheckStatus::kFail,
          fmt::format("namespace {} enforces the Pod Security Standard \"{}\", which refuses the "
                      "agents' pods: they have hostPID, hostPath and added capabilities",
                      name_space, *enforced),
          LabelCommand(name_space)};
}

Check JudgeAgents(const std::string& name_space, const Outcome<std::string>& enforced,
                  const Outcome<AgentsSeen>& agents) {
  if (!agents) {
    if (agents.failure().http_status != kNotFound) return Skipped("agents", agents.failure());
    return {"agents", CheckStatus::kWarn,
            fmt::format("namespace {} has no DaemonSet {}", name_space, kAgents),
            "install Firetower (docs/install.md), or give its namespace with --hub-namespace"};
  }
  const AgentsSeen& seen = *agents;
  const std::string describe =
      fmt::format("kubectl -n {} describe daemonset {}", name_space, kAgents);
  if (!seen.is_looked_at) {
    return {"agents", CheckStatus::kWarn,
            fmt::format("the cluster has not processed DaemonSet {} yet", kAgents),
            "try again in a few seconds; " + describe};
  }
  if (seen.desired == 0) {
    return {"agents", CheckStatus::kWarn, fmt::format("no node fits DaemonSet {}", kAgents),
            "check agent.nodeSelector, agent.affinity and agent.tolerations; " + describe};
  }
  if (seen.current < seen.desired) {
    const bool by_label = IsOfPodSecurity(seen.refusal);
    return {"agents", CheckStatus::kFail,
            fmt::format("{} of {} nodes have an agent's pod{}{}", seen.current, seen.desired,
                        seen.refusal.empty() ? "" : ": ", seen.refusal),
            by_label ? LetIn(name_space, enforced) : describe};
  }
  if (seen.ready < seen.desired) {
    return {"agents", seen.ready == 0 ? CheckStatus::kFail : CheckStatus::kWarn,
            fmt::format("{} of {} agents are ready{}{}", seen.ready, seen.desired,
                        seen.trouble.empty() ? "" : "; ", seen.trouble),
            fmt::format("kubectl -n {} describe pods -l {}", name_space, kAgentLabels)};
  }
  return {"agents", CheckStatus::kOk,
          fmt::format("{} of {} agents are ready", seen.ready, seen.desired), ""};
}

namespace {

// Returns the controller's last error about pods that it could not create for the DaemonSet with
// that uid (an earlier one may have had the same name); "" if events may not be read.
std::string RefusalOf(KubeClient& kube, const std::string& name_space, std::string_view uid) {
  const Outcome<std::vector<k8s::Node>> events =
      kube.List(kEvents, name_space, {"message", "lastTimestamp", "metadata.creationTimestamp"}, "",
                fmt::format("{},involvedObject.uid={}", kAgentEvents, uid));
  if (!events) return "";
  int64_t newest_ns = Clock::System().WallNs() - kRefusalNs;
  std::string message;
  for (const k8s::Node& event : *events) {
    std::string_view time = k8s::TextAt(event, {"lastTimestamp"});
    if (time.empty()) time = k8s::TextAt(event, {"metadata", "creationTimestamp"});
    const std::optional<int64_t> time_ns = k8s::ParseTimestampNs(time);
    if (!time_ns || *time_ns < newest_ns) continue;
    newest_ns = *time_ns;
    message = k8s::TextAt(event, {"message"});
  }
  return message;
}

// Why a container waits, else why the pod has no node; "" when it is ready.
std::string TroubleOf(const k8s::Node& pod) {
  if (ConditionOf(pod, "Ready").status == "True") return "";
  const k8s::Node* status = pod.Find("status");
  const k8s::Node* containers = status == nullptr ? nullptr : status->Find("containerStatuses");
  if (containers != nullptr) {
    for (const k8s::Node& container : containers->items) {
      const std::string_view reason = k8s::TextAt(container, {"state", "waiting", "reason"});
      const std::string_view message = k8s::TextAt(container, {"state", "waiting", "message"});
      if (!reason.empty())
        return fmt::format("{}{}{}", reason, message.empty() ? "" : ": ", message);
    }
  }
  const Condition scheduled = ConditionOf(pod, "PodScheduled");
  if (scheduled.status == "False")
    return fmt::format("{}: {}", scheduled.reason, scheduled.message);
  const std::string_view phase = k8s::TextAt(pod, {"status", "phase"});
  if (phase == "Running") return "its probe says that it is not ready";
  return fmt::format("its phase is {}", phase.empty() ? "not known" : phase);
}

std::string FirstTrouble(KubeClient& kube, const std::string& name_space) {
  const Outcome<std::vector<k8s::Node>> pods =
      kube.List(kPods, name_space,
                {"status.phase", "status.conditions", "status.containerStatuses.state.waiting"},
                kAgentLabels);
  if (!pods) return "";
  for (const k8s::Node& pod : *pods) {
    const std::string trouble = TroubleOf(pod);
    if (!trouble.empty())
      return fmt::format("{}: {}", k8s::TextAt(pod, {"metadata", "name"}), trouble);
  }
  return "";
}

Outcome<AgentsSeen> LookAtAgents(KubeClient& kube, const std::string& name_space) {
  const Outcome<k8s::Node> set =
      kube.Get(kDaemonSets, name_space, kAgents,
               {"metadata.generation", "status.observedGeneration", "status.desiredNumberScheduled",
                "status.currentNumberScheduled", "status.numberReady"});
  if (!set) return set.failure();
  AgentsSeen seen;
  seen.is_looked_at = k8s::IntegerAt(*set, {"status", "observedGeneration"}) >=
                      k8s::IntegerAt(*set, {"metadata", "generation"});
  seen.desired = k8s::IntegerAt(*set, {"status", "desiredNumberScheduled"});
  seen.current = k8s::IntegerAt(*set, {"status", "currentNumberScheduled"});
  seen.ready = k8s::IntegerAt(*set, {"status", "numberReady"});
  if (seen.current < seen.desired) {
    seen.refusal = RefusalOf(kube, name_space, k8s::TextAt(*set, {"metadata", "uid"}));
  } else if (seen.ready < seen.desired) {
    seen.trouble = FirstTrouble(kube, name_space);
  }
  return seen;
}

}  // namespace

Outcome<std::vector<Check>> CheckInstallation(KubeClient& kube, const std::string& name_space) {
  k8s::FieldSet label;
  label.Keep({"metadata", "labels", kLabel});
  const Outcome<k8s::Node> object = kube.Get(kNamespaces, "", name_space, label);
  Outcome<std::string> enforced = std::string();
  if (object) {
    enforced = std::string(k8s::TextAt(*object, {"metadata", "labels", kLabel}));
  } else if (object.failure().http_status == kForbidden ||
             object.failure().http_status == kNotFound) {
    enforced = object.failure();
  } else {
    return object.failure();
  }
  const Outcome<AgentsSeen> agents = LookAtAgents(kube, name_space);
  return std::vector<Check>{JudgePodSecurity(name_space, enforced, agents),
                            JudgeAgents(name_space, enforced, agents)};
}

Check JudgeSilentHub(KubeClient& kube, const std::string& name_space, const Failure& failure) {
  if (failure.http_status == kNotFound) {
    return {"hub", CheckStatus::kSkip,
            "it has no store (store.url): it keeps only the status of policies",
            "set store.url to query profiles (docs/install.md)"};
  }
  // By its Deployment: a hub that is installed and has no pod, or does not answer, is a fault.
  const Outcome<std::vector<k8s::Node>> hubs =
      kube.List(kDeployments, name_space, {"metadata.name"}, kHubLabel);
  if (hubs && hubs->empty() && failure.http_status == 0) {
    return {
        "hub", CheckStatus::kSkip, fmt::format("no hub is installed in namespace {}", name_space),
        "if there should be one, set hub.enabled=true, or give its namespace with --hub-namespace"};
  }
  return {"hub", CheckStatus::kFail,
          failure.why.empty() ? failure.what : fmt::format("{}: {}", failure.what, failure.why),
          failure.fix};
}

}  // namespace firetower::cli
