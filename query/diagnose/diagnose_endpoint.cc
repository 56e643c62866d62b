// SPDX-License-Identifier: Apache-2.0
#include "query/diagnose/diagnose_endpoint.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/findings.h"
#include "diagnosis/uneven.h"
#include "profile/type.h"
#include "query/diagnose/growth.h"
#include "query/diagnose/signature_file.h"
#include "query/http/params.h"
#include "query/profiles/profile_endpoint.h"
#include "query/profiles/sides.h"
#include "query/question.h"
#include "query/top/reading.h"
#include "store/profiles/counted_part.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"type", "q",      "from",      "to",     "seconds",
                                        "base", "base-q", "base-from", "base-to"};

// The question, and what its answer is compared with.
struct Asked {
  Question question;
  std::optional<Sides> sides;
};

Result<Asked> ReadAsked(const net::HttpRequest& request, const Params& params,
                        const ApiParts& parts) {
  Asked asked;
  if (AsksForBase(params)) {
    ASSIGN_OR_RETURN(asked.sides, ReadGrowthSides(request, params, parts));
    asked.question = asked.sides->after;
  } else {
    ASSIGN_OR_RETURN(asked.question, ReadQuestion(request, params, parts, TypeDefault::kCpu));
  }
  return asked;
}

// Compares the pods of each workload that was asked for.
Status AddUneven(const Question& question, std::span<const store::OpenProfile> open,
                 const ApiParts& parts, diagnosis::Report& report) {
  ASSIGN_OR_RETURN(const store::ListResult list,
                   store::ListProfiles(parts.store, question.query, open, question.limits));
  const store::CountedPart counted(question.query);
  std::map<std::string, diagnosis::PodValues> workloads;
  double total = 0;
  for (const store::CatalogRow& row : list.rows) {
    const auto value = static_cast<double>(counted.Value(row));
    total += value;
    if (row.workload.empty()) continue;
    workloads[row.namespace_name + "/" + row.workload][row.pod] += value;
  }
  for (const auto& [workload, pods] : workloads) {
    if (auto finding = diagnosis::FindUneven(workload, pods, total))
      report.findings.push_back(*std::move(finding));
  }
  diagnosis::SortFindings(report.findings);
  return OkStatus();
}

Result<net::HttpResponse> Answer(const net::HttpRequest& request, const ApiParts& parts) {
  ASSIGN_OR_RETURN(const Params params, Params::Read(request, kParams));
  ASSIGN_OR_RETURN(const Asked asked, ReadAsked(request, params, parts));
  const Question& question = asked.question;
  // Read each time, so that a ConfigMap that changes is in force. A mistake in it is told, not
  // skipped.
  auto read = ReadSignatureFile(std::string(parts.signature_file));
  if (!read) return Error(ErrorCode::kUnavailable, read.error().message());
  const std::vector<diagnosis::Signature>& signatures = *read;
  const auto open = parts.live.OpenProfiles();
  ASSIGN_OR_RETURN(store::MergeResult merged, MergeAsked(question, open, parts));
  if (merged.profiles == 0) return NothingMatches(question, merged.skipped);
  ASSIGN_OR_RETURN(const uint32_t value, ValueIndex(merged.profile, question.sample_type));
  diagnosis::Report report =
      diagnosis::Diagnose(merged.profile, value, question.query.type->Name(), signatures);
  RETURN_IF_ERROR(AddUneven(question, open, parts, report));
  if (asked.sides) {
    ASSIGN_OR_RETURN(Growth growth, FindGrowthSince(*asked.sides, open, parts.store));
    // The comparison was asked for, so its findings come first.
    report.findings.insert(report.findings.begin(), growth.findings.begin(), growth.findings.end());
    // The later side is the question's own, which tells what it lacks.
    merged.skipped.Append(std::move(growth.base_skipped));
  }
  net::HttpResponse response = JsonResponse(diagnosis::ToJson(report), merged.skipped);
  NoteCoarse(merged.max_hidden_share, response);
  return response;
}

}  // namespace

net::HttpResponse ServeDiagnose(const net::HttpRequest& request, const ApiParts& parts) {
  Result<net::HttpResponse> response = Answer(request, parts);
  return response ? *std::move(response) : ErrorResponse(response.error());
}

}  // namespace firetower::query
