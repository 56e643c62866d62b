// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "net/message.h"

namespace firetower::query {

// {"code": …, "message": …}: the body of every error but the pprof ones. `code` is Connect's word
// for the status, which is what Grafana's and Pyroscope's clients read.
net::HttpResponse JsonError(int status, std::string_view message);

// Returns a hub's answer to questions about profiles when it has no store: 404, with this `code`,
// which no other 404 has. So who asked can tell it from a server that is none of ours.
inline constexpr std::string_view kNoStoreCode = "unimplemented";
net::HttpResponse NoStoreError(std::string_view message);

}  // namespace firetower::query
