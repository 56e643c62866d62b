// SPDX-License-Identifier: Apache-2.0
#include "cli/args/shared_flags.h"
#include "cli/args/tables.h"

namespace firetower::cli {
namespace {

constexpr Text kTopOutputs[] = {"table", "wide", "json", "name"};
constexpr Text kTopBy[] = {"containers", "functions"};
constexpr FlagSpec kTopSelection[] = {
    kQueryFlag,
    kContainerFlag,
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
constexpr FlagGroup kTopGroups[] = {{"Selection", kTopSelection},
                                    {"Cluster", kHubFlags},
                                    {"Symbols", kNaming},
                                    {"Output", kTopOutput}};
constexpr Example kTopExamples[] = {
    {"The containers that burn most CPU", "top"},
    {"The hottest functions of a Deployment in the last hour",
     "top functions deploy/checkout -n shop --since 1h"},
    {"Of what label matchers take", "top functions '{namespace=\"shop\",pod=~\"web.*\"}'"},
    {"Live", "top --watch"},
    {"Of a whole cluster, by its hub", "top -A --context prod"},
    {"For a script", "top containers -k 3 -o name"},
};

constexpr FlagSpec kFlameSelection[] = {kContainerFlag, kTypeFlag, kSinceFlag, kFromFlag, kToFlag};
constexpr FlagSpec kGetSelection[] = {
    kContainerFlag,
    kTypeFlag,
    kSinceFlag,
    kFromFlag,
    kToFlag,
    {"id", 0, "ID", "one stored profile, as it is stored, instead: an id that 'profiles' tells"},
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
    {"The newest one that is stored", "get --id \"$(firetower profiles -k 1 -o name)\" -o folded"},
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
    {"Whether a cluster lets the agents in, and what its hub lacks", "doctor --context prod"},
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
    kContainerFlag, kAnyTypeFlag, kSinceFlag,
    kFromFlag,      kToFlag,      {"limit", 'k', "N", "how many, 1 to 10000 (default 100)"}};
constexpr FlagSpec kProfilesOutput[] = {
    {"output", 'o', "FORMAT",
     "table, wide (with ids, not cut to the terminal), json or name: the ids (default table)",
     kProfilesOutputs},
    kNoHeadersFlag,
};
constexpr FlagGroup kProfilesGroups[] = {
    {"Selection", kProfilesSelection}, {"Cluster", kHubFlags}, {"Output", kProfilesOutput}};
constexpr Example kProfilesExamples[] = {
    {"What was recorded of a container in the last hour, window by window",
     "profiles '{container=\"web\"}' --since 1h"},
    {"Captures of triggers, today", "profiles '{capture!=\"\"}' --since 24h"},
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
    {"by", 0, "LABELS", "add up by these, comma-separated (default namespace,pod,container)"},
    {"step", 0, "DURATION", "one point a step instead of one total; json shows them"},
};
constexpr FlagGroup kSeriesGroups[] = {
    {"Selection", kSeriesSelection}, {"Cluster", kHubFlags}, {"Output", kListOutput}};
constexpr Example kSeriesExamples[] = {
    {"What there is", "series"},
    {"CPU by namespace, minute by minute", "series --by namespace --step 1m -o json"},
};

constexpr CommandSpec kQuestions[] = {
    {"top", "Show the hottest containers or functions",
     "Containers are ordered by the value of the profile type, for cpu the CPU time; CPU% is the\n"
     "share of all that matches, CORES the average over the time that was observed. Functions are\n"
     "ordered by self value.",
     "[containers|functions] [SELECTOR]", kTopBy, 2, kTopExamples, kTopGroups},
    {"get",
     "Fetch one merged profile",
     "The sum of everything that matches, from the store and the window that is still open. A\n"
     "file is never overwritten without --force and never left half written; pprof is not written\n"
     "to a terminal.",
     "[SELECTOR]",
     {},
     1,
     kGetExamples,
     kGetGroups},
    {"profiles",
     "List profiles one by one, newest first",
     "A row for each container, type and window, and for each capture. The window that is still\n"
     "open has no id yet, and names none.",
     "[SELECTOR]",
     {},
     1,
     kProfilesExamples,
     kProfilesGroups},
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
    {"doctor",
     "Check the kernel, capabilities, cgroups, the store and the installation",
     "Asks the daemon, or a cluster's hub, what works and what does not. A check that warns or "
     "fails\n"
     "says what to do. Of a cluster it also looks, with your rights, whether the namespace of\n"
     "--hub-namespace lets the agents' pods in (pod-security: its label\n"
     "pod-security.kubernetes.io/enforce) and whether they are there (agents: the DaemonSet, its\n"
     "events and pods); what you may not read is skipped, and the hub where there is none or it "
     "was\n"
     "told no store. Exits 1 when a check fails.",
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
