// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/message.h"
#include "profile/type.h"
#include "query/api.h"
#include "query/http/params.h"
#include "query/time_range.h"
#include "store/query.h"

namespace firetower::query {

// The request that the parameters type, q, from, to and seconds describe, narrowed to what the
// caller may read.
struct Question {
  store::Query query;
  store::QueryLimits limits;
  std::string sample_type;  // "" is the type's main value
  TimeRange range;
  // Returns a text for messages: `cpu{pod="x"} from … to …`.
  std::string Describe() const;
};

// Sets the type that is asked for, and which of its values.
void SetType(profile::TypeSelection type, Question& question);

enum class TypeDefault { kCpu, kAny };

// A sample whose stack had to wait for its unwind table is in the window in which it was resolved,
// this much later at most.
inline constexpr int64_t kLateSampleNs = 15 * kNsPerSecond;

// Reads a question. `exact=true` asks for what was sampled between from and to, not for whole
// windows; `offsets=100-300` only for those milliseconds of each second. `focus`, `ignore`, `hide`,
// `show`, `show-from`, `tagfocus`, `tagignore` and `invert` select stacks and frames
// (profile/select/stack_filter.h). An endpoint takes those of them that are among its parameters.
// `type` may also be part of the selector, as `cpu{…}`. `seconds=N`, which `go tool pprof -seconds`
// adds, means the last N seconds up to now: they are recorded already, so the caller does not wait.
Result<Question> ReadQuestion(const net::HttpRequest& request, const Params& params,
                              const ApiParts& parts, TypeDefault type_default);

// A value that the rows of the catalog already hold, so that no profile has to be read for it.
struct RowValueAsked {
  store::RowValue row = store::RowValue::kMain;
  profile::ValueType value = {};
};
// Returns kUnsupported for any other value. The question must be of one type.
Result<RowValueAsked> RowValueOf(const Question& question);

// Returns the HTTP status for an error of a question, and its JSON body.
int StatusOf(const Error& error);
net::HttpResponse ErrorResponse(const Error& error);

// Reports profiles that could not be read, in X-Firetower-Skipped and the log.
void NoteSkipped(const store::SkippedList& skipped, net::HttpResponse& response);
// Reports a coarse answer in X-Firetower-Max-Hidden: `share`, from 0 to 1, is the largest part of
// the total that a stack which was cut can have. Does nothing for a complete answer.
inline constexpr std::string_view kMaxHiddenHeader = "X-Firetower-Max-Hidden";
void NoteCoarse(std::optional<double> share, net::HttpResponse& response);
net::HttpResponse JsonResponse(std::string body, const store::SkippedList& skipped);

// Returns a note about damaged objects for an answer without profiles; "" if none is damaged.
std::string DamagedText(const store::SkippedList& skipped);
// Returns the kNotFound error for an answer without profiles.
Error NothingMatches(const Question& question, const store::SkippedList& skipped);
// Returns the error to use instead when profiles exist but could not be read, so that the caller
// does not take them for missing.
Error NothingReadable(const store::SkippedList& skipped);

}  // namespace firetower::query
