// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/document/node.h"

namespace firetower::k8s {

// The fields of an object to keep, as paths such as "metadata.name". Everything below a path is
// kept with it. Lists are transparent: "status.containerStatuses.containerID" keeps that field of
// every element.
class FieldSet {
 public:
  FieldSet() : nodes_(1) {}
  FieldSet(std::initializer_list<std::string_view> paths);
  // Keeps a path of `keys`; a key may contain dots here.
  void Keep(const std::vector<std::string_view>& keys);
  // Keeps every path of `fields` below `key`.
  void KeepBelow(std::string_view key, const FieldSet& fields);

  // A position in the set while an object is walked. `whole`: everything below is kept.
  struct Cursor {
    size_t node = 0;
    bool whole = false;
  };
  Cursor root() const { return {0, nodes_[0].whole}; }
  // Sets `to` to the position of `key`. Returns false when the key is not kept.
  bool Descend(Cursor from, std::string_view key, Cursor& to) const;

 private:
  size_t ChildOf(size_t node, std::string_view key);
  void Copy(const FieldSet& from, size_t from_node, size_t to_node);
  struct Child {
    std::string key;
    size_t node;
  };
  struct TrieNode {
    bool whole = false;
    std::vector<Child> children;
  };
  std::vector<TrieNode> nodes_;
};

// Limits for an object after the fields were chosen: the number of values, of keys in a map, and
// the depth, because a tree is freed by recursion.
inline constexpr size_t kMaxObjectNodes = 50000;
inline constexpr size_t kMaxObjectKeys = 2000;
inline constexpr size_t kMaxObjectDepth = 64;

// Parses one JSON object into a tree of only those fields; lines are 0. kCorrupt: invalid JSON or
// UTF-8, or a duplicate key. kExhausted: above the limits.
Result<Node> ParseObject(std::string_view json, const FieldSet& fields);

}  // namespace firetower::k8s
