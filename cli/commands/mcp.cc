// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <iostream>
#include <string>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/term/terminal.h"
#include "query/mcp/server.h"

namespace firetower::cli {

// Until standard input ends. Standard output belongs to the protocol.
Outcome<int> RunMcp(const Context& context) {
  constexpr size_t kMaxLine = 1 << 20;
  const query::AskApi ask = [&](std::string_view path,
                                const net::NamedValues& params) -> Result<std::string> {
    Outcome<HttpReply> reply = context.client.Get(path, params);
    if (reply) return std::move(reply->body);
    const Failure& failure = reply.failure();
    return Error(ErrorCode::kUnavailable, failure.what +
                                              (failure.why.empty() ? "" : ": " + failure.why) +
                                              (failure.fix.empty() ? "" : "; " + failure.fix));
  };
  query::McpServer server(FIRETOWER_VERSION);
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.empty()) continue;
    if (line.size() > kMaxLine) line = "";  // no JSON: refused as such
    const std::optional<std::string> answer = server.Answer(line, ask);
    if (!answer) continue;
    if (!WriteOut(*answer + "\n")) return ExitCode::kFailure;
  }
  return ExitCode::kOk;
}

}  // namespace firetower::cli
