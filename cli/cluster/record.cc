// SPDX-License-Identifier: Apache-2.0
// record: creates a ProfilingPolicy that ends by itself, with the user's own rights, and fetches
// its result.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "cli/cluster/access.h"
#include "cli/cluster/condition.h"
#include "cli/cluster/kube_client.h"
#include "cli/cluster/target.h"
#include "cli/cluster/verdict.h"
#include "cli/commands/common.h"
#include "cli/commands/output.h"
#include "cli/term/table.h"
#include "k8s/policy/match.h"
#include "k8s/watch/object_meta.h"
#include "profile/type.h"
#include "query/select/kinds.h"

namespace firetower::cli {
namespace {

// activeDeadlineSeconds is at least a minute. A recording of more than a day should be a policy.
constexpr int64_t kLeastNs = 60 * kNsPerSecond;
constexpr int64_t kMostNs = 24 * 3600 * kNsPerSecond;
// Long enough to look at its status afterwards.
constexpr int kTtlSeconds = 600;
constexpr int64_t kLookEveryNs = 5 * kNsPerSecond;
// The newest samples are served when their slice of 5 s has ended.
constexpr int64_t kSettleNs = 7 * kNsPerSecond;
// To a hub: a window of a minute, its upload somewhere in the next, and the hub's look for new ones
// once a minute.
constexpr int64_t kSettleAtHubNs = 180 * kNsPerSecond;
constexpr int64_t kFetchWithinNs = 30 * kNsPerSecond;
constexpr int64_t kFetchAgainNs = 2 * kNsPerSecond;
// More make a selector that no server takes.
constexpr size_t kMaxPods = 500;

struct Plan {
  RecordTarget target;
  std::string container = {};  // the one that is asked for, "" for all
  int64_t for_ns = kLeastNs;
  profile::ProfileType type = {};
  int64_t frequency_hertz = 97;

  std::string Targets() const {
    if (container.empty()) return target.targets;
    const std::string_view open =
        std::string_view(target.targets).substr(0, target.targets.size() - 1);
    return fmt::format(R"({},"containers":{{"include":["{}"]}}}})", open, container);
  }

  // The policy's profile of that type.
  std::string Profile() const {
    switch (type.kind) {
      case profile::TypeKind::kOffCpu:
        return R"({"type":"OffCPU"})";
      case profile::TypeKind::kLock:
        return R"({"type":"Lock"})";
      case profile::TypeKind::kEvent:
        return fmt::format(R"({{"type":"Event","events":[{{"name":"{}","frequencyHertz":{}}}]}})",
                           type.event, frequency_hertz);
      case profile::TypeKind::kMemory:
        return R"({"type":"Memory"})";
      default:
        return fmt::format(R"({{"type":"CPU","frequencyHertz":{}}})", frequency_hertz);
    }
  }
  // Why there may be nothing.
  std::string_view Nothing() const {
    switch (type.kind) {
      case profile::TypeKind::kOffCpu:
        return "no thread of the pods waited for a millisecond meanwhile";
      case profile::TypeKind::kLock:
        return "no thread of the pods waited for a lock for a millisecond meanwhile";
      case profile::TypeKind::kEvent:
        return "the pods had no such event meanwhile, or their nodes cannot count it";
      case profile::TypeKind::kMemory:
        return "no program of the pods with an allocator that can be probed allocated meanwhile";
      default:
        return "the pods used no CPU meanwhile";
    }
  }

  std::string Body() const {
    return fmt::format(
        R"({{"apiVersion":"firetower.dev/v1alpha1","kind":"ProfilingPolicy","metadata":)"
        R"({{"generateName":"record-{}-","labels":{{"app.kubernetes.io/managed-by":"firetower"}}}},)"
        R"("spec":{{"mode":"General","general":{{"schedule":"Continuous"}},"targets":{},)"
        R"("profiles":[{}],"activeDeadlineSeconds":{},)"
        R"("ttlSecondsAfterFinished":{}}}}})",
        target.stem, Targets(), Profile(), for_ns / kNsPerSecond, kTtlSeconds);
  }
};

// RFC 1123's label, as Kubernetes has them.
bool IsContainerName(std::string_view name) {
  return query::IsObjectName(name) && name.size() <= 63 && name.find('.') == name.npos;
}

Status ReadType(const Args& args, Plan& plan) {
  if (!args.Has("type")) return OkStatus();
  ASSIGN_OR_RETURN(plan.type, profile::ParseProfileType(args.Get("type")));
  if (plan.type.kind == profile::TypeKind::kEvent && k8s::IsTracepoint(plan.type.event)) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("'{}' is a tracepoint, which shows the whole kernel: only a "
                             "ClusterProfilingPolicy may have it",
                             plan.type.event));
  }
  const bool waits =
      plan.type.kind == profile::TypeKind::kOffCpu || plan.type.kind == profile::TypeKind::kLock;
  if (plan.type.kind == profile::TypeKind::kMemory && args.Has("frequency")) {
    return Error(ErrorCode::kInvalid,
                 "'memory' has no --frequency: one sample stands for 512 KiB of allocations");
  }
  if (waits && args.Has("frequency")) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("'{}' has no --frequency: each wait of a millisecond or longer counts",
                             plan.type.Name()));
  }
  return OkStatus();
}

Outcome<Plan> ReadPlan(const Context& context) {
  const Args& args = context.args;
  Plan plan;
  if (args.positionals.empty()) {
    return BadFlag(
        context, Error(ErrorCode::kInvalid,
                       "'record' needs a target: deployment/checkout, pod/web-0 or app=checkout"));
  }
  Result<RecordTarget> target = ParseTarget(args.positionals[0]);
  if (!target) return BadFlag(context, target.error());
  plan.target = *std::move(target);
  plan.container = args.Get("container");
  if (!plan.container.empty() && !IsContainerName(plan.container)) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  fmt::format("--container is '{}': a container's name has only "
                                              "lower-case letters, digits and '-'",
                                              plan.container)));
  }
  if (Status type = ReadType(args, plan); !type)
    return BadFlag(context, Error(type.error()).Context("--type"));
  if (args.Has("for")) {
    Result<int64_t> length = ParseDurationNs(args.Get("for"));
    if (length && (*length < kLeastNs || *length > kMostNs || *length % kNsPerSecond != 0))
      length = Error(ErrorCode::kInvalid, "it must be whole seconds from 1m to 1d");
    if (!length) return BadFlag(context, Error(length.error()).Context("--for"));
    plan.for_ns = *length;
  }
  if (args.Has("frequency")) {
    const std::string text = args.Get("frequency");
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, plan.frequency_hertz);
    if (error != std::errc() || at != end || plan.frequency_hertz < 1 ||
        plan.frequency_hertz > 999) {
      return BadFlag(context,
                     Error(ErrorCode::kInvalid,
                           fmt::format("--frequency is '{}': it must be from 1 to 999", text)));
    }
  }
  return plan;
}

// One recording, from its policy to its file.
class Recorder {
 public:
  Recorder(const Context& context, KubeClient& kube, Plan plan)
      : context_(context), kube_(kube), plan_(std::move(plan)) {}

  // Everything that can be refused is, before anything is made.
  Outcome<int> Prepare() {
    Outcome<k8s::Node> made = kube_.Create(kProfilingPolicies, "", plan_.Body(),
                                           k8s::PolicyObjectFields(), /*dry_run=*/true);
    if (!made) return made.failure();
    Result<k8s::PolicyObject> policy = k8s::ReadPolicyObject(*made, /*cluster=*/false);
    if (!policy || !policy->policy) {
      return Failure{ExitCode::kFailure, "the policy cannot be read back",
                     policy ? policy->errors.front().ToString() : policy.error().message(),
                     "check that the CustomResourceDefinitions are of this version"};
    }
    policy_ = *std::move(policy->policy);
    // A namespace that may not be read is taken to have no label against it.
    Outcome<k8s::Node> name_space =
        kube_.Get(kNamespaces, "", kube_.namespace_name(), {"metadata.labels"});
    if (name_space) namespace_labels_ = LabelsOf(*name_space);
    Outcome<int> looked = LookForPods();
    if (!looked) return looked;
    if (pods_.empty()) {
      return Failure{ExitCode::kNoData,
                     fmt::format("{} selects no pod of namespace {}", plan_.target.text,
                                 kube_.namespace_name()),
                     why_none_,
                     plan_.container.empty()
                         ? "check the namespace (-n); nothing was created"
                         : "check the namespace (-n) and --container; nothing was created"};
    }
    Outcome<HttpReply> ready = context_.client.Get("/readyz", {});
    if (!ready) return ready.failure();
    return ExitCode::kOk;
  }

  Outcome<int> Run() {
    context_.interrupt.Hold();
    Outcome<k8s::Node> made = kube_.Create(kProfilingPolicies, "", plan_.Body(),
                                           k8s::PolicyObjectFields(), /*dry_run=*/false);
    if (!made) return made.failure();
    name_ = k8s::TextAt(*made, {"metadata", "name"});
    began_ns_ = Clock::System().MonotonicNs();
    Tell(fmt::format("recording {} ({} pods) for {} as ProfilingPolicy {}/{}; Ctrl-C ends it",
                     plan_.target.text, pods_.size(), FormatDuration(plan_.for_ns),
                     kube_.namespace_name(), name_));
    while (!over_ && SinceBeganNs() < plan_.for_ns) {
      if (context_.interrupt.WaitNs(std::min(kLookEveryNs, plan_.for_ns - SinceBeganNs())))
        return ExitCode::kOk;
      Look();
    }
    const bool at_hub = context_.cluster != nullptr;
    if (at_hub) Tell("waiting 3m for the nodes' uploads; Ctrl-C fetches the data so far");
    context_.interrupt.WaitNs(at_hub ? kSettleAtHubNs : kSettleNs);
    return ExitCode::kOk;
  }

  // Deletes the policy after an interrupt; otherwise it ends by itself.
  void RemovePolicy() {
    Outcome<int> deleted = kube_.Delete(kProfilingPolicies, "", name_);
    if (deleted || deleted.failure().http_status == 404) {
      Tell(fmt::format("deleted ProfilingPolicy {}/{}", kube_.namespace_name(), name_));
      return;
    }
    Tell(fmt::format("could not delete ProfilingPolicy {}/{}: {}: {}; it ends by itself",
                     kube_.namespace_name(), name_, deleted.failure().what, deleted.failure().why));
  }

  Outcome<HttpReply> Fetch() {
    const int64_t began_ns = Clock::System().MonotonicNs();
    for (;;) {
      const int64_t back_seconds = SinceBeganNs() / kNsPerSecond + 1;
      Outcome<HttpReply> reply =
          context_.client.Get("/api/v1/profile", {{"type", plan_.type.Name()},
                                                  {"q", Selector()},
                                                  {"from", fmt::format("now-{}s", back_seconds)},
                                                  {"to", "now"}});
      if (reply || reply.failure().exit_code != ExitCode::kNoData) return reply;
      const bool enough = Clock::System().MonotonicNs() - began_ns >= kFetchWithinNs;
      if (enough || context_.interrupt.WaitNs(kFetchAgainNs)) {
        return Failure{ExitCode::kNoData,
                       fmt::format("{} has no profiles of these pods", context_.client.name()),
                       fmt::format("{}, or run on a node of another agent", plan_.Nothing()),
                       fmt::format("'{} policies -n {} --pod {}' says whether they are profiled",
                                   context_.program, kube_.namespace_name(), *pods_.begin())};
      }
    }
  }

 private:
  int64_t SinceBeganNs() const { return Clock::System().MonotonicNs() - began_ns_; }

  void Tell(const std::string& text) const {
    const std::string line = Printable(text, context_.terminal.utf8);
    std::fprintf(stderr, "%s\n", line.c_str());
  }

  // Adds to the pods those that there are now; those that went stay.
  Outcome<int> LookForPods() {
    Outcome<std::vector<k8s::Node>> objects = kube_.List(kPods, "", k8s::PodFields());
    if (!objects) return objects.failure();
    const k8s::Labels* labels = namespace_labels_ ? &*namespace_labels_ : nullptr;
    for (const k8s::Node& object : *objects) {
      Result<k8s::Pod> pod = k8s::PodOf(object);
      if (!pod) continue;
      const auto matches = [&](k8s::OptOut opt_out) {
        return k8s::MatchPod(policy_, &*pod, pod->cgroup_uid, labels, opt_out);
      };
      if (matches(k8s::OptOut::kIgnored).match == k8s::Match::kNo) continue;
      const k8s::TargetMatch taken = matches(k8s::OptOut::kHonoured);
      if (taken.match == k8s::Match::kNo) {
        why_none_ = taken.why;
      } else if (!HasContainer(*pod)) {
        why_none_ = fmt::format("pod {} has no container called '{}'", pod->name, plan_.container);
      } else if (pods_.size() < kMaxPods) {
        pods_.insert(pod->name);
      }
    }
    return ExitCode::kOk;
  }

  bool HasContainer(const k8s::Pod& pod) const {
    return plan_.container.empty() ||
           std::ranges::any_of(pod.containers, [&](const k8s::PodContainer& one) {
             return one.name == plan_.container;
           });
  }

  // A look at pods and policy that fails costs nothing but that look.
  void Look() {
    (void)LookForPods();
    Outcome<k8s::Node> object = kube_.Get(kProfilingPolicies, "", name_, {"status"});
    std::string news;
    if (!object && object.failure().http_status == 404) {
      over_ = true;
      news = ", the policy was deleted";
    } else if (object) {
      const Condition programmed = ConditionOf(*object, "Programmed");
      if (programmed.status == "False")
        news = fmt::format(", not programmed: {} {}", programmed.reason, programmed.message);
    }
    const int64_t seconds = std::min(SinceBeganNs(), plan_.for_ns) / kNsPerSecond;
    Tell(fmt::format("{}s of {}, {} pods{}", seconds, FormatDuration(plan_.for_ns), pods_.size(),
                     news));
  }

  // Pods' names have no character that a regular expression minds but dots.
  std::string Selector() const {
    std::string names;
    for (const std::string& pod : pods_) {
      if (!names.empty()) names += '|';
      for (const char c : pod) names += c == '.' ? "[.]" : std::string(1, c);
    }
    const std::string container =
        plan_.container.empty() ? "" : fmt::format(R"(,container="{}")", plan_.container);
    return fmt::format(R"({{namespace="{}",pod=~"{}"{}}})", kube_.namespace_name(), names,
                       container);
  }

  const Context& context_;
  KubeClient& kube_;
  const Plan plan_;
  k8s::ProfilingPolicy policy_;
  std::optional<k8s::Labels> namespace_labels_;
  std::set<std::string> pods_;
  std::string why_none_ = "no pod has this name or label";
  std::string name_;
  int64_t began_ns_ = 0;
  bool over_ = false;
};

}  // namespace

Outcome<int> RunRecord(const Context& context) {
  Outcome<ProfileOutput> output = PickOutput(context);
  if (!output) return output.failure();
  Outcome<Plan> plan = ReadPlan(context);
  if (!plan) return plan.failure();
  Outcome<std::shared_ptr<KubeClient>> kube = ClusterOf(context);
  if (!kube) return kube.failure();
  Recorder recorder(context, **kube, *std::move(plan));
  Outcome<int> ready = recorder.Prepare();
  if (!ready) return ready.failure();
  Outcome<int> ran = recorder.Run();
  if (!ran) return ran.failure();
  // After an interrupt, the data so far is fetched and kept.
  const int interrupted = context.interrupt.exit_code();
  if (interrupted != 0) recorder.RemovePolicy();
  Outcome<HttpReply> reply = recorder.Fetch();
  if (!reply) {
    Failure failure = reply.failure();
    if (interrupted != 0) failure.exit_code = interrupted;
    return failure;
  }
  WarnSkipped(context, reply->skipped);
  WarnCoarse(context, reply->max_hidden, "stacks");
  Outcome<int> written = WriteProfile(context, *output, std::move(reply->body));
  if (!written || interrupted == 0) return written;
  return interrupted;
}

}  // namespace firetower::cli
