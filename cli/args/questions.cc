// SPDX-License-Identifier: Apache-2.0
#include "cli/args/shared_flags.h"
#include "cli/args/tables.h"

namespace firetower::cli {
namespace {

constexpr Text kTopOutputs[] = {"table", "wide", "json", "name"};
constexpr Text kTopBy[] = {"containers", "functions", "processes"};
constexpr FlagSpec kTopSelection[] = {
    kQueryFlag,
    kContainerFlag,
    kTypeFlag,
    {"since", 0, "DURATION", "start this long ago and end now (default 15m, with --watch 1m)"},
    kFromFlag,
    kToFlag,
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
                                    {"Cluster", kHubFlags},
                                    {"Symbols", kNaming},
                                    {"Output", kTopOutput}};
constexpr Example kTopExamples[] = {
    {"The containers that use most CPU", "top"},
    {"The hottest functions of a Deployment in the last hour",
     "top functions deploy/checkout -n shop --since 1h"},
    {"The programs of a node that do not run in pods", "top processes '{namespace=\"-\"}'"},
    {"Only for some pods, by label matchers",
     "top functions '{namespace=\"shop\",pod=~\"web.*\"}'"},
    {"Live", "top --watch"},
    {"For a whole cluster, from its hub", "top -A --context prod"},
    {"For a script", "top containers -k 3 -o name"},
};

constexpr FlagSpec kFlameSelection[] = {kContainerFlag, kTypeFlag, kSinceFlag, kFromFlag, kToFlag};
constexpr FlagSpec kGetSelection[] = {
    kContainerFlag,
    kTypeFlag,
    kSinceFlag,
    kFromFlag,
    kToFlag,
    {"id", 0, "ID", "fetch one stored profile unchanged, by its id from 'profiles'"},
};
constexpr FlagGroup kGetGroups[] = {{"Selection", kGetSelection},
                                    {"Cluster", kHubFlags},
                                    {"Symbols", kNaming},
                                    {"Output", kGetOutput}};
constexpr Example kGetExamples[] = {
    {"One container's CPU profile of the last 15 minutes, for go tool pprof",
     "get '{container=\"web\"}' -f web.pb.gz"},
    {"One container of a Deployment's pods",
     "get deploy/checkout -n shop -c web -f checkout.pb.gz"},
    {"Folded stacks for a flame graph",
     "get pod/web-0 --from now-2h --to now-1h -o folded > web.folded"},
    {"With lines and inlined calls, from debug files of this machine or a server",
     "get '{pod=\"web-0\"}' --symbols full --debuginfod \"$DEBUGINFOD_URLS\" -f web.pb.gz"},
    {"The newest stored profile", "get --id \"$(firetower profiles -k 1 -o name)\" -o folded"},
};

constexpr Text kFlameOutputs[] = {"html", "svg", "pprof", "folded", "json"};
constexpr FlagSpec kFlameOutput[] = {
    {"output", 'o', "FORMAT",
     "html (one file, zoom and search), svg (a picture), pprof, folded or json (default: by the "
     "file's extension, else html)",
     kFlameOutputs},
    {"file", 'f', "FILE", "output file; - is standard output (default -)"},
    {"force", 0, "", "overwrite FILE if it exists"},
};
constexpr FlagGroup kFlameGroups[] = {{"Selection", kFlameSelection},
                                      {"Cluster", kHubFlags},
                                      {"Look", kFlameLook},
                                      {"Symbols", kNaming},
                                      {"Output", kFlameOutput}};
constexpr Example kFlameExamples[] = {
    {"A container's last hour, to open in a browser",
     "flame '{container=\"web\"}' --since 1h -f web.html"},
    {"A picture for a ticket, names without their template arguments",
     "flame pod/web-0 --names bare -f web.svg"},
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
    {"top", "Show the hottest containers, functions or processes",
     "Containers are ordered by the value of the profile type, which is CPU time for cpu. CPU% is\n"
     "the share of all matching profiles; CORES is the average over the time that they cover.\n"
     "Functions are ordered by self value. Processes of one name in one container are one row, "
     "with\n"
     "the stack that has most of it.",
     "[containers|functions|processes] [SELECTOR]", kTopBy, 2, kTopExamples, kTopGroups},
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
    {"types",
     "List the profile types that were recorded",
     "",
     "[SELECTOR]",
     {},
     1,
     kTypesExamples,
     kTypesGroups},
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
