// SPDX-License-Identifier: Apache-2.0
// A document as a tree of maps, lists and scalars with their line numbers. The policy parser reads
// it, both for YAML files and for JSON from an API server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace firetower::k8s {

// The kind of a scalar. Only spellings that mean the same in YAML 1.1 (kubectl's), YAML 1.2 and
// JSON are accepted; the others have kinds of their own, so that the message can say what to write
// instead.
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

  // Returns the value of a map's key; nullptr when this is not a map or has no such key.
  const Node* Find(std::string_view key) const;
};

struct NodeEntry {
  std::string key;
  int line = 0;
  Node value;
};

// Returns "a string", "a list", …, with the text where it helps: "the string \"x\"".
std::string Describe(const Node& node);

// Returns the kind of an unquoted scalar.
NodeKind KindOfPlainScalar(std::string_view text);

}  // namespace firetower::k8s
