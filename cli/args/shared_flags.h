// SPDX-License-Identifier: Apache-2.0
// Flags that the tables of several commands share.
#pragma once

#include <string_view>

#include "cli/args/spec.h"

namespace firetower::cli {

using Text = std::string_view;

inline constexpr FlagSpec kQueryFlag = {
    "query", 'q', "SELECTOR",
    "the selector, such as {namespace=\"shop\",pod=~\"web.*\"} or deploy/checkout"};
inline constexpr FlagSpec kContainerFlag = {"container", 'c', "NAME",
                                            "only containers with this name"};
inline constexpr FlagSpec kTypeFlag = {"type", 't', "TYPE",
                                       "cpu, offcpu, lock, memory or event:NAME (default cpu)"};
inline constexpr FlagSpec kAnyTypeFlag = {"type", 't', "TYPE",
                                          "cpu, offcpu, lock, memory or event:NAME (default: all)"};
// Parts of windows.
inline constexpr FlagSpec kExactFlag = {
    "exact", 0, "", "only what was sampled in that time, to 20 ms, not whole windows"};
inline constexpr FlagSpec kOffsetsFlag = {
    "offsets", 0, "FROM-TO",
    "only these milliseconds of each second, multiples of 20, as 100-300; implies --exact"};
// Parts of stacks, by pprof's names and letters.
inline constexpr FlagSpec kStackFlags[] = {
    {"focus", 0, "REGEX", "only stacks with a frame whose function, file or binary matches (RE2)"},
    {"ignore", 0, "REGEX", "only stacks without such a frame"},
    {"hide", 0, "REGEX", "leave such frames out"},
    {"show", 0, "REGEX", "leave all other frames out"},
    {"tagfocus", 0, "KEY=REGEX", "only samples with such a label, as trace_id=4bf92f35"},
    {"tagignore", 0, "KEY=REGEX", "only samples without such a label"},
    {"show-from", 0, "REGEX", "begin each stack at the outermost such frame; drop those without"},
};
inline constexpr FlagSpec kBottomUpFlag = {
    "bottom-up", 0, "", "from the innermost functions to their callers, not from the outermost"};
inline constexpr FlagSpec kSinceFlag = {"since", 0, "DURATION",
                                        "start this long ago and end now (default 15m)"};
inline constexpr FlagSpec kFromFlag = {
    "from", 0, "TIME", "start: RFC 3339, epoch in s, ms, us or ns, now-1h, or 15m ago"};
inline constexpr FlagSpec kToFlag = {"to", 0, "TIME", "end, in the same forms (default now)"};
inline constexpr FlagSpec kNoHeadersFlag = {"no-headers", 0, "", "omit the header line"};

inline constexpr Text kSymbols[] = {"names", "full"};
inline constexpr FlagSpec kNaming[] = {
    {"symbols", 0, "WHAT",
     "name frames here, from files of this machine: only frames that the daemon left unnamed "
     "(names), "
     "or all frames, with lines and inlined calls (full)",
     kSymbols},
    {"debuginfod",
     0,
     "URLS",
     "debuginfod servers to ask for debug files, separated by commas or spaces, as in "
     "DEBUGINFOD_URLS",
     {},
     /*may_be_empty=*/true},
};

inline constexpr Text kNameDetails[] = {"full", "short", "bare"};
inline constexpr Text kSiblingOrders[] = {"name", "value"};
inline constexpr Text kOrientations[] = {"icicle", "flame"};
inline constexpr FlagSpec kFlameLook[] = {
    {"value", 0, "NAME",
     "the value to show: samples, cpu, inuse_space, ... (default: the main one)"},
    {"names", 0, "WHAT",
     "full, short (no parameters) or bare (no template arguments either) (default full)",
     kNameDetails},
    {"sort", 0, "ORDER", "order of sibling bars: by name or by value (default name)",
     kSiblingOrders},
    {"max-nodes", 0, "N", "show the N largest bars, the rest as 'other'; 0: all (default 100000)"},
    {"orientation", 0, "WAY", "icicle (root on top) or flame (root below) (default icicle)",
     kOrientations},
    {"title",
     0,
     "TEXT",
     "title of the graph (default: the selection, or the file's name)",
     {},
     /*may_be_empty=*/true},
};

inline constexpr FlagSpec kSampleTypeFlag = {
    "sample-type", 0, "TYPE",
    "the value, such as samples or cpu, for outputs with one value per stack (default: the "
    "profile's)"};

inline constexpr Text kProfileFormats[] = {"pprof", "folded", "speedscope", "json"};
inline constexpr FlagSpec kGetOutput[] = {
    {"output", 'o', "FORMAT",
     "pprof, folded, speedscope or json (default: by the file's extension, else pprof)",
     kProfileFormats},
    {"file", 'f', "FILE", "output file; - is standard output (default -)"},
    kSampleTypeFlag,
    {"force", 0, "", "overwrite FILE if it exists"},
};
inline constexpr FlagSpec kForceFlag = {"force", 0, "", "overwrite the file if it exists"};

inline constexpr FlagSpec kKubeconfigFlag = {
    "kubeconfig", 0, "FILE", "kubeconfig file (default $KUBECONFIG, else ~/.kube/config)"};
inline constexpr FlagSpec kContextFlag = {"context", 0, "NAME",
                                          "context of the kubeconfig (default: its current one)"};
inline constexpr FlagSpec kNamespaceFlag = {"namespace", 'n', "NS",
                                            "namespace (default: the context's)"};
inline constexpr FlagSpec kHubNamespaceFlag = {"hub-namespace", 0, "NS",
                                               "namespace of the hub's pods (default firetower)"};
inline constexpr FlagSpec kTokenFlag = {
    "token", 0, "TOKEN",
    "bearer token for the server (default $FIRETOWER_TOKEN; for a cluster, else the kubeconfig "
    "user's)"};

// Flags of commands that may ask a cluster's hub.
inline constexpr FlagSpec kHubFlags[] = {
    {"namespace", 'n', "NS", "only pods of this namespace (default for a cluster: the context's)"},
    {"all-namespaces", 'A', "", "pods of all namespaces, and the hosts"},
    kKubeconfigFlag,
    kContextFlag,
    kHubNamespaceFlag,
    kTokenFlag,
};

}  // namespace firetower::cli
