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

// GET /api/v1/profile: the sum of what matches, over the store and the open window, as gzip'd
// pprof. Errors are text/plain with X-Go-Pprof, the only form `go tool pprof` shows.
net::HttpResponse ServeProfile(const net::HttpRequest& request, const ApiParts& parts);
// `profiles` and `observed_seconds`: how many went into it, and what time they cover.
net::HttpResponse PprofResponse(std::string pprof_gz, const std::string& file_name,
                                std::string profiles, std::string observed_seconds);
// As the header X-Firetower-Observed-Seconds has it.
std::string ObservedSecondsText(int64_t observed_ns);
net::HttpResponse PprofError(int status, const Error& error);

// What a question asks for. Errors as store::MergeProfiles, but kUnsupported for profiles that do
// not add up: the question was well formed.
Result<store::MergeResult> MergeAsked(const Question& question,
                                      std::span<const store::OpenProfile> open,
                                      const ApiParts& parts);
// "cpu-20260701T100000Z-900s.pb.gz"
std::string ProfileFileName(const Question& question);

}  // namespace firetower::query
