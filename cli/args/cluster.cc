// SPDX-License-Identifier: Apache-2.0
#include "cli/args/shared_flags.h"
#include "cli/args/tables.h"

namespace firetower::cli {
namespace {

constexpr FlagSpec kRecordSelection[] = {
    kContainerFlag,
    {"for", 0, "DURATION", "duration, 1m to 1d (default 1m)"},
    {"type", 't', "TYPE", "cpu, offcpu, lock or event:NAME (default cpu)"},
    {"frequency", 'F', "HERTZ", "samples per second on each CPU, 1 to 999 (default 97)"},
};
constexpr FlagSpec kRecordCluster[] = {kNamespaceFlag, kKubeconfigFlag, kContextFlag,
                                       kHubNamespaceFlag, kTokenFlag};
constexpr FlagGroup kRecordGroups[] = {{"Recording", kRecordSelection},
                                       {"Cluster", kRecordCluster},
                                       {"Symbols", kNaming},
                                       {"Output", kGetOutput}};
constexpr Example kRecordExamples[] = {
    {"A minute of a Deployment, for go tool pprof",
     "record deployment/checkout -n shop -f checkout.pb.gz"},
    {"Five minutes of pods with a label, as folded stacks",
     "record app=checkout --for 5m -F 199 -o folded > checkout.folded"},
    {"What its threads wait for", "record deployment/checkout --type offcpu -f waits.pb.gz"},
    {"One container of its pods",
     "record deployment/checkout -n shop -c checkout -f checkout.pb.gz"},
};

constexpr Text kPoliciesOutputs[] = {"table", "wide", "json", "name"};
constexpr FlagSpec kPoliciesSelection[] = {
    {"pod", 'p', "POD", "show what each policy does with this pod, and why"},
};
constexpr FlagSpec kPoliciesCluster[] = {
    kNamespaceFlag,
    {"all-namespaces", 'A', "", "policies of all namespaces"},
    kKubeconfigFlag,
    kContextFlag,
};
constexpr FlagSpec kPoliciesOutput[] = {
    {"output", 'o', "FORMAT", "table, wide (not cut to the terminal), json or name (default table)",
     kPoliciesOutputs},
    kNoHeadersFlag,
};
constexpr FlagGroup kPoliciesGroups[] = {
    {"Selection", kPoliciesSelection}, {"Cluster", kPoliciesCluster}, {"Output", kPoliciesOutput}};
constexpr Example kPoliciesExamples[] = {
    {"The policies of a namespace and of the cluster, with their status", "policies -n shop"},
    {"Why is this pod not profiled?", "policies -n shop --pod checkout-7d9c-x2x8"},
};

constexpr CommandSpec kCluster[] = {
    {"record",
     "Profile a workload of a cluster for a while",
     "Creates a ProfilingPolicy that ends by itself, with your rights on the cluster, and waits.\n"
     "Then fetches the profile of those pods, from the hub three minutes later or from --server "
     "at\n"
     "once. Ctrl-C deletes the policy and keeps the data so far.\n"
     "WHAT is KIND/NAME (deployment/checkout, pod/web-0) or labels (app=checkout,tier=web).",
     "WHAT",
     {},
     1,
     kRecordExamples,
     kRecordGroups},
    {"policies",
     "List profiling policies, or what they do with one pod",
     "Reads ProfilingPolicies, ClusterProfilingPolicies and the agents' reports about them, with\n"
     "your rights on the cluster. With --pod: says whether each policy profiles that pod, and why.",
     "",
     {},
     0,
     kPoliciesExamples,
     kPoliciesGroups},
};

}  // namespace

std::span<const CommandSpec> ClusterCommands() { return kCluster; }

}  // namespace firetower::cli
