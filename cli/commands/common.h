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

// A selector, or KIND/NAME, as the API takes it: within the namespace that is asked about and
// --container.
Outcome<std::string> AsAsked(const Context& context, const std::string& selector);

// That of the command's argument or of --query.
Outcome<std::string> AskedSelector(const Context& context);

// The parameters q, type, from and to of the API from the flags of the same meaning. Times are
// checked here and read by the server's clock, so a skewed one does no harm.
Outcome<net::NamedValues> SelectionParams(const Context& context, std::string_view default_since);

// Failure for a flag's value that the table cannot check.
Failure BadFlag(const LocalContext& context, const Error& error);

// The failure where one of `flags` is given that `why` has no use for: "--FLAG WHY".
std::optional<Failure> RefuseFlags(const LocalContext& context,
                                   std::initializer_list<std::string_view> flags,
                                   std::string_view why);

// The index in `profile` of the value that `flag` names, of its main one without that flag.
Outcome<uint32_t> PickValue(const LocalContext& context, const profile::Profile& profile,
                            std::string_view flag);

// Tells on standard error which value that is, and which others `format` leaves out, unless `flag`
// chose it.
void TellValue(const LocalContext& context, const profile::Profile& profile, uint32_t value_index,
               std::string_view flag, std::string_view format);

// Writes data; a reader that went away is no error to talk about.
Outcome<int> Emit(std::string_view text, int exit_code);

// Tells on standard error that the server left something out.
void WarnSkipped(const Context& context, int64_t skipped);
// Says that a sum was too wide to be held whole; `share` as X-Firetower-Max-Hidden has it.
void WarnCoarse(const LocalContext& context, std::optional<double> share, std::string_view what);

// An answer that is none of this version's.
Failure UnreadableAnswer(const Error& error);

// "no data": the answer is fine and empty.
Failure NoData(const Context& context);

using profile::FormatCount;
using profile::FormatValue;

}  // namespace firetower::cli
