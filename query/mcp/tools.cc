// SPDX-License-Identifier: Apache-2.0
#include "query/mcp/tools.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>
#include <vector>

#include "profile/export.h"
#include "profile/pprof.h"
#include "profile/top/callers.h"
#include "profile/top/top.h"
#include "query/heat/heat_reply.h"
#include "query/mcp/proposal.h"
#include "query/select/selector.h"
#include "query/time_range.h"

namespace firetower::query {
namespace {

#define SELECTION                                                                             \
  {"selector",                                                                                \
   "what to look at: deploy/checkout, pod/web-0, node/worker-1, ns/shop, or PromQL matchers " \
   "such as {namespace=\"shop\",pod=~\"web.*\"}; without it everything",                      \
   false, false},                                                                             \
      {"type", "cpu (the default), offcpu, lock, memory or event:NAME", false, false},        \
      {"from", "the start: RFC 3339, or now-15m (the default)", false, false}, {              \
    "to", "the end, in the same forms; without it now", false, false                          \
  }

constexpr ToolParameter kLimit = {"limit", "the number of rows, 1 to 1000", true, false};
constexpr ToolParameter kTop[] = {
    {"by", "containers (the default), functions, lines, processes or traces", false, false},
    SELECTION,
    kLimit};
constexpr ToolParameter kSelection[] = {SELECTION};
constexpr ToolParameter kDiagnose[] = {
    SELECTION,
    {"base_from", "the start of a time to compare with, as now-25h: tells what has grown since",
     false, false},
    {"base_to", "its end, as now-24h; without it as long as the time asked for", false, false},
    {"base",
     "rollout: tells what has grown since the last roll-out of the one Deployment selected, of its "
     "new pods beside those that they replaced",
     false, false}};
constexpr ToolParameter kStacks[] = {SELECTION, kLimit};
constexpr ToolParameter kDiff[] = {
    SELECTION,
    {"base_from", "the start of the time to compare with, as now-25h", false, true},
    {"base_to", "its end, as now-24h", false, true},
    {"base_selector", "what to compare with; without it the same", false, false},
    kLimit};
constexpr ToolParameter kCallers[] = {
    {"function", "a regular expression (RE2) of functions, source files or binaries", false, true},
    SELECTION,
    kLimit};
constexpr ToolParameter kHeat[] = {
    {"by",
     "offset (the default: a line a second, its ten parts of 100 ms), or pod, container, node, "
     "comm or thread (a line each)",
     false, false},
    {"paint", "count only stacks with a function that matches this regular expression (RE2)", false,
     false},
    SELECTION};
constexpr ToolParameter kLabels[] = {{"name", "a label; without it the names of all", false, false},
                                     SELECTION};
constexpr ToolParameter kRange[] = {SELECTION, kLimit};
constexpr ToolParameter kPolicies[] = {
    {"selector", "ns/shop: only the policies of this namespace; without it all", false, false}};
constexpr ToolParameter kProposal[] = {
    {"name", "the policy's name", false, true},
    {"namespace", "whose pods it is for; without it those of every namespace", false, false},
    {"workload", "deployment/checkout, and statefulset, daemonset, job, cronjob or pod likewise",
     false, false},
    {"labels", "labels of pods: app=web,tier=api; without these two all pods", false, false},
    {"types", "cpu (the default), offcpu, lock, memory, separated by commas", false, false},
    {"frequency", "samples of CPU time a second and CPU, 1 to 999", true, false},
    {"when",
     "periodic (the default: a minute of five), continuous, or trigger: a capture when a metric "
     "crosses a threshold",
     false, false},
    {"processes", "only processes of these names: java,nginx", false, false},
    {"metric",
     "of a trigger: ContainerCPU, ContainerCPUThrottled, ContainerMemory, ContainerCPUPressure, "
     "ContainerMemoryPressure, ContainerIOPressure or OOMKill",
     false, false},
    {"above", "of a trigger: the per cent (of limit or time) from which on it fires", true, false},
    {"for_seconds", "of a trigger: how long it must be above, 10 if not given", true, false}};
#undef SELECTION

std::string Get(const ToolArguments& arguments, const std::string& name) {
  const auto at = arguments.find(name);
  return at != arguments.end() ? at->second : "";
}

Result<net::NamedValues> Selection(const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(const std::string selector, ToolSelector(Get(arguments, "selector")));
  net::NamedValues params;
  if (!selector.empty()) params.emplace_back("q", selector);
  for (const char* name : {"type", "to"}) {
    if (std::string value = Get(arguments, name); !value.empty())
      params.emplace_back(name, std::move(value));
  }
  const std::string from = Get(arguments, "from");
  params.emplace_back("from", from.empty() ? "now-15m" : from);
  return params;
}

Result<size_t> Limit(const ToolArguments& arguments, size_t otherwise) {
  const std::string text = Get(arguments, "limit");
  if (text.empty()) return otherwise;
  size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit < 1 || limit > 1000)
    return Error(ErrorCode::kInvalid, "limit must be a number from 1 to 1000");
  return limit;
}

Result<std::string> Top(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(net::NamedValues params, Selection(arguments));
  ASSIGN_OR_RETURN(const size_t limit, Limit(arguments, 10));
  params.emplace_back("k", std::to_string(limit));
  if (std::string by = Get(arguments, "by"); !by.empty()) params.emplace_back("by", std::move(by));
  return ask("/api/v1/top", params);
}

Result<std::string> Diagnose(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(net::NamedValues params, Selection(arguments));
  for (const auto& [argument, name] :
       {std::pair{"base_from", "base-from"}, std::pair{"base_to", "base-to"},
        std::pair{"base", "base"}}) {
    if (std::string value = Get(arguments, argument); !value.empty())
      params.emplace_back(name, std::move(value));
  }
  return ask("/api/v1/diagnose", params);
}

Result<std::string> Rollouts(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(net::NamedValues params, Selection(arguments));
  if (Get(arguments, "from").empty()) params.back().second = "now-24h";
  return ask("/api/v1/rollouts", params);
}

// The heaviest stacks, as `percent root;…;leaf`.
Result<std::string> Stacks(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(const net::NamedValues params, Selection(arguments));
  ASSIGN_OR_RETURN(const size_t limit, Limit(arguments, 20));
  ASSIGN_OR_RETURN(const std::string body, ask("/api/v1/profile", params));
  ASSIGN_OR_RETURN(const profile::Profile profile, profile::DecodePprof(body));
  const uint32_t value = profile.DefaultValueIndex();
  const std::string folded = profile::ToFolded(profile, value);
  std::vector<std::pair<int64_t, std::string_view>> stacks;
  for (size_t at = 0; at < folded.size();) {
    const size_t end = folded.find('\n', at);
    const std::string_view line = std::string_view(folded).substr(at, end - at);
    const size_t blank = line.rfind(' ');
    if (blank != std::string_view::npos)
      stacks.emplace_back(std::strtoll(line.data() + blank + 1, nullptr, 10),
                          line.substr(0, blank));
    at = end == std::string::npos ? folded.size() : end + 1;
  }
  std::ranges::stable_sort(stacks, std::greater(), [](const auto& one) { return one.first; });
  const auto total = static_cast<double>(std::max<int64_t>(1, profile.Total(value)));
  std::string text = fmt::format("{} stacks, {} in all; per cent of it, outermost function first\n",
                                 stacks.size(), profile.Total(value));
  for (size_t i = 0; i < std::min(limit, stacks.size()); ++i)
    text += fmt::format("{:.2f} {}\n", 100 * static_cast<double>(stacks[i].first) / total,
                        stacks[i].second);
  return text;
}

// The functions whose own value changed most.
Result<std::string> Diff(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(net::NamedValues params, Selection(arguments));
  ASSIGN_OR_RETURN(const size_t limit, Limit(arguments, 20));
  ASSIGN_OR_RETURN(const std::string base, ToolSelector(Get(arguments, "base_selector")));
  params.emplace_back("base-from", Get(arguments, "base_from"));
  params.emplace_back("base-to", Get(arguments, "base_to"));
  if (!base.empty()) params.emplace_back("base-q", base);
  ASSIGN_OR_RETURN(const std::string body, ask("/api/v1/diff", params));
  ASSIGN_OR_RETURN(const profile::Profile diff, profile::DecodePprof(body));
  profile::TopResult top = profile::Top(diff, diff.DefaultValueIndex());
  std::ranges::stable_sort(top.rows, std::greater(),
                           [](const profile::TopRow& row) { return std::abs(row.self); });
  std::string text = fmt::format("change of the own value of functions, in {}; {} in all\n",
                                 top.value_type.unit, top.total);
  for (size_t i = 0; i < std::min(limit, top.rows.size()); ++i)
    text +=
        fmt::format("{:+} {} ({})\n", top.rows[i].self, top.rows[i].function, top.rows[i].mapping);
  return text;
}

// Functions with their callers and callees.
Result<std::string> Callers(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(const net::NamedValues params, Selection(arguments));
  ASSIGN_OR_RETURN(const size_t limit, Limit(arguments, 10));
  ASSIGN_OR_RETURN(const std::string body, ask("/api/v1/profile", params));
  ASSIGN_OR_RETURN(const profile::Profile profile, profile::DecodePprof(body));
  ASSIGN_OR_RETURN(const profile::Peeked peeked, profile::Peek(profile, profile.DefaultValueIndex(),
                                                               Get(arguments, "function"), limit));
  const double whole = static_cast<double>(std::max<int64_t>(1, peeked.total));
  const auto percent = [&](int64_t value) { return 100 * static_cast<double>(value) / whole; };
  std::string text = fmt::format("per cent of {} {}; < calls it, > is called by it\n", peeked.total,
                                 peeked.value_type.unit);
  for (const profile::PeekedFunction& one : peeked.functions) {
    text += fmt::format("{} ({}): self {:.2f}, total {:.2f}\n", one.function, one.module,
                        percent(one.self), percent(one.total));
    for (const profile::Neighbour& caller : one.callers)
      text += fmt::format("  < {:.2f} {}\n", percent(caller.value), caller.function);
    for (const profile::Neighbour& callee : one.callees)
      text += fmt::format("  > {:.2f} {}\n", percent(callee.value), callee.function);
  }
  return peeked.functions.empty() ? Result<std::string>("no function matches\n") : text;
}

// A line for each second with the samples of its parts, or for each value of a label with those of
// its columns.
std::string HeatText(const HeatReply& heat) {
  const std::vector<uint32_t>& cells = heat.painted.empty() ? heat.cells : heat.painted;
  std::string text = fmt::format("{} samples of {}", heat.samples, heat.type);
  if (!heat.paint.empty()) text += fmt::format(", {} of them shown", heat.painted_samples);
  if (heat.untimed_samples > 0)
    text += fmt::format(", {} more without a known time", heat.untimed_samples);
  const bool by_offset = heat.row_ms > 0;
  text += by_offset ? fmt::format("; a line a second, columns of {} ms\n", heat.row_ms)
                    : fmt::format("; columns of {} ms from {} on\n", heat.column_ms,
                                  FormatTimeUtc(heat.begin_ms * kNsPerMs));
  const int64_t lines = by_offset ? heat.columns : static_cast<int64_t>(heat.rows.size());
  for (int64_t line = 0; line < lines; ++line) {
    text += by_offset ? FormatTimeUtc((heat.begin_ms + line * heat.column_ms) * kNsPerMs)
                      : heat.rows[static_cast<size_t>(line)];
    const int64_t width = by_offset ? static_cast<int64_t>(heat.rows.size()) : heat.columns;
    for (int64_t at = 0; at < width; ++at) {
      text += fmt::format(" {}", cells[by_offset ? heat.At(line, static_cast<size_t>(at))
                                                 : heat.At(at, static_cast<size_t>(line))]);
    }
    text += '\n';
  }
  return text;
}

Result<std::string> Heat(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(net::NamedValues params, Selection(arguments));
  if (Get(arguments, "from").empty()) params.back().second = "now-2m";
  const std::string by = Get(arguments, "by");
  for (const char* name : {"by", "paint"}) {
    if (std::string value = Get(arguments, name); !value.empty())
      params.emplace_back(name, std::move(value));
  }
  if (by.empty() || by == "offset") params.emplace_back("rows", "10");
  ASSIGN_OR_RETURN(const std::string body, ask("/api/v1/heat", params));
  ASSIGN_OR_RETURN(const HeatReply heat, HeatReplyFromJson(body));
  return HeatText(heat);
}

Result<std::string> Types(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(net::NamedValues params, Selection(arguments));
  std::erase_if(params, [](const auto& param) { return param.first == "type"; });
  return ask("/api/v1/types", params);
}

Result<std::string> Labels(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(net::NamedValues params, Selection(arguments));
  if (std::string name = Get(arguments, "name"); !name.empty())
    params.emplace_back("name", std::move(name));
  return ask("/api/v1/labels", params);
}

Result<std::string> Profiles(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(net::NamedValues params, Selection(arguments));
  ASSIGN_OR_RETURN(const size_t limit, Limit(arguments, 20));
  params.emplace_back("limit", std::to_string(limit));
  return ask("/api/v1/profiles", params);
}

// The policies with their states.
Result<std::string> Policies(const AskApi& ask, const ToolArguments& arguments) {
  ASSIGN_OR_RETURN(const std::string selector, ToolSelector(Get(arguments, "selector")));
  net::NamedValues params;
  if (!selector.empty()) params.emplace_back("q", selector);
  return ask("/api/v1/policies", params);
}

Result<std::string> Propose(const AskApi& /*ask*/, const ToolArguments& arguments) {
  ToolArguments fields = arguments;
  fields.erase("max_tokens");
  return ProposePolicy(fields);
}

constexpr Tool kTools[] = {
    {"top",
     "The hottest containers, functions, source lines, processes or traces, with their share. "
     "Begin here.",
     kTop, Top},
    {"diagnose",
     "Whose code the time is spent in (application, runtime, library, kernel) and which known "
     "pathologies the stacks show, the most likely first, with evidence and a next step; with "
     "base_from, or base=rollout, also which functions have grown since, beyond chance.",
     kDiagnose, Diagnose},
    {"rollouts",
     "When Deployments changed to other pods, of the last day if from is not given; diagnose with "
     "base=rollout says what the last one made slower.",
     kSelection, Rollouts},
    {"stacks", "The heaviest call stacks, for what calls a hot function.", kStacks, Stacks},
    {"diff", "What changed between two times or two selections, by function.", kDiff, Diff},
    {"callers", "Functions with their callers and callees, by a regular expression of their names.",
     kCallers, Callers},
    {"heat",
     "When samples were taken: rhythms and bursts within seconds, or which pod, process or thread "
     "was busy when.",
     kHeat, Heat},
    {"types", "The types of profiles that were recorded.", kSelection, Types},
    {"labels", "The names of labels, or the values of one, such as the pods of a namespace.",
     kLabels, Labels},
    {"profiles", "The stored profiles one by one, newest first; captures of triggers among them.",
     kRange, Profiles},
    {"policies",
     "The profiling policies: what each asks for, whether it is in force, how many pods it matches "
     "and profiles, and why it is degraded or refused.",
     kPolicies, Policies},
    {"propose_policy",
     "Writes a profiling policy as YAML, for a person to read and to apply with kubectl. It is not "
     "applied.",
     kProposal, Propose},
};

}  // namespace

std::span<const Tool> Tools() { return kTools; }

Result<std::string> ToolSelector(std::string_view selector) { return SelectorWithin(selector, {}); }

}  // namespace firetower::query
