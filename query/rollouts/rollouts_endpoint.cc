// SPDX-License-Identifier: Apache-2.0
#include "query/rollouts/rollouts_endpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "query/question.h"
#include "query/rollouts/rollouts.h"
#include "query/time_range.h"
#include "query/wire.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"type", "q", "from", "to", "seconds"};

Result<std::vector<Rollout>> Find(const Question& question, const ApiParts& parts,
                                  store::SkippedList& skipped) {
  const auto open = parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(store::ListResult list,
                   store::ListProfiles(parts.store, question.query, open, question.limits));
  skipped.Append(std::move(list.skipped));
  return FindRollouts(list.rows);
}

Result<net::HttpResponse> Answer(const net::HttpRequest& request, const ApiParts& parts) {
  ASSIGN_OR_RETURN(const Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(const Question question,
                   ReadQuestion(request, params, parts, TypeDefault::kCpu));
  store::SkippedList skipped;
  ASSIGN_OR_RETURN(std::vector<Rollout> rollouts, Find(question, parts, skipped));
  RolloutsReply reply{.from_ms = question.range.from_ns / kNsPerMs,
                      .to_ms = question.range.to_ns / kNsPerMs,
                      .skipped = static_cast<int64_t>(skipped.total),
                      .rows = {}};
  for (Rollout& one : rollouts) {
    reply.rows.push_back({std::move(one.namespace_name), std::move(one.workload),
                          std::move(one.before), std::move(one.after), one.at_ns / kNsPerMs});
  }
  return JsonResponse(ToJson(reply), skipped);
}

// Returns the last roll-out of the one Deployment that matches.
Result<Rollout> FindLast(const Question& question, const ApiParts& parts) {
  Question reach = question;
  reach.range.from_ns -= kRolloutReachNs;
  reach.query.from_ns = reach.range.from_ns;
  store::SkippedList skipped;
  ASSIGN_OR_RETURN(const std::vector<Rollout> rollouts, Find(reach, parts, skipped));
  if (rollouts.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("no roll-out to compare with: no profiles of two revisions of a "
                             "Deployment's pods match {}{}",
                             reach.Describe(), DamagedText(skipped)));
  }
  const Rollout& last = rollouts.back();
  for (const Rollout& one : rollouts) {
    if (one.namespace_name == last.namespace_name && one.workload == last.workload) continue;
    return Error(ErrorCode::kInvalid,
                 fmt::format("base=rollout is of one Deployment, and {}/{} and {}/{} were rolled "
                             "out: name one by q",
                             one.namespace_name, one.workload, last.namespace_name, last.workload));
  }
  return last;
}

}  // namespace

net::HttpResponse ServeRollouts(const net::HttpRequest& request, const ApiParts& parts) {
  Result<net::HttpResponse> response = Answer(request, parts);
  return response ? *std::move(response) : ErrorResponse(response.error());
}

Result<Sides> ReadRolloutSides(const net::HttpRequest& request, const Params& params,
                               const ApiParts& parts) {
  if (params.Get("base") != "rollout") {
    return Error(ErrorCode::kInvalid,
                 fmt::format("parameter 'base' is '{}': it must be rollout", params.Get("base")));
  }
  for (const char* other : {"base-q", "base-from", "base-to", "base-offsets", "offsets"}) {
    if (params.Has(other)) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("base=rollout tells both sides: leave out '{}'", other));
    }
  }
  ASSIGN_OR_RETURN(const TimeRange asked,
                   ParseTimeRange(params.Get("from"), params.Get("to"), parts.clock.WallNs()));
  ASSIGN_OR_RETURN(const Question whole, ReadSideOf(request, params, parts, asked));
  ASSIGN_OR_RETURN(const Rollout rollout, FindLast(whole, parts));
  const auto [before, after] = RangesOf(rollout, asked.from_ns, asked.to_ns);
  Sides sides;
  ASSIGN_OR_RETURN(sides.after, ReadSideOf(request, params, parts, after));
  ASSIGN_OR_RETURN(sides.base, ReadSideOf(request, params, parts, before));
  sides.after.query.selector = PodsOf(sides.after.query.selector, rollout.workload, rollout.after);
  sides.base.query.selector = PodsOf(sides.base.query.selector, rollout.workload, rollout.before);
  for (Question* side : {&sides.after, &sides.base}) side->limits.max_read_bytes /= 2;
  return sides;
}

}  // namespace firetower::query
