// SPDX-License-Identifier: Apache-2.0
#include "cli/files/asked_side.h"

#include <utility>

#include "base/clock.h"
#include "cli/commands/common.h"
#include "profile/pprof.h"
#include "query/time_range.h"

namespace firetower::cli {
namespace {

struct Asked {
  std::string selector;
  std::string from;
  std::string to;
};

Asked Split(const std::string& side) {
  const size_t mark = side.rfind("}@");
  const std::string range = mark == side.npos ? "" : side.substr(mark + 2);
  // A label's value may hold anything.
  if (range.empty() || range.find('"') != range.npos) return {side, "", ""};
  const std::string selector = side.substr(0, mark + 1);
  const size_t dots = range.find("..");
  if (dots == range.npos) return {selector, range, ""};
  return {selector, range.substr(0, dots), range.substr(dots + 2)};
}

}  // namespace

bool IsAsked(std::string_view side) { return side.starts_with('{'); }

Outcome<profile::Profile> AskSide(const Context& context, const std::string& side) {
  const Asked asked = Split(side);
  const auto range = query::ParseTimeRange(asked.from, asked.to, Clock::System().WallNs());
  if (!range) return BadFlag(context, Error(range.error()).Context(side));
  query::NamedValues params;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) params.emplace_back(name, value);
  };
  add("type", context.args.Get("type"));
  add("q", InNamespace(context, asked.selector));
  add("from", asked.from);
  add("to", asked.to);
  Outcome<HttpReply> reply = context.client.Get("/api/v1/profile", params);
  if (!reply) return reply.failure();
  WarnSkipped(context, reply->skipped);
  Result<profile::Profile> profile = profile::DecodePprof(reply->body);
  if (!profile) return UnreadableAnswer(profile.error());
  return *std::move(profile);
}

}  // namespace firetower::cli
