// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "cli/args/shared_flags.h"
#include "cli/args/tables.h"

namespace firetower::cli {
namespace {

constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

constexpr Text kInputFormats[] = {"pprof", "folded", "speedscope", "perf-script", "gperftools"};
constexpr FlagSpec kInput[] = {
    {"input-format", 0, "FORMAT",
     "pprof, folded, speedscope, perf-script or gperftools (default: by the content)",
     kInputFormats},
    {"entry", 0, "NAME",
     "file in a ZIP, such as a bundle of a store; * matches any text, ? any character (default: "
     "the "
     "only file; 'merge' takes all)"},
    {"untimed", 0, "", "ignore the time stamps of perf script, so that equal stacks add up"},
};

constexpr FlagSpec kViewServing[] = {
    {"listen", 0, "ADDRESS",
     "HOST:PORT to serve on (default 127.0.0.1:0, which chooses a free port)"},
    {"no-browser", 0, "", "print the address and start no browser"},
};
constexpr FlagGroup kViewGroups[] = {
    {"Serving", kViewServing}, {"Input", kInput}, {"Look", kFlameLook}, {"Symbols", kNaming}};
constexpr Example kViewExamples[] = {
    {"Look at a profile", "view web.pb.gz"},
    {"Look at a recording of perf", "view - < <(perf script)"},
    {"On a machine without a browser, through ssh -L 8000:127.0.0.1:8000",
     "view web.pb.gz --no-browser --listen 127.0.0.1:8000"},
};

constexpr FlagSpec kMergeOutput[] = {
    {"output", 'o', "OUT", "output file; - is standard output (default -)"},
    {"format", 0, "FORMAT",
     "pprof, folded, speedscope or json (default: by the output's extension, else pprof)",
     kProfileFormats},
    kSampleTypeFlag,
    kForceFlag,
};
constexpr FlagGroup kMergeGroups[] = {{"Input", kInput}, {"Output", kMergeOutput}};
constexpr Example kMergeExamples[] = {
    {"An hour of windows as one profile", "merge windows/*.pb.gz -o hour.pb.gz"},
    {"The output of a program, and a file", "merge - before.pb.gz -o both.pb.gz < now.pb.gz"},
    {"A container's CPU profiles from a bundle of a store",
     "merge bundle.zip --entry 'shop/web-0/app/cpu-*' -o app.pb.gz"},
};

constexpr Text kDiffOutputs[] = {"table", "wide", "json", "folded", "pprof"};
constexpr FlagSpec kDiffComparison[] = {
    {"normalize", 0, "",
     "scale A to the total of B, to compare the distribution of time and not its amount"},
    kSampleTypeFlag,
    {"threshold", 0, "PERCENT",
     "omit functions from the table that changed by less than this share of A's total (default "
     "0.5%)"},
    {"fail-over", 0, "PERCENT", "exit 3 when a function grew by more than this share of A's total"},
    {"false-alarms", 0, "PERCENT",
     "of --fail-over: only functions whose share grew beyond chance count; so many comparisons of "
     "equal profiles fail (1% is a good choice)"},
};
constexpr FlagSpec kDiffOutput[] = {
    {"output", 'o', "FORMAT",
     "table, wide (not cut to the terminal), json, folded (two counts) or pprof (default: by the "
     "file's extension, where .txt is folded; table without a file)",
     kDiffOutputs},
    {"file", 'f', "FILE", "output file; - is standard output (default -)"},
    kForceFlag,
    kNoHeadersFlag,
};
constexpr FlagSpec kDiffSelection[] = {kContainerFlag, kTypeFlag};
constexpr FlagGroup kDiffGroups[] = {{"Comparison", kDiffComparison},
                                     {"Input", kInput},
                                     {"Selector", kDiffSelection},
                                     {"Cluster of the selector", kHubFlags},
                                     {"Output", kDiffOutput}};
constexpr Example kDiffExamples[] = {
    {"Which functions take more CPU than before", "diff before.pb.gz after.pb.gz"},
    {"A flame graph of the difference",
     "diff before.pb.gz after.pb.gz --normalize -o folded | flamegraph.pl > diff.svg"},
    {"The last hour compared with the same hour yesterday, from the store",
     "diff deploy/web@now-25h..now-24h deploy/web@now-1h..now"},
    {"An hour before and after the last roll-out",
     "diff deploy/web@before-rollout deploy/web@after-rollout"},
    {"In CI: fail when a function takes 5 % more",
     "diff main.pb.gz branch.pb.gz --normalize --fail-over 5% --false-alarms 1%"},
};

constexpr Text kConvertFormats[] = {"pprof", "folded", "speedscope", "json", "svg", "html"};
constexpr FlagSpec kConvertOutput[] = {
    {"format", 'o', "FORMAT",
     "pprof, folded, speedscope, json, svg (a picture) or html (one file, zoom and search) "
     "(default: by the output's extension, else pprof)",
     kConvertFormats},
    kSampleTypeFlag,
    {"annotate", 0, "", "folded: mark frames of the kernel with _[k] and inlined ones with _[i]"},
    kForceFlag,
};
// Which value is drawn is --sample-type here.
constexpr FlagGroup kConvertGroups[] = {
    {"Input", kInput},
    {"Output", kConvertOutput},
    {"Look of svg and html", std::span<const FlagSpec>(kFlameLook).subspan(1)}};
constexpr Example kConvertExamples[] = {
    {"Samples of perf, for go tool pprof", "convert - perf.pb.gz < <(perf script)"},
    {"For speedscope.app", "convert web.pb.gz web.speedscope.json"},
    {"For flamegraph.pl", "convert web.pb.gz -o folded --annotate | flamegraph.pl > web.svg"},
    {"A flame graph to attach to a ticket", "convert web.pb.gz web.html"},
};

constexpr CommandSpec kFiles[] = {
    {"view",
     "Show a profile file as a flame graph in a browser",
     "Serves the page of `flame -o html` until Ctrl-C. FILE may have any format that 'merge' "
     "reads;\n"
     "- is standard input. Does not need a firetowerd.",
     "FILE",
     {},
     1,
     kViewExamples,
     kViewGroups,
     true},
    {"merge",
     "Add up profile files",
     "Files may be pprof, folded stacks, speedscope's JSON, the output of perf script or CPU\n"
     "profiles of gperftools, plain or packed by gzip, zstd, xz or ZIP. All must have the same\n"
     "sample types. Only one file at a time is in memory, beside the sum.",
     "FILES...",
     {},
     kAnyNumber,
     kMergeExamples,
     kMergeGroups,
     true},
    {"diff",
     "Show what changed between two profiles",
     "Shows B minus A, by function: SHARE is the change of a function's own value in per cent of\n"
     "A's total. In pprof output the samples of A are negated and labelled pprof::base, as with\n"
     "-diff_base of go tool pprof. A and B are files of the formats that 'merge' reads, or\n"
     "selectors with a time, '{...}@FROM..TO' or KIND/NAME@FROM..TO, which are fetched as by "
     "'get'\n"
     "(default: the last 15 minutes). If a file KIND/NAME exists, the file is used. A selector\n"
     "without profiles is \"no data\", exit code 4; the server's own /api/v1/diff would take that\n"
     "side as empty.",
     "A B",
     {},
     2,
     kDiffExamples,
     kDiffGroups,
     true},
    {"convert",
     "Write a profile in another format",
     "Reads the formats that 'merge' reads. OUT is standard output by default. docs/formats.md\n"
     "says what each format cannot hold.",
     "IN [OUT]",
     {},
     2,
     kConvertExamples,
     kConvertGroups,
     true},
};

}  // namespace

std::span<const CommandSpec> FileCommands() { return kFiles; }

}  // namespace firetower::cli
