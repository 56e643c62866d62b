// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/condition.h"

#include "k8s/watch/object_meta.h"

namespace firetower::cli {

Condition ConditionOf(const k8s::Node& object, std::string_view type) {
  const k8s::Node* status = object.Find("status");
  const k8s::Node* conditions = status == nullptr ? nullptr : status->Find("conditions");
  if (conditions == nullptr) return {};
  for (const k8s::Node& one : conditions->items) {
    if (k8s::TextAt(one, {"type"}) != type) continue;
    return {k8s::TextAt(one, {"status"}), k8s::TextAt(one, {"reason"}),
            k8s::TextAt(one, {"message"})};
  }
  return {};
}

}  // namespace firetower::cli
