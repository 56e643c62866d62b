// SPDX-License-Identifier: Apache-2.0
// A document as a tree of maps, lists and scalars that remember their line: what the policy parser
// reads, whether the bytes were YAML from a file or JSON from an API server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace firetower::k8s {

// Kind of a scalar. Only the spellings that YAML 1.1 (kubectl's), YAML 1.2 and JSON agree on are
// taken; the rest are kept apart so that the message can say what to write instead.
enum class NodeKind {
  kNull,
  kBool,         // true, false
  kLooseBool,    // yes, no, on, off, y, n, True, …: bool in YAML 1.1, text in 1.2
  kInteger,      // decimal digits, maybe a minus sign
  kLooseNumber,  // 010, 0x1F, 0b1, 1_000, +5, 1:30: two readings
  kFloat,        // 1.5, 1e3, .inf
  kString,
  kMap,
  kList,
};

struct NodeEntry;

struct Node {
  NodeKind kind = NodeKind::kNull;
  std::string text;                // of a scalar, as it was written, without quotes
  int line = 0;                    // counts from 1; 0 when the source has no lines
  std::vector<NodeEntry> entries;  // of a map, in the order of the source; keys are unique
  std::vector<Node> items;         // of a list

  // The value of a map's key; nullptr when this is no map or has no such key.
  const Node* Find(std::string_view key) const;
};

struct NodeEntry {
  std::string key;
  int line = 0;
  Node value;
};

// "a string", "a list", …, with the text where it helps: "the string \"x\"".
std::string Describe(const Node& node);

// The kind of an unquoted scalar.
NodeKind KindOfPlainScalar(std::string_view text);

}  // namespace firetower::k8s
