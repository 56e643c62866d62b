// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "net/message.h"
#include "query/api.h"
#include "query/question.h"
#include "store/query.h"

namespace firetower::query {

// GET /api/v1/profile: the sum of the matching profiles in the store and the open window, as gzip'd
// pprof. Errors are text/plain with X-Go-Pprof, the only form that `go tool pprof` shows.
net::HttpResponse ServeProfile(const net::HttpRequest& request, const ApiParts& parts);
// `profiles` is the number of profiles in the sum, and `observed_seconds` the time that they cover.
net::HttpResponse PprofResponse(std::string pprof_gz, const std::string& file_name,
                                std::string profiles, std::string observed_seconds);
// Formats the value of the header X-Firetower-Observed-Seconds.
std::string ObservedSecondsText(int64_t observed_ns);
net::HttpResponse PprofError(int status, const Error& error);

// Merges the profiles that a question asks for. Fails as store::MergeProfiles does, with one
// change: profiles that do not add up are kUnsupported, because the question was well formed.
Result<store::MergeResult> MergeAsked(const Question& question,
                                      std::span<const store::OpenProfile> open,
                                      const store::ProfileSource& source);
inline Result<store::MergeResult> MergeAsked(const Question& question,
                                             std::span<const store::OpenProfile> open,
                                             const ApiParts& parts) {
  return MergeAsked(question, open, parts.store);
}
// Returns "cpu-20260701T100000Z-900s.pb.gz".
std::string ProfileFileName(const Question& question);

}  // namespace firetower::query
