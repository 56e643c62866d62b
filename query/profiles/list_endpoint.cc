// SPDX-License-Identifier: Apache-2.0
#include "query/profiles/list_endpoint.h"

#include <utility>
#include <vector>

#include "query/http/params.h"
#include "query/question.h"
#include "query/wire.h"
#include "store/profiles/newest.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"limit", "stored", "type", "q", "from", "to", "seconds"};
constexpr int64_t kDefaultListed = 100;
constexpr int64_t kMaxListed = 10'000;

ProfilesReply::Row RowOf(store::ListedProfile&& one) {
  store::CatalogRow& row = one.row;
  return {.id = std::move(one.id),
          .type = std::move(row.type),
          .start_ms = row.start_ns / kNsPerMs,
          .seconds = static_cast<double>(row.duration_ns) / kNsPerSecond,
          .namespace_name = std::move(row.namespace_name),
          .pod = std::move(row.pod),
          .container = std::move(row.container),
          .node = std::move(row.node),
          .workload = std::move(row.workload),
          .capture = std::move(row.capture),
          .samples = row.samples,
          .value = row.value,
          .unit = std::move(row.unit),
          .bytes = static_cast<int64_t>(one.bytes)};
}

}  // namespace

net::HttpResponse ServeProfiles(const net::HttpRequest& request, const ApiParts& parts) {
  const Result<Params> params = Params::Read(request, kParams);
  if (!params) return ErrorResponse(params.error());
  const Result<int64_t> limit = params->GetInt("limit", kDefaultListed, 1, kMaxListed);
  if (!limit) return ErrorResponse(limit.error());
  const Result<bool> stored = params->GetBool("stored", false);
  if (!stored) return ErrorResponse(stored.error());
  const Result<Question> question = ReadQuestion(request, *params, parts, TypeDefault::kAny);
  if (!question) return ErrorResponse(question.error());
  const auto open = *stored ? std::vector<store::OpenProfile>() : parts.live.OpenProfiles();
  Result<store::NewestProfiles> found = store::ListNewest(
      parts.store, question->query, static_cast<size_t>(*limit), open, question->limits);
  if (!found) return ErrorResponse(found.error());
  ProfilesReply reply{.from_ms = question->range.from_ns / kNsPerMs,
                      .to_ms = question->range.to_ns / kNsPerMs,
                      .total_rows = static_cast<int64_t>(found->total),
                      .skipped = static_cast<int64_t>(found->skipped.total)};
  for (store::ListedProfile& one : found->profiles) reply.rows.push_back(RowOf(std::move(one)));
  return JsonResponse(ToJson(reply), found->skipped);
}

}  // namespace firetower::query
