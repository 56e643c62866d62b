// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "net/message.h"
#include "query/mcp/server.h"

namespace firetower::query {

inline constexpr std::string_view kMcpPath = "/mcp";

// The version that the server tells.
std::string McpVersion();

// POST /mcp: one message of the Model Context Protocol, transport "streamable HTTP", answered with
// JSON; there are no sessions and no stream. `serve` answers a request of the HTTP API: each
// question of a tool is asked as one of the same caller.
net::HttpResponse ServeMcp(const net::HttpRequest& request, McpServer& server,
                           const net::HttpHandler& serve);

}  // namespace firetower::query
