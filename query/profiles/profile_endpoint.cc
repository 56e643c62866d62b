// SPDX-License-Identifier: Apache-2.0
#include "query/profiles/profile_endpoint.h"

#include <fmt/core.h>

#include <string>

#include "profile/pprof.h"
#include "query/params.h"
#include "query/question.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {"type", "q", "from", "to", "seconds"};

}  // namespace

std::string ProfileFileName(const Question& question) {
  std::string start = FormatTimeUtc(question.range.from_ns).substr(0, 19);
  std::erase_if(start, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("{}-{}Z-{}s.pb.gz", question.query.type->FileToken(), start,
                     (question.range.to_ns - question.range.from_ns) / kNsPerSecond);
}

Result<store::MergeResult> MergeAsked(const Question& question,
                                      std::span<const store::OpenProfile> open,
                                      const ApiParts& parts) {
  auto merged = store::MergeProfiles(parts.store, question.query, open, question.limits);
  // The question was well formed: what does not add up are the profiles that it selects.
  if (!merged && merged.error().code() == ErrorCode::kInvalid)
    return Error(ErrorCode::kUnsupported, merged.error().message());
  return merged;
}

HttpResponse PprofError(int status, const Error& error) {
  HttpResponse response;
  response.status = status;
  response.body = error.message() + "\n";
  response.headers.emplace_back("X-Go-Pprof", "1");
  return response;
}

HttpResponse ServeProfile(const HttpRequest& request, const ApiParts& parts) {
  Result<Params> params = Params::Read(request, kParams);
  if (!params) return PprofError(400, params.error());
  Result<Question> question = ReadQuestion(request, *params, parts, TypeDefault::kCpu);
  if (!question) return PprofError(StatusOf(question.error()), question.error());

  auto open = parts.live.OpenProfiles();
  auto merged = MergeAsked(*question, open, parts);
  if (!merged) return PprofError(StatusOf(merged.error()), merged.error());
  if (merged->profiles == 0) {
    return PprofError(404, Error(ErrorCode::kNotFound,
                                 fmt::format("no profile matches {}; widen the range, or see "
                                             "/api/v1/series for what there is",
                                             question->Describe())));
  }
  HttpResponse response;
  response.content_type = "application/octet-stream";
  response.body = profile::EncodePprof(merged->profile);
  response.headers.emplace_back("Content-Disposition", fmt::format("attachment; filename=\"{}\"",
                                                                   ProfileFileName(*question)));
  response.headers.emplace_back("X-Firetower-Profiles", std::to_string(merged->profiles));
  NoteSkipped(merged->skipped, response);
  return response;
}

}  // namespace firetower::query
