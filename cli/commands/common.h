// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "net/message.h"
#include "profile/profile.h"
#include "profile/value_text.h"

namespace firetower::cli {

// Returns a selector, or KIND/NAME, in the API's form, restricted to the command's namespace and
// --container.
Outcome<std::string> AsAsked(const Context& context, const std::string& selector);

// Returns the selector of the command's argument or of --query.
Outcome<std::string> AskedSelector(const Context& context);

// Does the same; a word alone is a pod, as in kubectl, and --node a selector by itself.
Outcome<std::string> PodSelector(const Context& context);

// Returns the API's parameters type, from, to, exact and offsets, as SelectionParams does.
Outcome<net::NamedValues> RangeParams(const Context& context, std::string_view default_since);

// Returns the API's parameters q, type, from and to from the flags with the same meaning. Times are
// checked here but resolved by the server's clock, so a wrong local clock does no harm.
Outcome<net::NamedValues> SelectionParams(const Context& context, std::string_view default_since);

// Makes a Failure for a flag's value that the table cannot check.
Failure BadFlag(const LocalContext& context, const Error& error);

// Refuses any of `flags` that is given but has no effect: "--FLAG WHY".
std::optional<Failure> RefuseFlags(const LocalContext& context,
                                   std::initializer_list<std::string_view> flags,
                                   std::string_view why);

// Returns the index in `profile` of the value that `flag` names, or without the flag of the main
// value.
Outcome<uint32_t> PickValue(const LocalContext& context, const profile::Profile& profile,
                            std::string_view flag);

// Prints on standard error which value was chosen and which others `format` omits, unless `flag`
// chose it.
void TellValue(const LocalContext& context, const profile::Profile& profile, uint32_t value_index,
               std::string_view flag, std::string_view format);

// Writes data. A reader that has closed the pipe is not an error.
Outcome<int> Emit(std::string_view text, int exit_code);

// Prints on standard error that the server skipped profiles.
void WarnSkipped(const Context& context, int64_t skipped);
// Warns that a sum was too large to be exact. `share` is the value of X-Firetower-Max-Hidden.
void WarnCoarse(const LocalContext& context, std::optional<double> share, std::string_view what);

// Makes a Failure for an answer that this version cannot read.
Failure UnreadableAnswer(const Error& error);

// Makes a Failure for an empty answer: "no data".
Failure NoData(const Context& context);

using profile::FormatCount;
using profile::FormatValue;

}  // namespace firetower::cli
