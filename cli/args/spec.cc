// SPDX-License-Identifier: Apache-2.0
#include "cli/args/spec.h"

#include <limits>

namespace firetower::cli {
namespace {

using Text = std::string_view;

constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

constexpr Text kColors[] = {"auto", "always", "never"};
constexpr FlagSpec kGlobal[] = {
    {"server", 0, "URL",
     "where the API is (default $FIRETOWER_SERVER, else http://127.0.0.1:7070)"},
    {"timeout", 0, "DURATION", "how long to wait for an answer (default 60s)"},
    {"color", 0, "WHEN", "auto, always or never (default auto: on a terminal; see NO_COLOR)",
     kColors},
    {"verbose", 'v', "", "write each request to standard error"},
    {"help", 'h', "", "show help"},
};

constexpr FlagSpec kQueryFlag = {"query", 'q', "SELECTOR",
                                 "PromQL label matchers, as {namespace=\"shop\",pod=~\"web.*\"}"};
constexpr FlagSpec kTypeFlag = {"type", 't', "TYPE",
                                "cpu, offcpu, lock, memory or event:NAME (default cpu)"};
constexpr FlagSpec kSinceFlag = {"since", 0, "DURATION",
                                 "from that long ago until now (default 15m)"};
constexpr FlagSpec kFromFlag = {"from", 0, "TIME",
                                "start: RFC 3339, epoch in s, ms, us or ns, now-1h, or 15m ago"};
constexpr FlagSpec kToFlag = {"to", 0, "TIME", "end, in the same forms (default now)"};
constexpr FlagSpec kNoHeadersFlag = {"no-headers", 0, "", "leave the header line out"};

constexpr Text kSymbols[] = {"names", "full"};
constexpr FlagSpec kNaming[] = {
    {"symbols", 0, "WHAT",
     "name frames here, by this machine's files: those that the daemon left to it (names), or all, "
     "with lines and inlined calls (full)",
     kSymbols},
    {"debuginfod", 0, "URLS",
     "ask these servers for debug files, apart by commas or spaces, as in DEBUGINFOD_URLS"},
};

constexpr Text kTopOutputs[] = {"table", "wide", "json", "name"};
constexpr Text kTopBy[] = {"containers", "functions"};
constexpr FlagSpec kTopSelection[] = {
    kQueryFlag,
    kTypeFlag,
    {"since", 0, "DURATION", "from that long ago until now (default 15m, with --watch 1m)"},
    kFromFlag,
    kToFlag,
    {"limit", 'k', "N", "how many rows, 1 to 1000 (default 10)"},
};
constexpr FlagSpec kTopOutput[] = {
    {"output", 'o', "FORMAT", "table, wide (not cut to the terminal), json or name (default table)",
     kTopOutputs},
    kNoHeadersFlag,
    {"watch", 'w', "", "every 2 s anew on a terminal, else a table every 5 s, until Ctrl-C"},
};
constexpr FlagGroup kTopGroups[] = {
    {"Selection", kTopSelection}, {"Symbols", kNaming}, {"Output", kTopOutput}};
constexpr Example kTopExamples[] = {
    {"The containers that burn most CPU", "top"},
    {"The hottest functions of one namespace in the last hour",
     "top functions -q '{namespace=\"shop\"}' --since 1h"},
    {"Live", "top --watch"},
    {"For a script", "top containers -k 3 -o name"},
};

constexpr Text kProfileFormats[] = {"pprof", "folded", "speedscope", "json"};
constexpr FlagSpec kGetSelection[] = {kTypeFlag, kSinceFlag, kFromFlag, kToFlag};
constexpr FlagSpec kGetOutput[] = {
    {"output", 'o', "FORMAT",
     "pprof, folded, speedscope or json (default: by the file's extension, else pprof)",
     kProfileFormats},
    {"file", 'f', "FILE", "where to write; - is standard output (default -)"},
    {"force", 0, "", "overwrite FILE if it exists"},
};
constexpr FlagGroup kGetGroups[] = {
    {"Selection", kGetSelection}, {"Symbols", kNaming}, {"Output", kGetOutput}};
constexpr Example kGetExamples[] = {
    {"One container's CPU profile of the last 15 minutes, for go tool pprof",
     "get '{container=\"web\"}' -f web.pb.gz"},
    {"Folded stacks for a flame graph",
     "get '{pod=\"web-0\"}' --from now-2h --to now-1h -o folded > web.folded"},
    {"With lines and inlined calls, from debug files of this machine or a server",
     "get '{pod=\"web-0\"}' --symbols full --debuginfod \"$DEBUGINFOD_URLS\" -f web.pb.gz"},
};

constexpr Text kNameDetails[] = {"full", "short", "bare"};
constexpr Text kSiblingOrders[] = {"name", "value"};
constexpr Text kOrientations[] = {"icicle", "flame"};
constexpr FlagSpec kFlameLook[] = {
    {"value", 0, "NAME", "which value: samples, cpu, inuse_space, ... (default: the main one)"},
    {"names", 0, "WHAT",
     "full, short (no parameters) or bare (no template arguments either) (default full)",
     kNameDetails},
    {"sort", 0, "ORDER", "what is side by side by name or by value (default name)", kSiblingOrders},
    {"max-nodes", 0, "N", "the N largest, the rest as 'other'; 0: all (default 100000)"},
    {"orientation", 0, "WAY", "icicle (root on top) or flame (root below) (default icicle)",
     kOrientations},
    {"title", 0, "TEXT", "default: what was asked for, or the file's name"},
};
constexpr Text kFlameOutputs[] = {"html", "svg", "pprof", "folded", "json"};
constexpr FlagSpec kFlameOutput[] = {
    {"output", 'o', "FORMAT",
     "html (one file, zoom and search), svg (a picture), pprof, folded or json (default: by the "
     "file's extension, else html)",
     kFlameOutputs},
    {"file", 'f', "FILE", "where to write; - is standard output (default -)"},
    {"force", 0, "", "overwrite FILE if it exists"},
};
constexpr FlagGroup kFlameGroups[] = {{"Selection", kGetSelection},
                                      {"Look", kFlameLook},
                                      {"Symbols", kNaming},
                                      {"Output", kFlameOutput}};
constexpr Example kFlameExamples[] = {
    {"A container's last hour, to open in a browser",
     "flame '{container=\"web\"}' --since 1h -f web.html"},
    {"A picture for a ticket, names without their template arguments",
     "flame '{pod=\"web-0\"}' --names bare -f web.svg"},
};

constexpr FlagSpec kViewServing[] = {
    {"listen", 0, "ADDRESS", "HOST:PORT to serve on (default 127.0.0.1:0, a port of its own)"},
    {"no-browser", 0, "", "only print the address"},
};
constexpr FlagGroup kViewGroups[] = {
    {"Serving", kViewServing}, {"Look", kFlameLook}, {"Symbols", kNaming}};
constexpr Example kViewExamples[] = {
    {"Look at a profile", "view web.pb.gz"},
    {"On a machine without a browser, through ssh -L 8000:127.0.0.1:8000",
     "view web.pb.gz --no-browser --listen 127.0.0.1:8000"},
};

constexpr FlagSpec kForceFlag = {"force", 0, "", "overwrite the file if it exists"};
constexpr Text kInputFormats[] = {"pprof", "folded", "speedscope", "perf-script"};
constexpr FlagSpec kInputFormatFlag = {
    "input-format", 0, "FORMAT",
    "pprof, folded, speedscope or perf-script (default: by the content)", kInputFormats};
constexpr FlagSpec kUntimedFlag = {
    "untimed", 0, "", "leave the time stamps of perf script out, so that equal stacks add up"};
constexpr FlagSpec kFormatFlag = {
    "format", 0, "FORMAT",
    "pprof, folded, speedscope or json (default: by the output's extension, else pprof)",
    kProfileFormats};
constexpr FlagSpec kSampleTypeFlag = {
    "sample-type", 0, "TYPE",
    "which value, as samples or cpu, where the output has one a stack (default: the profile's)"};

constexpr FlagSpec kMergeInput[] = {kInputFormatFlag, kUntimedFlag};
constexpr FlagSpec kMergeOutput[] = {
    {"output", 'o', "OUT", "where to write; - is standard output (default -)"},
    kFormatFlag,
    kForceFlag,
};
constexpr FlagGroup kMergeGroups[] = {{"Input", kMergeInput}, {"Output", kMergeOutput}};
constexpr Example kMergeExamples[] = {
    {"An hour of windows as one profile", "merge windows/*.pb.gz -o hour.pb.gz"},
    {"One that a program writes, and a file", "merge - before.pb.gz -o both.pb.gz < now.pb.gz"},
};

constexpr Text kDiffOutputs[] = {"table", "wide", "json", "folded", "pprof"};
constexpr FlagSpec kDiffComparison[] = {
    {"normalize", 0, "", "scale A to the total of B: compare how the time is spent, not how much"},
    kSampleTypeFlag,
    {"threshold", 0, "PERCENT",
     "leave out of the table what changed by less of A's total (default 0.5%)"},
    {"fail-over", 0, "PERCENT", "exit 3 when a function grew by more than that of A's total"},
};
constexpr FlagSpec kDiffOutput[] = {
    {"output", 'o', "FORMAT",
     "table, wide (not cut to the terminal), json, folded (two counts) or pprof (default: by the "
     "file's extension, else table)",
     kDiffOutputs},
    {"file", 'f', "FILE", "where to write; - is standard output (default -)"},
    kForceFlag,
    kNoHeadersFlag,
};
constexpr FlagGroup kDiffGroups[] = {
    {"Comparison", kDiffComparison}, {"Input", kMergeInput}, {"Output", kDiffOutput}};
constexpr Example kDiffExamples[] = {
    {"Which functions take more CPU than before", "diff before.pb.gz after.pb.gz"},
    {"For a flame graph of the difference",
     "diff before.pb.gz after.pb.gz --normalize -o folded | flamegraph.pl > diff.svg"},
    {"In CI: fail when a function takes 5 % more",
     "diff main.pb.gz branch.pb.gz --normalize --fail-over 5%"},
};

constexpr FlagSpec kConvertOutput[] = {
    kFormatFlag,
    kSampleTypeFlag,
    {"annotate", 0, "", "folded: mark frames of the kernel with _[k], inlined ones with _[i]"},
    kForceFlag,
};
constexpr FlagGroup kConvertGroups[] = {{"Input", kMergeInput}, {"Output", kConvertOutput}};
constexpr Example kConvertExamples[] = {
    {"perf's samples, for go tool pprof", "convert - perf.pb.gz < <(perf script)"},
    {"For speedscope.app", "convert web.pb.gz web.speedscope.json"},
    {"For flamegraph.pl", "convert web.pb.gz --format folded --annotate | flamegraph.pl > web.svg"},
};

constexpr FlagSpec kKubeconfigFlag = {"kubeconfig", 0, "FILE",
                                      "default $KUBECONFIG, else ~/.kube/config"};
constexpr FlagSpec kContextFlag = {"context", 0, "NAME",
                                   "of the kubeconfig (default: its current one)"};
constexpr FlagSpec kNamespaceFlag = {"namespace", 'n', "NS", "default: the context's"};

constexpr FlagSpec kRecordSelection[] = {
    {"for", 0, "DURATION", "how long, 1m to 1d (default 1m)"},
    {"frequency", 'F', "HERTZ", "samples a second on each CPU, 1 to 999 (default 97)"},
};
constexpr FlagSpec kRecordCluster[] = {kNamespaceFlag, kKubeconfigFlag, kContextFlag};
constexpr FlagGroup kRecordGroups[] = {{"Recording", kRecordSelection},
                                       {"Cluster", kRecordCluster},
                                       {"Symbols", kNaming},
                                       {"Output", kGetOutput}};
constexpr Example kRecordExamples[] = {
    {"A minute of a Deployment, for go tool pprof",
     "record deployment/checkout -n shop -f checkout.pb.gz"},
    {"Five minutes of what has a label, as folded stacks",
     "record app=checkout --for 5m -F 199 -o folded > checkout.folded"},
};

constexpr Text kPoliciesOutputs[] = {"table", "wide", "json", "name"};
constexpr FlagSpec kPoliciesSelection[] = {
    {"pod", 'p', "POD", "what each policy does about this pod, and why"},
};
constexpr FlagSpec kPoliciesCluster[] = {
    kNamespaceFlag,
    {"all-namespaces", 'A', "", "those of every namespace"},
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

constexpr Text kTableOrJson[] = {"table", "json"};
constexpr FlagSpec kDoctorOutput[] = {
    {"output", 'o', "FORMAT", "table or json (default table)", kTableOrJson},
};
constexpr FlagGroup kDoctorGroups[] = {{"Output", kDoctorOutput}};
constexpr Example kDoctorExamples[] = {
    {"What works here, what does not, and what to do about it", "doctor"},
    {"Only what is wrong", "doctor -o json | jq '.checks[] | select(.status != \"ok\")'"},
};

constexpr Text kListOutputs[] = {"table", "json", "name"};
constexpr FlagSpec kListOutput[] = {
    {"output", 'o', "FORMAT", "table, json or name (default table)", kListOutputs},
    kNoHeadersFlag,
};
constexpr FlagSpec kTypesSelection[] = {kQueryFlag, kSinceFlag, kFromFlag, kToFlag};
constexpr FlagGroup kTypesGroups[] = {{"Selection", kTypesSelection}, {"Output", kListOutput}};
constexpr Example kTypesExamples[] = {
    {"Which profile types were recorded today", "types --since 24h"}};

constexpr FlagSpec kLabelsSelection[] = {
    kQueryFlag,
    {"type", 't', "TYPE", "cpu, offcpu, lock, memory or event:NAME (default: all)"},
    kSinceFlag,
    kFromFlag,
    kToFlag};
constexpr FlagGroup kLabelsGroups[] = {{"Selection", kLabelsSelection}, {"Output", kListOutput}};
constexpr Example kLabelsExamples[] = {
    {"The label names", "labels"},
    {"The pods of one namespace", "labels pod -q '{namespace=\"shop\"}'"},
};

constexpr FlagSpec kSeriesSelection[] = {
    kQueryFlag,
    kTypeFlag,
    kSinceFlag,
    kFromFlag,
    kToFlag,
    {"by", 0, "LABELS", "add up by these, comma-separated (default namespace,pod,container)"},
    {"step", 0, "DURATION", "one point a step instead of one total; json shows them"},
};
constexpr FlagGroup kSeriesGroups[] = {{"Selection", kSeriesSelection}, {"Output", kListOutput}};
constexpr Example kSeriesExamples[] = {
    {"What there is", "series"},
    {"CPU by namespace, minute by minute", "series --by namespace --step 1m -o json"},
};

constexpr Text kVersionOutputs[] = {"text", "json"};
constexpr FlagSpec kVersionOutput[] = {
    {"output", 'o', "FORMAT", "text or json (default text)", kVersionOutputs}};
constexpr FlagGroup kVersionGroups[] = {{"Output", kVersionOutput}};
constexpr Example kVersionExamples[] = {{"", "version"}};

constexpr Text kShells[] = {"bash", "zsh"};
constexpr Example kCompletionExamples[] = {
    {"For this shell", "completion bash > /etc/bash_completion.d/firetower"},
};
constexpr FlagSpec kHelpOutput[] = {
    {"markdown", 0, "", "every command as one Markdown page, docs/reference/cli.md"}};
constexpr FlagGroup kHelpGroups[] = {{"Output", kHelpOutput}};
constexpr Example kHelpExamples[] = {{"", "help top"}};

constexpr CommandSpec kCommands[] = {
    {"top", "Show the hottest containers or functions",
     "Containers are ordered by the value of the profile type, for cpu the CPU time; CPU% is the\n"
     "share of all that matches, CORES the average over the time that was observed. Functions are\n"
     "ordered by self value.",
     "[containers|functions]", kTopBy, 1, kTopExamples, kTopGroups},
    {"get",
     "Fetch one merged profile",
     "The sum of everything that matches, from the store and the window that is still open. A "
     "file\n"
     "is never overwritten without --force and never left half written; pprof is not written to a\n"
     "terminal.",
     "[SELECTOR]",
     {},
     1,
     kGetExamples,
     kGetGroups},
    {"flame",
     "Draw a flame graph of one merged profile",
     "What `get` fetches, as a picture: each bar is a function in the stacks below it, as wide as\n"
     "its share. HTML and SVG are one file each and load nothing from elsewhere; names marked [k]\n"
     "are the kernel's, [j] code of a runtime, [i] compiled into their callers.",
     "[SELECTOR]",
     {},
     1,
     kFlameExamples,
     kFlameGroups},
    {"view",
     "Show a profile file as a flame graph in a browser",
     "Serves the page that `flame -o html` writes until Ctrl-C. Asks no firetowerd; - is standard\n"
     "input.",
     "FILE",
     {},
     1,
     kViewExamples,
     kViewGroups},
    {"doctor",
     "Check the kernel, capabilities, cgroups and the store",
     "Asks the daemon what works and what does not. A check that warns or fails says what to do.\n"
     "Exits 1 when a check fails.",
     "",
     {},
     0,
     kDoctorExamples,
     kDoctorGroups},
    {"types",
     "List the profile types that were recorded",
     "",
     "",
     {},
     0,
     kTypesExamples,
     kTypesGroups},
    {"labels",
     "List label names, or the values of one label",
     "",
     "[NAME]",
     {},
     1,
     kLabelsExamples,
     kLabelsGroups},
    {"series", "List label sets with their totals", "", "", {}, 0, kSeriesExamples, kSeriesGroups},
    {"record",
     "Profile a workload of a cluster for a while",
     "Makes a ProfilingPolicy that ends by itself, with your rights on the cluster, waits, and\n"
     "fetches what --server has of those pods. Ctrl-C deletes the policy and keeps what there is.\n"
     "WHAT is KIND/NAME (deployment/checkout, pod/web-0) or labels (app=checkout,tier=web).",
     "WHAT",
     {},
     1,
     kRecordExamples,
     kRecordGroups},
    {"policies",
     "List profiling policies, or what they do about one pod",
     "Reads ProfilingPolicies, ClusterProfilingPolicies and what the agents report of them, with\n"
     "your rights on the cluster. With --pod: whether each profiles that pod, and why or why not.",
     "",
     {},
     0,
     kPoliciesExamples,
     kPoliciesGroups},
    {"merge",
     "Add up files of profiles",
     "Files may be pprof, folded stacks, speedscope's JSON or the output of perf script, gzip'd "
     "or\n"
     "not; what they count must be the same. One at a time is in memory, beside the sum.",
     "FILES...",
     {},
     kAnyNumber,
     kMergeExamples,
     kMergeGroups,
     true},
    {"diff",
     "Show what changed between two profiles",
     "B minus A, by function: SHARE is the change of a function's own value in per cent of A's\n"
     "total. As pprof the samples of A are negated and labelled pprof::base, which go tool pprof\n"
     "shows as its -diff_base. A and B are files of the formats that 'merge' reads.",
     "A B",
     {},
     2,
     kDiffExamples,
     kDiffGroups,
     true},
    {"convert",
     "Write a profile in another format",
     "Reads what 'merge' reads; OUT is standard output unless given. docs/formats.md says what "
     "each\n"
     "format cannot hold.",
     "IN [OUT]",
     {},
     2,
     kConvertExamples,
     kConvertGroups,
     true},
    {"version", "Print the version", "", "", {}, 0, kVersionExamples, kVersionGroups},
    {"completion",
     "Print a completion script for a shell",
     "",
     "bash|zsh",
     kShells,
     1,
     kCompletionExamples,
     {}},
    {"help", "Show help for a command", "", "[COMMAND]", {}, 1, kHelpExamples, kHelpGroups},
};

constexpr ExitCodeSpec kExitCodes[] = {
    {ExitCode::kOk, "it went well"},
    {ExitCode::kFailure, "it failed, or a doctor check fails"},
    {ExitCode::kUsage, "the command line is wrong"},
    {ExitCode::kThreshold, "a threshold was passed"},
    {ExitCode::kNoData, "nothing matches"},
    {ExitCode::kUnreachable, "the server cannot be reached, is not ready or refuses"},
    {ExitCode::kInterrupted, "interrupted"},
};

}  // namespace

std::span<const CommandSpec> Commands() { return kCommands; }
std::span<const FlagSpec> GlobalFlags() { return kGlobal; }
std::span<const ExitCodeSpec> ExitCodes() { return kExitCodes; }

const CommandSpec* FindCommand(std::string_view name) {
  for (const CommandSpec& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace firetower::cli
