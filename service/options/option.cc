// SPDX-License-Identifier: Apache-2.0
#include "service/options/option.h"

#include <fmt/core.h>

#include <algorithm>

namespace firetower::service {

const Option* FindOption(std::span<const Option> options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &Option::name);
  return found == options.end() ? nullptr : &*found;
}

Status SetOption(const Option& option, std::string_view text, const std::string& where) {
  const Status status = option.value.set(text);
  if (status) return status;
  const std::string what = option.may_hold_secret ? "the value" : fmt::format("'{}'", text);
  return Error(ErrorCode::kInvalid, fmt::format("{}: {} is refused: {}; allowed: {}", where, what,
                                                status.error().message(), option.value.allowed));
}

}  // namespace firetower::service
