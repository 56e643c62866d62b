// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "net/message.h"

namespace firetower::query {

// Makes the body of every error except the pprof ones: {"code": …, "message": …}. `code` is
// Connect's word for the status, which Grafana's and Pyroscope's clients read.
net::HttpResponse JsonError(int status, std::string_view message);

// Makes the answer of a hub without a store to queries about profiles: 404 with this `code`, which
// no other 404 has. So the client can tell it from a server that is not ours.
inline constexpr std::string_view kNoStoreCode = "unimplemented";
net::HttpResponse NoStoreError(std::string_view message);

}  // namespace firetower::query
