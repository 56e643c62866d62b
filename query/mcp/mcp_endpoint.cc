// SPDX-License-Identifier: Apache-2.0
// modelcontextprotocol.io, revision 2025-06-18, "Transports".
#include "query/mcp/mcp_endpoint.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "query/http/errors.h"
#include "query/wire.h"

namespace firetower::query {
namespace {

// A message holds the arguments of one call.
constexpr size_t kMaxMessageBytes = 1 << 20;

Result<std::string> Ask(const net::HttpRequest& caller, const net::HttpHandler& serve,
                        std::string_view path, const net::NamedValues& params) {
  net::HttpRequest request;
  request.method = "GET";
  request.path = path;
  request.params = params;
  request.accept = "*/*";
  request.authorization = caller.authorization;
  request.remote_address = caller.remote_address;
  request.host = caller.host;
  request.gone = caller.gone;
  net::HttpResponse response = serve(request);
  if (response.ok()) return std::move(response.body);
  std::string message = ErrorMessageFromJson(response.body);
  if (message.empty()) message = response.body.substr(0, response.body.find('\n'));
  return Error(ErrorCode::kUnavailable,
               fmt::format("the server answered {}: {}", response.status, message));
}

}  // namespace

std::string McpVersion() { return FIRETOWER_VERSION; }

net::HttpResponse ServeMcp(const net::HttpRequest& request, McpServer& server,
                           const net::HttpHandler& serve) {
  net::HttpResponse response;
  if (request.method != "POST") {
    response = JsonError(
        405, fmt::format("{} takes a message by POST; it has no stream of its own", kMcpPath));
    response.headers.emplace_back("Allow", "POST");
  } else if (!request.content_type.starts_with("application/json")) {
    // A page of a browser may send other types to any address without being asked.
    response = JsonError(415, "the Content-Type must be application/json");
  } else if (request.body.size() > kMaxMessageBytes) {
    response = JsonError(413, fmt::format("a message has at most {} bytes", kMaxMessageBytes));
  } else {
    const AskApi ask = [&](std::string_view path, const net::NamedValues& params) {
      return Ask(request, serve, path, params);
    };
    std::optional<std::string> answer = server.Answer(request.body, ask);
    response.status = answer ? 200 : 202;
    response.content_type = "application/json";
    if (answer) response.body = *std::move(answer);
  }
  response.route = kMcpPath;
  return response;
}

}  // namespace firetower::query
