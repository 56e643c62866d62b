// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "k8s/document/node.h"

namespace firetower::cli {

// One condition of an object's status; missing fields are "". Lives as long as the object.
struct Condition {
  std::string_view status;  // True, False, Unknown
  std::string_view reason;
  std::string_view message;
};

Condition ConditionOf(const k8s::Node& object, std::string_view type);

}  // namespace firetower::cli
