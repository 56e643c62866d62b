// SPDX-License-Identifier: Apache-2.0
// Parses YAML (and JSON, which is a part of it) into Nodes. Refuses constructs that readers
// interpret differently or that hide contents: duplicate keys, aliases and merge keys, tags,
// directives, keys that are not plain text, bytes that are not UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "k8s/document/node.h"

namespace firetower::k8s {

inline constexpr size_t kMaxYamlBytes = 1 << 20;
inline constexpr size_t kMaxYamlDocuments = 256;
inline constexpr size_t kMaxYamlNodes = 50000;  // a document; the CRDs have 7,000
inline constexpr size_t kMaxYamlKeys = 2000;    // a map: doubled ones are sought one by one
inline constexpr size_t kMaxYamlDepth = 64;

struct YamlError {
  int line = 0;
  std::string message;
};

struct YamlDocument {
  Node root;
  std::vector<YamlError> errors;  // when not empty, root is not to be used
};

// Parses the documents of a stream, without empty ones. An invalid document does not stop the next
// ones. More than kMaxYamlDocuments are one error at the first ignored one.
std::vector<YamlDocument> ParseYaml(std::string_view text);

}  // namespace firetower::k8s
