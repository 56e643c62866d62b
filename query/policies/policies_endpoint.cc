// SPDX-License-Identifier: Apache-2.0
#include "query/policies/policies_endpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "profile/selector.h"
#include "query/http/errors.h"
#include "query/http/params.h"
#include "query/question.h"
#include "query/wire.h"

namespace firetower::query {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kParams[] = {"q"};

Json ToJson(const PolicyState& state) {
  Json failures = Json::array();
  for (const PolicyFailure& one : state.failures)
    failures.push_back({{"node", one.node}, {"reason", one.reason}, {"message", one.message}});
  return {{"kind", state.kind},
          {"namespace", state.namespace_name},
          {"name", state.name},
          {"mode", state.mode},
          {"types", state.types},
          {"state", PolicyHealthName(state.health)},
          {"reason", state.reason},
          {"message", state.message},
          {"pods_matched", state.pods_matched},
          {"pods_profiled", state.pods_profiled},
          {"nodes_desired", state.nodes_desired},
          {"nodes_ready", state.nodes_ready},
          {"captures", state.captures},
          {"last_capture_ms", state.last_capture_ns / kNsPerMs},
          {"failures", std::move(failures)}};
}

// Tells which policies a caller may see.
struct Sight {
  bool everything = false;
  profile::Selector narrowed;

  bool Shows(const PolicyState& state) const {
    if (state.namespace_name.empty()) return everything;
    return std::ranges::all_of(narrowed.matchers(), [&](const profile::Matcher& matcher) {
      return matcher.name() != "namespace" || matcher.Matches(state.namespace_name);
    });
  }
};

Result<Sight> SightOf(const net::HttpRequest& request, const Params& params,
                      const ApiParts& parts) {
  Sight sight;
  ASSIGN_OR_RETURN(const profile::Selector asked, profile::Selector::Parse(params.Get("q")));
  ASSIGN_OR_RETURN(sight.narrowed, parts.authorizer.Narrow(request, asked));
  const auto all = parts.authorizer.Narrow(request, profile::Selector());
  // The hosts are a right of their own: without it a caller is narrowed to the namespaces.
  sight.everything =
      all && std::ranges::all_of(all->matchers(), [](const auto& matcher) {
        return matcher.name() != "namespace" ||
               (matcher.op() == profile::MatchOp::kNotEqual && matcher.value() == "-");
      });
  return sight;
}

}  // namespace

net::HttpResponse ServePolicies(const net::HttpRequest& request, const ApiParts& parts) {
  const Result<Params> params = Params::Read(request, kParams);
  if (!params) return ErrorResponse(params.error());
  if (parts.policies == nullptr) return JsonError(501, "this server does not know the policies");
  const Result<Sight> sight = SightOf(request, *params, parts);
  if (!sight) return ErrorResponse(sight.error());
  std::vector<PolicyState> states = parts.policies->Policies();
  std::erase_if(states, [&](const PolicyState& one) { return !sight->Shows(one); });
  // The ones that need somebody to look at them come first.
  std::ranges::stable_sort(states, [](const PolicyState& a, const PolicyState& b) {
    return std::tie(b.health, a.namespace_name, a.name) <
           std::tie(a.health, b.namespace_name, b.name);
  });
  Json rows = Json::array();
  for (const PolicyState& one : states) rows.push_back(ToJson(one));
  const Json reply = {{"version", kWireVersion}, {"policies", std::move(rows)}};
  net::HttpResponse response;
  response.content_type = "application/json";
  response.body = reply.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return response;
}

}  // namespace firetower::query
