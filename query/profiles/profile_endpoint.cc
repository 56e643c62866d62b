// SPDX-License-Identifier: Apache-2.0
#include "query/profiles/profile_endpoint.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/suggest.h"
#include "profile/export.h"
#include "profile/pprof.h"
#include "profile/type.h"
#include "query/http/params.h"
#include "query/question.h"
#include "store/profiles/stored_profile.h"

namespace firetower::query {
namespace {

constexpr std::string_view kParams[] = {
    "type",  "q",      "from", "to",   "seconds",   "id",       "exact",     "offsets",
    "focus", "ignore", "hide", "show", "show-from", "tagfocus", "tagignore", "format"};

enum class Format { kPprof, kFolded, kSpeedscope };

Result<Format> ReadFormat(const Params& params) {
  const std::string_view format = params.Get("format");
  if (format.empty() || format == "pprof") return Format::kPprof;
  if (format == "folded") return Format::kFolded;
  if (format == "speedscope") return Format::kSpeedscope;
  constexpr std::string_view kFormats[] = {"pprof", "folded", "speedscope"};
  return Error(ErrorCode::kInvalid,
               fmt::format("parameter 'format' is '{}': it must be pprof, folded or speedscope{}",
                           format, DidYouMean(format, kFormats)));
}

// "cpu-20260701T100000Z-900s.pb.gz"
std::string FileName(std::string_view type, const TimeRange& range) {
  std::string start = FormatTimeUtc(range.from_ns).substr(0, 19);
  std::erase_if(start, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("{}-{}Z-{}s.pb.gz", type, start, (range.to_ns - range.from_ns) / kNsPerSecond);
}

// Whose profile it is says the id, before anything is read; the row has to agree.
Result<store::StoredProfile> ReadAsked(const net::HttpRequest& request, const Params& params,
                                       const ApiParts& parts) {
  for (const std::string_view other : kParams) {
    if (other != "id" && params.Has(other)) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("'id' selects one profile: '{}' has no effect with it", other));
    }
  }
  ASSIGN_OR_RETURN(const store::StoredProfileId id,
                   store::StoredProfileId::Parse(params.Get("id")).Context("parameter 'id'"));
  ASSIGN_OR_RETURN(
      profile::Matcher of,
      profile::Matcher::Create("namespace", profile::MatchOp::kEqual, id.NamespaceComponent()));
  ASSIGN_OR_RETURN(const profile::Selector allowed,
                   parts.authorizer.Narrow(request, profile::Selector({std::move(of)})));
  store::QueryLimits limits = parts.limits;
  limits.calls.stop = request.gone;
  return store::ReadStoredProfile(parts.store, id, allowed, limits);
}

net::HttpResponse ServeStored(const net::HttpRequest& request, const Params& params,
                              const ApiParts& parts) {
  Result<store::StoredProfile> found = ReadAsked(request, params, parts);
  if (!found) return PprofError(StatusOf(found.error()), found.error());
  const store::CatalogRow& row = found->row;
  const Result<profile::ProfileType> type = profile::ParseProfileType(row.type);
  return PprofResponse(std::move(found->pprof_gz),
                       FileName(type ? type->FileToken() : "profile", {row.start_ns, row.end_ns()}),
                       "1", ObservedSecondsText(row.duration_ns));
}

// Returns what was merged as a file of that format. Folded stacks have one value, the samples.
Result<net::HttpResponse> Written(const Question& question, const store::MergeResult& merged,
                                  Format format) {
  const std::string name = ProfileFileName(question);
  net::HttpResponse response = PprofResponse("", name, std::to_string(merged.profiles),
                                             ObservedSecondsText(merged.observed_ns));
  const auto rename = [&](std::string_view ending) {
    const std::string stem = name.substr(0, name.rfind(".pb.gz"));
    response.headers.front().second = fmt::format("attachment; filename=\"{}{}\"", stem, ending);
  };
  switch (format) {
    case Format::kFolded:
      rename(".folded.txt");
      response.content_type = "text/plain; charset=utf-8";
      response.body = profile::ToFolded(merged.profile, 0);
      break;
    case Format::kSpeedscope: {
      ASSIGN_OR_RETURN(response.body, profile::EncodeSpeedscope(merged.profile));
      rename(".speedscope.json");
      response.content_type = "application/json";
      break;
    }
    case Format::kPprof:
      response.body = profile::EncodePprof(merged.profile);
  }
  return response;
}

}  // namespace

std::string ProfileFileName(const Question& question) {
  return FileName(question.query.type->FileToken(), question.range);
}

Result<store::MergeResult> MergeAsked(const Question& question,
                                      std::span<const store::OpenProfile> open,
                                      const store::ProfileSource& source) {
  auto merged = store::MergeProfiles(source, question.query, open, question.limits);
  // The question was well formed: what does not add up are the profiles that it selects.
  if (!merged && merged.error().code() == ErrorCode::kInvalid)
    return Error(ErrorCode::kUnsupported, merged.error().message());
  if (merged && merged->profiles == 0 && merged->skipped.lacked > 0)
    return NothingReadable(merged->skipped);
  return merged;
}

std::string ObservedSecondsText(int64_t observed_ns) {
  return fmt::format("{:.3f}", static_cast<double>(observed_ns) / kNsPerSecond);
}

net::HttpResponse PprofResponse(std::string pprof_gz, const std::string& file_name,
                                std::string profiles, std::string observed_seconds) {
  net::HttpResponse response;
  response.content_type = "application/octet-stream";
  response.body = std::move(pprof_gz);
  response.headers.emplace_back("Content-Disposition",
                                fmt::format("attachment; filename=\"{}\"", file_name));
  response.headers.emplace_back("X-Firetower-Profiles", std::move(profiles));
  response.headers.emplace_back("X-Firetower-Observed-Seconds", std::move(observed_seconds));
  return response;
}

net::HttpResponse PprofError(int status, const Error& error) {
  net::HttpResponse response;
  response.status = status;
  response.body = error.message() + "\n";
  response.headers.emplace_back("X-Go-Pprof", "1");
  return response;
}

net::HttpResponse ServeProfile(const net::HttpRequest& request, const ApiParts& parts) {
  Result<Params> params = Params::Read(request, kParams);
  if (!params) return PprofError(400, params.error());
  // An empty one, as of a script whose list was empty, asks for nothing, not for all profiles.
  if (params->IsGiven("id")) return ServeStored(request, *params, parts);
  const Result<Format> format = ReadFormat(*params);
  if (!format) return PprofError(400, format.error());
  Result<Question> question = ReadQuestion(request, *params, parts, TypeDefault::kCpu);
  if (!question) return PprofError(StatusOf(question.error()), question.error());

  auto open = parts.live.OpenProfiles();
  auto merged = MergeAsked(*question, open, parts);
  if (!merged) return PprofError(StatusOf(merged.error()), merged.error());
  if (merged->profiles == 0) {
    net::HttpResponse none = PprofError(404, NothingMatches(*question, merged->skipped));
    NoteSkipped(merged->skipped, none);
    return none;
  }
  Result<net::HttpResponse> written = Written(*question, *merged, *format);
  if (!written) return PprofError(StatusOf(written.error()), written.error());
  net::HttpResponse response = *std::move(written);
  NoteSkipped(merged->skipped, response);
  NoteCoarse(merged->max_hidden_share, response);
  return response;
}

}  // namespace firetower::query
