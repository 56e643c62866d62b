// SPDX-License-Identifier: Apache-2.0
// YAML (and JSON, which it contains) into Nodes. Refused, since two readers understand them
// differently or they hide what is said: a key given twice, aliases and merge keys, tags,
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

// The documents of a stream, those that are empty left out. A document that cannot be read does
// not stop those after it. More than kMaxYamlDocuments are one error at the first that is left out.
std::vector<YamlDocument> ParseYaml(std::string_view text);

}  // namespace firetower::k8s
