// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/message.h"
#include "query/api.h"
#include "query/pyroscope/request.h"
#include "query/question.h"
#include "store/query.h"

namespace firetower::query::pyroscope {

// What one call comes from and is answered with.
struct Caller {
  const net::HttpRequest& http;
  const ApiParts& parts;
};

// A reply in its binary form, what could not be read for it, and what it may hide.
struct Answer {
  std::string message = {};
  store::SkippedList skipped = {};
  std::optional<double> max_hidden_share = {};  // as NoteCoarse takes it
};

// What counts as asked for where a request gives no time, or its start alone.
inline constexpr int64_t kLabelsSpanNs = 3600 * kNsPerSecond;

// The question of a request as /api/v1 has it: the caller's rights and the limits are the same.
// The type is `type_id`, else what the selector names; what stands before its braces is one of its
// matchers (profile/select/type_choice.h).
Result<Question> Ask(const Caller& caller, std::string_view type_id, std::string_view selector,
                     const AskedRange& range, TypeDefault type_default);
// One for what any of the selectors selects, so that what there is is walked through once; without
// selectors, for everything. kInvalid past kMaxSelectors.
inline constexpr size_t kMaxSelectors = 16;
Result<Question> AskForAny(const Caller& caller, const LabelsRequest& request);

// Pyroscope's name of a type of ours, process_cpu of cpu: what series of it have as __name__.
std::string PyroscopeName(std::string_view type);

}  // namespace firetower::query::pyroscope
