// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace firetower::net {

// The query part of a request target ("a=1&q=%7Bx%3D%22y%22%7D"), decoded. A value goes up to the
// next '&', so that an unencoded selector (`q={a="b"}`) arrives whole; '+' is a space. kInvalid on
// a broken percent escape and beyond 64 parameters.
Result<NamedValues> DecodeQuery(std::string_view query);

// "?a=1&q=…", or "" for none; everything but RFC 3986's unreserved characters is escaped.
std::string EncodeQuery(const NamedValues& params);

}  // namespace firetower::net
