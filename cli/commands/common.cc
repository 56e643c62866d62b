// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/common.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "profile/selector.h"
#include "query/time_range.h"

namespace firetower::cli {

Failure BadFlag(const LocalContext& context, const Error& error) {
  return UsageFailure(error, context.program, context.args.command->name);
}

std::string InNamespace(const Context& context, const std::string& text) {
  if (context.namespace_name.empty()) return text;
  const Result<profile::Selector> selector = profile::Selector::Parse(text);
  if (!selector) return text;  // the server says what is wrong with it
  // The kubeconfig's namespace is for a question that names none.
  if (!context.args.Has("namespace") && selector->Mentions("namespace")) return text;
  Result<profile::Matcher> matcher =
      profile::Matcher::Create("namespace", profile::MatchOp::kEqual, context.namespace_name);
  return matcher ? selector->With(*std::move(matcher)).ToString() : text;
}

std::string AskedSelector(const Context& context) {
  const Args& args = context.args;
  if (args.command->positional == "[SELECTOR]" && !args.positionals.empty())
    return InNamespace(context, args.positionals[0]);
  return InNamespace(context, args.Get("query"));
}

Outcome<query::NamedValues> SelectionParams(const Context& context,
                                            std::string_view default_since) {
  const Args& args = context.args;
  std::string from = args.Get("from");
  std::string to = args.Get("to");
  std::string since = args.Get("since");
  if (!since.empty() && (!from.empty() || !to.empty())) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  "--since counts back from now: give it or --from and --to"));
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

  query::NamedValues params;
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) params.emplace_back(name, value);
  };
  add("type", args.Get("type"));
  add("q", AskedSelector(context));
  add("from", from);
  add("to", to);
  return params;
}

Outcome<int> Emit(std::string_view text, int exit_code) {
  Status written = WriteOut(text);
  if (written) return exit_code;
  if (written.error().sys_errno() == EPIPE) return ExitCode::kFailure;
  return Failure{ExitCode::kFailure, "cannot write", written.error().message(), ""};
}

void WarnSkipped(const Context& context, int64_t skipped) {
  if (skipped == 0) return;
  std::fprintf(stderr,
               "%s: warning: %lld stored profiles could not be read and are not counted; 'doctor' "
               "names them\n",
               context.program.c_str(), static_cast<long long>(skipped));
}

Failure UnreadableAnswer(const Error& error) {
  return {ExitCode::kFailure, "the server's answer cannot be read", error.message(),
          "see that it is a Firetower of this version"};
}

Failure NoData(const Context& context) {
  const std::string selector = AskedSelector(context);
  return {ExitCode::kNoData, "no data",
          selector.empty() ? "nothing was recorded in that range"
                           : fmt::format("nothing in that range matches {}", selector),
          "widen the range with --since, or see 'series' and 'doctor'"};
}

}  // namespace firetower::cli
