// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace firetower::store::s3 {

// "Fri, 24 May 2013 00:00:00 GMT" (RFC 9110 §5.6.7, the form that senders must use): Unix seconds.
std::optional<int64_t> ParseHttpDate(std::string_view text);

// A server's clock minus ours. It said `server_s`, in whole seconds, after our wall clock was at
// `sent_ns` and before it was at `answered_ns`. Of the possible values this is the one nearest to
// 0, so that a slow answer does not count as skew.
int64_t SmallestSkew(int64_t server_s, int64_t sent_ns, int64_t answered_ns);

// "2013-05-24T00:00:00Z", also with a fraction, which is dropped: Unix seconds.
std::optional<int64_t> ParseIsoTime(std::string_view text);

}  // namespace firetower::store::s3
