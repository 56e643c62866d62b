// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "query/mcp/server.h"

// Any line as an assistant's message, to a server whose API answers with the same bytes: each
// answer is one line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace query = firetower::query;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const query::AskApi ask =
      [&](std::string_view, const firetower::net::NamedValues&) -> firetower::Result<std::string> {
    return std::string(line);
  };
  query::McpServer server("1");
  for (int turn = 0; turn < 2; ++turn) {
    const auto answer = server.Answer(line, ask);
    if (answer) CHECK(answer->find('\n') == std::string::npos);
  }
  return 0;
}
