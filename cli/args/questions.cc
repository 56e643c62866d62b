// SPDX-License-Identifier: Apache-2.0
#include "cli/args/shared_flags.h"
#include "cli/args/tables.h"

namespace firetower::cli {
namespace {

constexpr Text kTopOutputs[] = {"table", "wide", "json", "name"};
constexpr Text kTopBy[] = {"containers", "functions", "lines", "processes", "traces"};
constexpr FlagSpec kTopSelection[] = {
    kQueryFlag,
    kContainerFlag,
    kTypeFlag,
    {"since", 0, "DURATION", "start this long ago and end now (default 15m, with --watch 1m)"},
    kFromFlag,
    kToFlag,
    kExactFlag,
    kOffsetsFlag,
    {"limit", 'k', "N", "number of rows, 1 to 1000 (default 10)"},
};
constexpr FlagSpec kTopOutput[] = {
    {"output", 'o', "FORMAT", "table, wide (not cut to the terminal), json or name (default table)",
     kTopOutputs},
    kNoHeadersFlag,
    {"watch", 'w', "",
     "refresh every 2 s on a terminal, else print a table every 5 s, until Ctrl-C"},
};
constexpr FlagGroup kTopGroups[] = {{"Selection", kTopSelection},
                                    {"Stacks", kStackFlags},
                                    {"Cluster", kHubFlags},
                                    {"Symbols", kNaming},
                                    {"Output", kTopOutput}};
constexpr Example kTopExamples[] = {
    {"The containers that use most CPU", "top"},
    {"The hottest functions of a Deployment in the last hour",
     "top functions deploy/checkout -n shop --since 1h"},
    {"The hottest source lines of a pod", "top lines '{pod=\"web-5d9c7\"}'"},
    {"The programs of a node that do not run in pods", "top processes '{namespace=\"-\"}'"},
    {"Only for some pods, by label matchers",
     "top functions '{namespace=\"shop\",pod=~\"web.*\"}'"},
    {"Live", "top --watch"},
    {"For a whole cluster, from its hub", "top -A --context prod"},
    {"For a script", "top containers -k 3 -o name"},
};

constexpr FlagSpec kFlameSelection[] = {kContainerFlag, kTypeFlag,  kSinceFlag,  kFromFlag,
                                        kToFlag,        kExactFlag, kOffsetsFlag};
constexpr FlagSpec kGetSelection[] = {
    kContainerFlag,
    kTypeFlag,
    kSinceFlag,
    kFromFlag,
    kToFlag,
    kExactFlag,
    kOffsetsFlag,
    {"id", 0, "ID", "fetch one stored profile unchanged, by its id from 'profiles'"},
};
constexpr Text kGetFormats[] = {"pprof", "folded", "speedscope", "json", "pgo"};
constexpr FlagSpec kGetWrites[] = {
    {"output", 'o', "FORMAT",
     "pprof, folded, speedscope, json, or pgo: what 'go build -pgo' takes (default: by the file's "
     "extension, else pprof)",
     kGetFormats},
    {"file", 'f', "FILE", "output file; - is standard output (default -)"},
    kSampleTypeFlag,
    {"binary", 0, "NAME",
     "for pgo: the path of the Go binary, or its last part (default: the one with most samples)"},
    kForceFlag,
};
constexpr FlagGroup kGetGroups[] = {{"Selection", kGetSelection},
                                    {"Stacks", kStackFlags},
                                    {"Cluster", kHubFlags},
                                    {"Symbols", kNaming},
                                    {"Output", kGetWrites}};
constexpr Example kGetExamples[] = {
    {"One container's CPU profile of the last 15 minutes, for go tool pprof",
     "get '{container=\"web\"}' -f web.pb.gz"},
    {"One container of a Deployment's pods",
     "get deploy/checkout -n shop -c web -f checkout.pb.gz"},
    {"Folded stacks for a flame graph",
     "get pod/web-0 --from now-2h --to now-1h -o folded > web.folded"},
    {"With lines and inlined calls, from debug files of this machine or a server",
     "get '{pod=\"web-0\"}' --symbols full --debuginfod \"$DEBUGINFOD_URLS\" -f web.pb.gz"},
    {"A week of a Go service, for its next build",
     "get deploy/checkout -n shop --since 7d -o pgo -f default.pgo"},
    {"The newest stored profile", "get --id \"$(firetower profiles -k 1 -o name)\" -o folded"},
};

constexpr Text kFlameOutputs[] = {"html", "svg", "pprof", "folded", "json"};
constexpr FlagSpec kFlameOutput[] = {
    kBottomUpFlag,
    {"output", 'o', "FORMAT",
     "html (one file, zoom and search), svg (a picture), pprof, folded or json (default: by the "
     "file's extension, else html)",
     kFlameOutputs},
    {"file", 'f', "FILE", "output file; - is standard output (default -)"},
    {"force", 0, "", "overwrite FILE if it exists"},
};
constexpr FlagGroup kFlameGroups[] = {{"Selection", kFlameSelection}, {"Stacks", kStackFlags},
                                      {"Cluster", kHubFlags},         {"Look", kFlameLook},
                                      {"Symbols", kNaming},           {"Output", kFlameOutput}};
constexpr Example kFlameExamples[] = {
    {"A container's last hour, to open in a browser",
     "flame '{container=\"web\"}' --since 1h -f web.html"},
    {"A picture for a ticket, names without their template arguments",
     "flame pod/web-0 --names bare -f web.svg"},
};

constexpr Text kPeekOutputs[] = {"table", "json"};
constexpr FlagSpec kPeekOutput[] = {
    kSampleTypeFlag,
    {"output", 'o', "FORMAT", "table or json (default table)", kPeekOutputs},
};
constexpr FlagGroup kPeekGroups[] = {{"Selection", kFlameSelection},
                                     {"Stacks", kStackFlags},
                                     {"Cluster", kHubFlags},
                                     {"Symbols", kNaming},
                                     {"Output", kPeekOutput}};
constexpr Example kPeekExamples[] = {
    {"Who calls the allocator, and what it calls", "peek '^malloc$' deploy/checkout -n shop"},
};
constexpr FlagSpec kTreeLook[] = {
    kSampleTypeFlag,
    kBottomUpFlag,
    {"min-percent", 0, "PERCENT", "leave out what has less of the whole (default 0.5)"},
    {"names", 0, "WHAT",
     "full, short (no parameters) or bare (no template arguments either) (default full)",
     kNameDetails},
    {"sort", 0, "ORDER", "order of callees: by name or by value (default value)", kSiblingOrders},
};
constexpr FlagGroup kTreeGroups[] = {{"Selection", kFlameSelection},
                                     {"Stacks", kStackFlags},
                                     {"Cluster", kHubFlags},
                                     {"Look", kTreeLook},
                                     {"Symbols", kNaming}};
constexpr Example kTreeExamples[] = {
    {"Where a Deployment's CPU time goes, from main on", "tree deploy/checkout -n shop"},
    {"Who calls the functions that are hot", "tree deploy/checkout -n shop --bottom-up"},
    {"Below one function", "tree '{container=\"web\"}' --show-from Handle"},
};

constexpr Text kHeatOutputs[] = {"ansi", "svg", "html", "csv", "json"};
constexpr Text kHeatBy[] = {"offset",    "pod",  "container", "node", "workload",
                            "namespace", "comm", "thread",    "cpu"};
constexpr Text kHeatScales[] = {"linear", "rank"};
constexpr FlagSpec kHeatSelection[] = {
    kQueryFlag,
    kContainerFlag,
    {"node", 0, "NAME", "everything on this node"},
    kTypeFlag,
    {"since", 0, "DURATION", "start this long ago and end now (default 2m)"},
    kFromFlag,
    kToFlag,
};
constexpr FlagSpec kHeatLook[] = {
    {"by", 0, "WHAT",
     "rows: offset (the parts of a second; a column is a second), or one for each pod, container, "
     "node, workload, namespace, comm, thread or cpu (default offset)",
     kHeatBy},
    {"rows", 0, "N", "by offset: rows of a second: 1, 2, 5, 10, 25 or 50 (default 50)"},
    {"limit", 'k', "N", "else: number of rows, the rest is 'other' (default 50)"},
    {"step", 0, "DURATION", "else: how wide a column is, from 20ms on (default: 600 fit)"},
    {"paint", 0, "REGEX", "paint the cells of stacks with a function that matches (RE2)"},
    {"scale", 0, "SCALE", "shades by count (linear) or by order (rank) (default linear)",
     kHeatScales},
};
constexpr FlagSpec kHeatOutput[] = {
    {"output", 'o', "FORMAT",
     "ansi (blocks, for a terminal), svg, html, csv or json (default: by the file's extension, "
     "else ansi)",
     kHeatOutputs},
    {"file", 'f', "FILE", "output file; - is standard output (default -)"},
    kForceFlag,
};
constexpr FlagGroup kHeatGroups[] = {{"Selection", kHeatSelection},
                                     {"Cluster", kHubFlags},
                                     {"Look", kHeatLook},
                                     {"Output", kHeatOutput}};
constexpr Example kHeatExamples[] = {
    {"What happens within the seconds of a pod", "heat web-5d9c7 -n shop"},
    {"In which of them a function runs", "heat web-5d9c7 -n shop --paint GC"},
    {"A picture of five minutes, for a ticket",
     "heat web-5d9c7 -n shop --from now-10m --to now-5m -f web.svg"},
    {"Which pods of a Deployment were busy when",
     "heat deploy/checkout -n shop --by pod --since 1h"},
    {"The stacks of the first 100 ms of each second",
     "flame '{pod=\"web-5d9c7\"}' --offsets 0-100 -f burst.html"},
};

constexpr Text kDiagnoseOutputs[] = {"text", "json", "markdown"};
constexpr FlagSpec kDiagnoseSelection[] = {
    kQueryFlag, kContainerFlag, {"node", 0, "NAME", "everything on this node"},
    kTypeFlag,  kSinceFlag,     kFromFlag,
    kToFlag,
};
constexpr FlagSpec kDiagnoseOutput[] = {
    {"output", 'o', "FORMAT", "text, json or markdown, for a ticket (default text)",
     kDiagnoseOutputs},
};
constexpr FlagSpec kDiagnoseBase[] = {
    {"against", 0, "DURATION",
     "tell what has grown since this long before, such as 1h or 1d: as much time from then on is "
     "compared; rollout: since the pods before the last one"},
};
constexpr FlagGroup kDiagnoseGroups[] = {{"Selection", kDiagnoseSelection},
                                         {"Comparison", kDiagnoseBase},
                                         {"Cluster", kHubFlags},
                                         {"Output", kDiagnoseOutput}};
constexpr Example kDiagnoseExamples[] = {
    {"Why a pod was busy, an hour ago", "diagnose web-5d9c7 -n shop --from now-75m --to now-60m"},
    {"The same of a Deployment, whose pods are compared too", "diagnose deploy/checkout -n shop"},
    {"What has grown since the same time yesterday",
     "diagnose deploy/checkout -n shop --against 1d"},
    {"Which functions the last roll-out made slower",
     "diagnose deploy/checkout -n shop --since 1h --against rollout"},
    {"Why threads wait", "diagnose deploy/checkout -n shop --type offcpu"},
    {"For a ticket", "diagnose --node worker-1 -o markdown"},
};

constexpr FlagSpec kOpenLink[] = {
    {"find", 0, "TEXT", "search for this text"},
    {"page-url", 0, "URL", "where the page is (default: the server; a cluster's hub has none)"},
};
constexpr FlagGroup kOpenGroups[] = {
    {"Selection", kDiagnoseSelection}, {"Cluster", kHubFlags}, {"Link", kOpenLink}};
constexpr Example kOpenExamples[] = {
    {"A link to a pod's flame graph of an hour ago, for a colleague",
     "open web-5d9c7 -n shop --from now-75m --to now-60m"},
};

constexpr Text kTableOrJson[] = {"table", "json"};
constexpr FlagSpec kDoctorOutput[] = {
    {"output", 'o', "FORMAT", "table or json (default table)", kTableOrJson},
};
constexpr FlagSpec kDoctorCluster[] = {kKubeconfigFlag, kContextFlag, kHubNamespaceFlag,
                                       kTokenFlag};
constexpr FlagGroup kDoctorGroups[] = {{"Cluster", kDoctorCluster}, {"Output", kDoctorOutput}};
constexpr Example kDoctorExamples[] = {
    {"What works here, what does not, and what to do about it", "doctor"},
    {"Whether a cluster admits the agents' pods, and whether its hub works",
     "doctor --context prod"},
    {"Only what is wrong", "doctor -o json | jq '.checks[] | select(.status != \"ok\")'"},
};

constexpr FlagGroup kMcpGroups[] = {{"Cluster", kHubFlags}};
constexpr Example kMcpExamples[] = {
    {"For an assistant's configuration: its command, over a cluster's hub", "mcp --context prod"},
};

constexpr Text kListOutputs[] = {"table", "json", "name"};
constexpr FlagSpec kListOutput[] = {
    {"output", 'o', "FORMAT", "table, json or name (default table)", kListOutputs},
    kNoHeadersFlag,
};
constexpr FlagSpec kTypesSelection[] = {kQueryFlag, kContainerFlag, kSinceFlag, kFromFlag, kToFlag};
constexpr FlagGroup kTypesGroups[] = {
    {"Selection", kTypesSelection}, {"Cluster", kHubFlags}, {"Output", kListOutput}};
constexpr Example kTypesExamples[] = {
    {"Which profile types were recorded today", "types --since 24h"}};

constexpr FlagSpec kRolloutsSelection[] = {
    kQueryFlag,
    {"since", 0, "DURATION", "look back this long from now (default 24h)"},
    kFromFlag,
    kToFlag};
constexpr FlagGroup kRolloutsGroups[] = {
    {"Selection", kRolloutsSelection}, {"Cluster", kHubFlags}, {"Output", kListOutput}};
constexpr Example kRolloutsExamples[] = {
    {"What was rolled out today in one namespace", "rollouts -n shop"},
    {"What the last one made slower",
     "diagnose deploy/checkout -n shop --since 1h --against rollout"}};

constexpr Text kProfilesOutputs[] = {"table", "wide", "json", "name"};
constexpr FlagSpec kProfilesSelection[] = {
    kContainerFlag, kAnyTypeFlag,
    kSinceFlag,     kFromFlag,
    kToFlag,        {"limit", 'k', "N", "number of profiles, 1 to 10000 (default 100)"}};
constexpr FlagSpec kProfilesOutput[] = {
    {"output", 'o', "FORMAT",
     "table, wide (with ids, not cut to the terminal), json or name: the ids (default table)",
     kProfilesOutputs},
    kNoHeadersFlag,
};
constexpr FlagGroup kProfilesGroups[] = {
    {"Selection", kProfilesSelection}, {"Cluster", kHubFlags}, {"Output", kProfilesOutput}};
constexpr Example kProfilesExamples[] = {
    {"The profiles of a container in the last hour, window by window",
     "profiles '{container=\"web\"}' --since 1h"},
    {"The captures of triggers today", "profiles '{capture!=\"\"}' --since 24h"},
};

constexpr FlagSpec kLabelsSelection[] = {kQueryFlag, kContainerFlag, kAnyTypeFlag,
                                         kSinceFlag, kFromFlag,      kToFlag};
constexpr FlagGroup kLabelsGroups[] = {
    {"Selection", kLabelsSelection}, {"Cluster", kHubFlags}, {"Output", kListOutput}};
constexpr Example kLabelsExamples[] = {
    {"The label names", "labels"},
    {"The pods of one namespace", "labels pod ns/shop"},
};

constexpr FlagSpec kSeriesSelection[] = {
    kQueryFlag,
    kContainerFlag,
    kTypeFlag,
    kSinceFlag,
    kFromFlag,
    kToFlag,
    {"by", 0, "LABELS", "group by these labels, comma-separated (default namespace,pod,container)"},
    {"step", 0, "DURATION", "one point per step instead of one total; shown in json only"},
};
constexpr FlagGroup kSeriesGroups[] = {
    {"Selection", kSeriesSelection}, {"Cluster", kHubFlags}, {"Output", kListOutput}};
constexpr Example kSeriesExamples[] = {
    {"All label sets", "series"},
    {"CPU by namespace, minute by minute", "series --by namespace --step 1m -o json"},
};

constexpr CommandSpec kQuestions[] = {
    {"top", "Show the hottest containers, functions, source lines, processes or traces",
     "Containers are ordered by the value of the profile type, which is CPU time for cpu. CPU% is\n"
     "the share of all matching profiles; CORES is the average over the time that they cover.\n"
     "Functions are ordered by self value. Processes of one name in one container are one row, "
     "with\n"
     "the stack that has most of it.",
     "[containers|functions|lines|processes|traces] [SELECTOR]", kTopBy, 2, kTopExamples,
     kTopGroups},
    {"get",
     "Fetch one merged profile",
     "Adds up all matching profiles in the store and in the window that is still open. A file is\n"
     "never overwritten without --force, and never left half written. pprof is not written to a\n"
     "terminal.",
     "[SELECTOR]",
     {},
     1,
     kGetExamples,
     kGetGroups},
    {"profiles",
     "List profiles one by one, newest first",
     "Prints a row for each container, type and window, and for each capture. The window that is\n"
     "still open has no id yet.",
     "[SELECTOR]",
     {},
     1,
     kProfilesExamples,
     kProfilesGroups},
    {"flame",
     "Draw a flame graph of one merged profile",
     "Draws the profile that `get` fetches: each bar is a function, called by the bar before it,\n"
     "and as wide as its share. HTML and SVG are one self-contained file each. Names marked [k] "
     "are\n"
     "of the kernel, [j] of code that a runtime compiled, [i] of inlined functions.",
     "[SELECTOR]",
     {},
     1,
     kFlameExamples,
     kFlameGroups},
    {"peek",
     "Show the callers and callees of functions",
     "For each function that the regular expression (RE2) matches: its callers above it, its "
     "callees\n"
     "below, each with the value of the samples in which the two follow each other.",
     "FUNCTION [SELECTOR]",
     {},
     2,
     kPeekExamples,
     kPeekGroups},
    {"tree",
     "Print the calls of one merged profile as a tree",
     "Each line is a function, called by the one above it that is indented less; a chain of "
     "single\n"
     "calls keeps its indentation.",
     "[SELECTOR]",
     {},
     1,
     kTreeExamples,
     kTreeGroups},
    {"heat",
     "Draw a heat map: when samples were taken, to 20 ms",
     "A column is a second, its rows the parts of it from 0 ms at the top to 1 s: a stripe is "
     "what\n"
     "happens at the same time of each second, a slope what has another period. The darker or\n"
     "brighter a cell, the more samples. With --by a row is a pod, a thread or a CPU instead.\n"
     "A word alone is a pod. Cells marked ? are of windows that do not say when their samples\n"
     "were taken.",
     "[SELECTOR]",
     {},
     1,
     kHeatExamples,
     kHeatGroups},
    {"open",
     "Print a link to the page of a flame graph",
     "The link holds the selection and the times, as they are now: it shows the same tomorrow. A "
     "word\n"
     "alone is a pod.",
     "[SELECTOR]",
     {},
     1,
     kOpenExamples,
     kOpenGroups},
    {"diagnose",
     "Say where the time goes, why, and what to do",
     "Judges whose code the value is spent in: the application's own, a runtime's, a library's or\n"
     "the kernel's, by privilege and file. Then names the known pathologies that the stacks show, "
     "the\n"
     "most likely first, each with its evidence and a next step. A confidence from 0 to 1 is "
     "lower\n"
     "where samples are few or code is unknown. With --against the functions that have grown "
     "since\n"
     "come first, as far as the samples can tell: 1 in 100 comparisons of equal times names any. "
     "A\n"
     "word alone is a pod.",
     "[SELECTOR]",
     {},
     1,
     kDiagnoseExamples,
     kDiagnoseGroups},
    {"doctor",
     "Check the kernel, capabilities, cgroups, the store and the installation",
     "Asks the daemon, or a cluster's hub, what works and what does not. A check that warns or\n"
     "fails says what to do. In a cluster it also checks, with your rights, whether the namespace\n"
     "of --hub-namespace admits the agents' pods (check pod-security: its label\n"
     "pod-security.kubernetes.io/enforce) and whether they run (check agents: the DaemonSet, its\n"
     "events and pods). Objects that you may not read are skipped, and so is the hub if there is\n"
     "none or if it has no store. Exits 1 when a check fails.",
     "",
     {},
     0,
     kDoctorExamples,
     kDoctorGroups},
    {"mcp",
     "Answer an assistant's questions (Model Context Protocol)",
     "Reads JSON-RPC messages from standard input, a line each, and answers on standard output\n"
     "until the input ends: the hottest containers, functions, lines, processes and traces, "
     "diagnoses,\n"
     "stacks, differences, types, labels and profiles. It reads and changes nothing, with the "
     "rights\n"
     "of whoever starts it. An answer fits the tokens that a call states, and says how to read on.",
     "",
     {},
     0,
     kMcpExamples,
     kMcpGroups},
    {"types",
     "List the profile types that were recorded",
     "",
     "[SELECTOR]",
     {},
     1,
     kTypesExamples,
     kTypesGroups},
    {"rollouts",
     "List when Deployments changed to other pods",
     "A roll-out is told by the profiles: pods of a revision (pod-template-hash) of which there "
     "were\n"
     "none before. Pods without profiles are not seen, nor other kinds of workloads.",
     "[SELECTOR]",
     {},
     1,
     kRolloutsExamples,
     kRolloutsGroups},
    {"labels",
     "List label names, or the values of one label",
     "",
     "[NAME] [SELECTOR]",
     {},
     2,
     kLabelsExamples,
     kLabelsGroups},
    {"series",
     "List label sets with their totals",
     "",
     "[SELECTOR]",
     {},
     1,
     kSeriesExamples,
     kSeriesGroups},
};

}  // namespace

std::span<const CommandSpec> QuestionCommands() { return kQuestions; }

}  // namespace firetower::cli
