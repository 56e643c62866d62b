// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/message.h"
#include "profile/type.h"
#include "query/api.h"
#include "query/http/params.h"
#include "query/time_range.h"
#include "store/query.h"

namespace firetower::query {

// What the parameters type, q, from, to and seconds ask for, and what the caller may see of it.
struct Question {
  store::Query query;
  store::QueryLimits limits;
  std::string sample_type;  // "" is the type's main value
  TimeRange range;
  // For messages: `cpu{pod="x"} from … to …`.
  std::string Describe() const;
};

enum class TypeDefault { kCpu, kAny };

// `type` may also stand in the selector, as `cpu{…}`. `seconds=N`, which `go tool pprof -seconds`
// adds, is the last N seconds up to now: they were recorded already, so nobody waits for them.
Result<Question> ReadQuestion(const net::HttpRequest& request, const Params& params,
                              const ApiParts& parts, TypeDefault type_default);

// Of the values of a type those that rows of the catalog have, so that no profile is read for them.
struct RowValueAsked {
  store::RowValue row = store::RowValue::kMain;
  profile::ValueType value = {};
};
// kUnsupported for any other. The question is of one type.
Result<RowValueAsked> RowValueOf(const Question& question);

// The HTTP status of an error that came out of a question, and its JSON body.
int StatusOf(const Error& error);
net::HttpResponse ErrorResponse(const Error& error);

// An answer that left out what could not be read says so, in X-Firetower-Skipped and the log.
void NoteSkipped(const store::SkippedList& skipped, net::HttpResponse& response);
// An answer that was too wide to be held whole says so, in X-Firetower-Max-Hidden: `share`, from 0
// to 1, is the most of the whole that a stack which was cut can have. Nothing of one that is whole.
inline constexpr std::string_view kMaxHiddenHeader = "X-Firetower-Max-Hidden";
void NoteCoarse(std::optional<double> share, net::HttpResponse& response);
net::HttpResponse JsonResponse(std::string body, const store::SkippedList& skipped);

// What an answer of no profile says beside it; empty where nothing was damaged.
std::string DamagedText(const store::SkippedList& skipped);
// kNotFound of an answer that would be of no profile.
Error NothingMatches(const Question& question, const store::SkippedList& skipped);
// Instead of that where the answer surely lacks some: what asks must not take them for none.
Error NothingReadable(const store::SkippedList& skipped);

}  // namespace firetower::query
