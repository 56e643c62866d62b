// SPDX-License-Identifier: Apache-2.0
// The Model Context Protocol, by which assistants ask: messages of JSON-RPC 2.0
// (modelcontextprotocol.io, revision 2025-06-18).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/mcp/kept_answers.h"
#include "query/mcp/tools.h"

namespace firetower::query {

// Answers messages, of one client or of many. An answer of a tool fits the number of tokens that
// the call states (`max_tokens`); the rest comes with the cursor that it names. Any thread.
class McpServer {
 public:
  static constexpr int64_t kTokens = 4000, kLeastTokens = 100, kMostTokens = 100'000;
  // A token is rarely shorter in code and names.
  static constexpr size_t kBytesOfToken = 3;

  explicit McpServer(std::string version) : version_(std::move(version)) {}

  // Returns the message to answer with, in one line; nothing for a notification. `ask` asks with
  // the rights of whoever sent `message`.
  std::optional<std::string> Answer(std::string_view message, const AskApi& ask);

 private:
  // Returns the part from `begin` on that fits, and names the cursor of what is left.
  static std::string Page(std::string_view name, const std::string& text, size_t begin,
                          int64_t tokens);
  Result<std::string> Call(std::string_view name, const ToolArguments& arguments,
                           const AskApi& ask);
  Result<std::string> ReadOn(std::string_view cursor, int64_t tokens) const;

  const std::string version_;
  KeptAnswers kept_;
};

}  // namespace firetower::query
