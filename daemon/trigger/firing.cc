// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/firing.h"

#include <fmt/core.h>

namespace firetower::daemon {

std::string Describe(const Firing& firing) {
  std::string text;
  for (const HeldRule& rule : firing.rules) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}: {}", rule.name, k8s::EnumName(rule.metric));
    if (rule.metric == k8s::Metric::kOomKill) continue;
    const std::string_view unit = rule.type == k8s::TargetType::kUtilization ? " %" : "";
    text += fmt::format(" {:.4g}{} {} {:.4g}{}", rule.reading, unit,
                        rule.op == k8s::Operator::kGreaterThan ? ">" : "<", rule.threshold, unit);
  }
  return text;
}

}  // namespace firetower::daemon
