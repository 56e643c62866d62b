// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace firetower::store::s3 {

// "Fri, 24 May 2013 00:00:00 GMT" (RFC 9110 §5.6.7, the form that senders must use): Unix seconds.
std::optional<int64_t> ParseHttpDate(std::string_view text);

// "2013-05-24T00:00:00Z", also with a fraction, which is dropped: Unix seconds.
std::optional<int64_t> ParseIsoTime(std::string_view text);

}  // namespace firetower::store::s3
