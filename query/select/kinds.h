// SPDX-License-Identifier: Apache-2.0
// Parses KIND/NAME with kubectl's spellings: "deploy/checkout", "deployments.apps/checkout",
// "pod/web-0".
#pragma once

#include <array>
#include <string_view>

#include "base/result.h"

namespace firetower::query {

// A kind of object that pods belong to, are in, or run on.
struct ObjectKind {
  std::string_view kind;                      // "Deployment"
  std::string_view group;                     // "apps"; "" for the core's
  std::array<std::string_view, 3> spellings;  // lower-case: singular, plural, short or ""
  bool is_target;                             // a policy's workloadRefs may be of it
};

struct NamedObject {
  const ObjectKind* kind;
  std::string_view name;  // of the text that was read
};

// Tells whether a name is valid for an object of Kubernetes (RFC 1123's labels separated by dots),
// so that it can be part of a path.
bool IsObjectName(std::string_view name);

// Tells whether a text is meant as KIND/NAME, valid or not: label matchers have braces or an equals
// sign, and a profile type has no slash.
bool IsNamedObject(std::string_view text);

// Parses KIND/NAME. kInvalid says what is wrong, but not what to write instead.
Result<NamedObject> ParseNamedObject(std::string_view text);

}  // namespace firetower::query
