// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/common.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/term/table.h"
#include "query/select/selector.h"
#include "query/time_range.h"

namespace firetower::cli {

Failure BadFlag(const LocalContext& context, const Error& error) {
  return UsageFailure(error, context.program, context.args.command->name);
}

std::optional<Failure> RefuseFlags(const LocalContext& context,
                                   std::initializer_list<std::string_view> flags,
                                   std::string_view why) {
  for (const std::string_view flag : flags) {
    if (!context.args.Has(flag)) continue;
    return BadFlag(context, Error(ErrorCode::kInvalid, fmt::format("--{} {}", flag, why)));
  }
  return std::nullopt;
}

Outcome<uint32_t> PickValue(const LocalContext& context, const profile::Profile& profile,
                            std::string_view flag) {
  if (!context.args.Has(flag)) return profile.DefaultValueIndex();
  const std::string wanted = context.args.Get(flag);
  const uint32_t index = profile.FindValueIndex(wanted);
  if (index < profile.sample_types().size()) return index;
  std::vector<std::string_view> names;
  for (const profile::ValueType& type : profile.sample_types()) names.push_back(type.type);
  Failure failure = BadFlag(
      context,
      Error(ErrorCode::kInvalid, fmt::format("--{} is '{}', which the profile does not have{}",
                                             flag, wanted, DidYouMean(wanted, names))));
  failure.fix = names.empty() ? "use a profile with values: this one has none"
                              : fmt::format("set --{} to one of its values: {}", flag,
                                            fmt::join(names, ", "));
  return failure;
}

void TellValue(const LocalContext& context, const profile::Profile& profile, uint32_t value_index,
               std::string_view flag, std::string_view format) {
  if (context.args.Has(flag) || profile.sample_types().size() < 2) return;
  std::string others;
  for (uint32_t i = 0; i < profile.sample_types().size(); ++i) {
    if (i == value_index) continue;
    others += (others.empty() ? "" : ", ") + profile.sample_types()[i].type;
  }
  const std::string line =
      fmt::format("{}: note: {} holds only one value, {}, and omits {}: choose one with --{}{}",
                  context.program, format, profile.sample_types()[value_index].type, others, flag,
                  format == "folded" ? ", or write pprof" : "");
  std::fprintf(stderr, "%s\n", Printable(line, context.terminal.utf8).c_str());
}

Outcome<std::string> AsAsked(const Context& context, const std::string& selector) {
  const Args& args = context.args;
  Result<std::string> whole =
      query::SelectorWithin(selector, {.namespace_name = context.namespace_name,
                                       .is_told = args.Has("namespace"),
                                       .container = args.Get("container")});
  if (!whole) return BadFlag(context, whole.error());
  return *std::move(whole);
}

Outcome<std::string> AskedSelector(const Context& context) {
  const Args& args = context.args;
  if (!args.selector.empty() && args.Has("query")) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  fmt::format("'{}' and --query are both selectors: give only one",
                                              args.selector)));
  }
  return AsAsked(context, args.selector.empty() ? args.Get("query") : args.selector);
}

Outcome<std::string> PodSelector(const Context& context) {
  const std::string node = context.args.Get("node");
  const std::string& asked = context.args.selector;
  if (!node.empty()) {
    if (!asked.empty() || context.args.Has("query"))
      return BadFlag(context,
                     Error(ErrorCode::kInvalid, "--node is a selector by itself: give only one"));
    return AsAsked(context, "node/" + node);
  }
  const bool is_word = !asked.empty() && asked.find_first_of("{=/") == std::string::npos;
  if (is_word && !context.args.Has("query")) return AsAsked(context, "pod/" + asked);
  return AskedSelector(context);
}

Outcome<net::NamedValues> RangeParams(const Context& context, std::string_view default_since) {
  const Args& args = context.args;
  std::string from = args.Get("from");
  std::string to = args.Get("to");
  std::string since = args.Get("since");
  if (!since.empty() && (!from.empty() || !to.empty())) {
    return BadFlag(context,
                   Error(ErrorCode::kInvalid,
                         "--since counts back from now: give either --since or --from and --to"));
  }
  if (!since.empty()) {
    Result<int64_t> duration = ParseDurationNs(since);
    if (!duration) return BadFlag(context, Error(duration.error()).Context("--since"));
  }
  if (from.empty() && to.empty()) {
    from = fmt::format("now-{}", since.empty() ? default_since : since);
  }
  auto range = query::ParseTimeRange(from, to, Clock::System().WallNs());
  if (!range) return BadFlag(context, range.error());

  net::NamedValues params;
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) params.emplace_back(name, value);
  };
  add("type", args.Get("type"));
  add("from", from);
  add("to", to);
  for (const char* flag : {"exact", "offsets", "focus", "ignore", "hide", "show", "show-from",
                           "tagfocus", "tagignore"})
    add(flag, args.Get(flag));
  return params;
}

Outcome<net::NamedValues> SelectionParams(const Context& context, std::string_view default_since) {
  Outcome<net::NamedValues> params = RangeParams(context, default_since);
  if (!params) return params;
  Outcome<std::string> selector = AskedSelector(context);
  if (!selector) return selector.failure();
  if (!selector->empty()) params->emplace_back("q", *selector);
  return params;
}

Outcome<int> Emit(std::string_view text, int exit_code) {
  Status written = WriteOut(text);
  if (written) return exit_code;
  if (written.error().sys_errno() == EPIPE) return ExitCode::kFailure;
  return Failure{ExitCode::kFailure, "cannot write", written.error().message(),
                 "check the destination of standard output, and its free space"};
}

void WarnSkipped(const Context& context, int64_t skipped) {
  if (skipped == 0) return;
  std::fprintf(stderr,
               "%s: warning: %lld stored profiles, or bundles of them, could not be read and are "
               "not counted; the server's log names the first\n",
               context.program.c_str(), static_cast<long long>(skipped));
}

void WarnCoarse(const LocalContext& context, std::optional<double> share, std::string_view what) {
  if (!share) return;
  std::fprintf(stderr,
               "%s: warning: the data was too large to be kept in full: %.*s of up to %.4f%% of "
               "the total may be shown as 'other', and addresses, lines and rare labels may be "
               "missing; sums are exact. Select less data to see them\n",
               context.program.c_str(), static_cast<int>(what.size()), what.data(), 100 * *share);
}

Failure UnreadableAnswer(const Error& error) {
  return {ExitCode::kFailure, "the server's answer cannot be read", error.message(),
          "check that the server is a Firetower of this version"};
}

Failure NoData(const Context& context) {
  Outcome<std::string> selector = AskedSelector(context);
  return {ExitCode::kNoData, "no data",
          !selector || selector->empty()
              ? "nothing was recorded in that range"
              : fmt::format("nothing in that range matches {}", *selector),
          "widen the range with --since, or run 'series' and 'doctor'"};
}

}  // namespace firetower::cli
