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
     "of a ZIP, as a store has them: which file in it, * and ? stand for any text and character "
     "(default: the only one; 'merge' takes all)"},
    {"untimed", 0, "", "leave the time stamps of perf script out, so that equal stacks add up"},
};

constexpr FlagSpec kViewServing[] = {
    {"listen", 0, "ADDRESS", "HOST:PORT to serve on (default 127.0.0.1:0, a port of its own)"},
    {"no-browser", 0, "", "only print the address"},
};
constexpr FlagGroup kViewGroups[] = {
    {"Serving", kViewServing}, {"Input", kInput}, {"Look", kFlameLook}, {"Symbols", kNaming}};
constexpr Example kViewExamples[] = {
    {"Look at a profile", "view web.pb.gz"},
    {"At what perf recorded", "view - < <(perf script)"},
    {"On a machine without a browser, through ssh -L 8000:127.0.0.1:8000",
     "view web.pb.gz --no-browser --listen 127.0.0.1:8000"},
};

constexpr FlagSpec kMergeOutput[] = {
    {"output", 'o', "OUT", "where to write; - is standard output (default -)"},
    {"format", 0, "FORMAT",
     "pprof, folded, speedscope or json (default: by the output's extension, else pprof)",
     kProfileFormats},
    kSampleTypeFlag,
    kForceFlag,
};
constexpr FlagGroup kMergeGroups[] = {{"Input", kInput}, {"Output", kMergeOutput}};
constexpr Example kMergeExamples[] = {
    {"An hour of windows as one profile", "merge windows/*.pb.gz -o hour.pb.gz"},
    {"One that a program writes, and a file", "merge - before.pb.gz -o both.pb.gz < now.pb.gz"},
    {"A container's CPU profiles out of a ZIP that a store has",
     "merge bundle.zip --entry 'shop/web-0/app/cpu-*' -o app.pb.gz"},
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
     "file's extension, where .txt is folded; without a file table)",
     kDiffOutputs},
    {"file", 'f', "FILE", "where to write; - is standard output (default -)"},
    kForceFlag,
    kNoHeadersFlag,
};
constexpr FlagSpec kDiffSelection[] = {kContainerFlag, kTypeFlag};
constexpr FlagGroup kDiffGroups[] = {{"Comparison", kDiffComparison},
                                     {"Input", kInput},
                                     {"Of a selector", kDiffSelection},
                                     {"Cluster of a selector", kHubFlags},
                                     {"Output", kDiffOutput}};
constexpr Example kDiffExamples[] = {
    {"Which functions take more CPU than before", "diff before.pb.gz after.pb.gz"},
    {"For a flame graph of the difference",
     "diff before.pb.gz after.pb.gz --normalize -o folded | flamegraph.pl > diff.svg"},
    {"Today's hour beside yesterday's, of what is stored",
     "diff deploy/web@now-25h..now-24h deploy/web@now-1h..now"},
    {"In CI: fail when a function takes 5 % more",
     "diff main.pb.gz branch.pb.gz --normalize --fail-over 5%"},
};

constexpr Text kConvertFormats[] = {"pprof", "folded", "speedscope", "json", "svg", "html"};
constexpr FlagSpec kConvertOutput[] = {
    {"format", 'o', "FORMAT",
     "pprof, folded, speedscope, json, svg (a picture) or html (one file, zoom and search) "
     "(default: by the output's extension, else pprof)",
     kConvertFormats},
    kSampleTypeFlag,
    {"annotate", 0, "", "folded: mark frames of the kernel with _[k], inlined ones with _[i]"},
    kForceFlag,
};
// Which value is drawn is --sample-type here.
constexpr FlagGroup kConvertGroups[] = {
    {"Input", kInput},
    {"Output", kConvertOutput},
    {"Look of svg and html", std::span<const FlagSpec>(kFlameLook).subspan(1)}};
constexpr Example kConvertExamples[] = {
    {"perf's samples, for go tool pprof", "convert - perf.pb.gz < <(perf script)"},
    {"For speedscope.app", "convert web.pb.gz web.speedscope.json"},
    {"For flamegraph.pl", "convert web.pb.gz -o folded --annotate | flamegraph.pl > web.svg"},
    {"A flame graph to attach to a ticket", "convert web.pb.gz web.html"},
};

constexpr CommandSpec kFiles[] = {
    {"view",
     "Show a profile file as a flame graph in a browser",
     "Serves the page that `flame -o html` writes until Ctrl-C. FILE may be of any format that\n"
     "'merge' reads; - is standard input. Asks no firetowerd.",
     "FILE",
     {},
     1,
     kViewExamples,
     kViewGroups,
     true},
    {"merge",
     "Add up files of profiles",
     "Files may be pprof, folded stacks, speedscope's JSON, the output of perf script or CPU\n"
     "profiles of gperftools, plain or packed by gzip, zstd, xz or ZIP; what they count must be "
     "the\n"
     "same. One at a time is in memory, beside the sum.",
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
     "shows as its -diff_base. A and B are files of the formats that 'merge' reads, or selectors\n"
     "with a time, '{...}@FROM..TO' or KIND/NAME@FROM..TO, which 'get' would fetch (default: the\n"
     "last 15 minutes); a file that is there goes before KIND/NAME. A selector that nothing "
     "matches\n"
     "is \"no data\", exit code 4, where the server's own /api/v1/diff takes that side as empty.",
     "A B",
     {},
     2,
     kDiffExamples,
     kDiffGroups,
     true},
    {"convert",
     "Write a profile in another format",
     "Reads what 'merge' reads; OUT is standard output unless given. docs/formats.md says what\n"
     "each format cannot hold.",
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
