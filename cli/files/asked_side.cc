// SPDX-License-Identifier: Apache-2.0
#include "cli/files/asked_side.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "cli/commands/common.h"
#include "profile/pprof.h"
#include "query/rollouts/rollouts.h"
#include "query/select/kinds.h"
#include "query/time_range.h"
#include "query/wire.h"

namespace firetower::cli {
namespace {

struct Asked {
  std::string selector;
  std::string from;
  std::string to;
};

// Without a range where there is none: a label's value may hold anything, an object's name no '@'.
Asked Split(const std::string& side) {
  const bool has_braces = side.starts_with('{');
  const size_t mark = has_braces ? side.rfind("}@") : side.find('@');
  const size_t end = mark == side.npos || !has_braces ? mark : mark + 1;
  const std::string range = end == side.npos ? "" : side.substr(end + 1);
  if (range.empty() || range.find('"') != range.npos) return {side, "", ""};
  const std::string selector = side.substr(0, end);
  const size_t dots = range.find("..");
  if (dots == range.npos) return {selector, range, ""};
  return {selector, range.substr(0, dots), range.substr(dots + 2)};
}

constexpr std::string_view kBefore = "before-rollout", kAfter = "after-rollout";

bool IsOfRollout(const Asked& asked) { return asked.from == kBefore || asked.from == kAfter; }

// Finds the last roll-out of what is asked for, and makes it a question of one revision's pods.
Outcome<Asked> AtRollout(const Context& context, const Asked& asked) {
  constexpr int64_t kHourMs = 3600 * 1000;
  Outcome<HttpReply> reply =
      context.client.Get("/api/v1/rollouts", {{"q", asked.selector}, {"from", "now-24h"}});
  if (!reply) return reply.failure();
  const Result<query::RolloutsReply> rollouts = query::RolloutsReplyFromJson(reply->body);
  if (!rollouts) return UnreadableAnswer(rollouts.error());
  const auto selector = profile::Selector::Parse(asked.selector);
  if (!selector) return BadFlag(context, selector.error());
  if (rollouts->rows.empty()) {
    return Failure{ExitCode::kNoData, "no data",
                   fmt::format("no roll-out of {} within a day", asked.selector),
                   "list them with `firetower rollouts`, or give times: "
                   "deploy/web@now-25h..now-24h"};
  }
  const query::RolloutsReply::Row& last = rollouts->rows.back();
  for (const query::RolloutsReply::Row& one : rollouts->rows) {
    if (one.namespace_name == last.namespace_name && one.workload == last.workload) continue;
    return BadFlag(
        context, Error(ErrorCode::kInvalid,
                       fmt::format("{} is of one Deployment, and {}/{} and {}/{} were "
                                   "rolled out: name one, as deploy/{}@{}",
                                   asked.from, one.namespace_name, one.workload,
                                   last.namespace_name, last.workload, last.workload, asked.from)));
  }
  const bool is_before = asked.from == kBefore;
  const auto time = [](int64_t ms) { return query::FormatTimeUtc(ms * kNsPerMs); };
  const profile::Selector pods =
      query::PodsOf(*selector, last.workload, is_before ? last.before : last.after);
  return Asked{pods.ToString(), time(last.at_ms - (is_before ? kHourMs : 0)),
               time(last.at_ms + (is_before ? 0 : kHourMs))};
}

// Tells whether it is KIND/NAME of an unknown kind with times behind its '@': then it is not a
// path, and the mistake is reported.
bool IsMisspelt(const Asked& asked) {
  const size_t slash = asked.selector.find('/');
  return !asked.from.empty() && query::IsNamedObject(asked.selector) && slash != 0 &&
         asked.selector[0] != '.' && asked.selector.find('/', slash + 1) == std::string::npos &&
         (IsOfRollout(asked) ||
          query::ParseTimeRange(asked.from, asked.to, Clock::System().WallNs()));
}

}  // namespace

bool IsAsked(const std::string& side) {
  if (side.starts_with('{')) return true;
  const Asked asked = Split(side);
  return (query::ParseNamedObject(asked.selector) || IsMisspelt(asked)) &&
         ::access(side.c_str(), F_OK) != 0;
}

Outcome<ComparedSide> AskSide(const Context& context, const std::string& side) {
  Asked asked = Split(side);
  Outcome<std::string> selector = AsAsked(context, asked.selector);
  if (!selector) return selector.failure();
  asked.selector = *selector;
  if (IsOfRollout(asked)) {
    Outcome<Asked> of_rollout = AtRollout(context, asked);
    if (!of_rollout) return of_rollout.failure();
    asked = *std::move(of_rollout);
  }
  const auto range = query::ParseTimeRange(asked.from, asked.to, Clock::System().WallNs());
  if (!range) return BadFlag(context, Error(range.error()).Context(side));
  net::NamedValues params;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) params.emplace_back(name, value);
  };
  add("type", context.args.Get("type"));
  add("q", asked.selector);
  add("from", asked.from);
  add("to", asked.to);
  Outcome<HttpReply> reply = context.client.Get("/api/v1/profile", params);
  if (!reply) return reply.failure();
  WarnSkipped(context, reply->skipped);
  WarnCoarse(context, reply->max_hidden, "stacks");
  Result<profile::Profile> profile = profile::DecodePprof(reply->body);
  if (!profile) return UnreadableAnswer(profile.error());
  // One of before that header was has a profile from the first window to the last.
  const int64_t covered_ns = std::llround(reply->observed_seconds * double{kNsPerSecond});
  const int64_t duration_ns = std::max<int64_t>(0, profile->meta().duration_nanos);
  return ComparedSide{.profile = *std::move(profile),
                      .covered_ns = covered_ns > 0 ? covered_ns : duration_ns,
                      .asked_ns = range->to_ns - range->from_ns};
}

}  // namespace firetower::cli
