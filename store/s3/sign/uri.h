// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace firetower::store::s3 {

// RFC 3986 percent-encoding as Signature Version 4 wants it: everything but A-Z a-z 0-9 - . _ ~ is
// %XX in upper case. In a path the '/' between components stays.
std::string EncodeUriComponent(std::string_view text);
std::string EncodeUriPath(std::string_view path);

struct QueryParameter {
  std::string name = {};
  std::string value = {};  // neither is encoded
};

// "a=1&b=", sorted by the encoded names, then values: the canonical query of Signature Version 4.
// Requests are sent in this form too.
std::string CanonicalQuery(std::span<const QueryParameter> query);

}  // namespace firetower::store::s3
