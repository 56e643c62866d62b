// SPDX-License-Identifier: Apache-2.0
// KIND/NAME as kubectl takes it: "deploy/checkout", "deployments.apps/checkout", "pod/web-0".
#pragma once

#include <array>
#include <string_view>

#include "base/result.h"

namespace firetower::cli {

// A kind of object that pods belong to, or are in or on.
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

// Whether a text is meant to be KIND/NAME, right or wrong: label matchers have braces or an equals
// sign, a profile type has no slash.
bool IsNamedObject(std::string_view text);

// kInvalid says what is wrong with it, not what to write instead.
Result<NamedObject> ParseNamedObject(std::string_view text);

}  // namespace firetower::cli
