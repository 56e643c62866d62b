// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/policies/policy_log.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace firetower::daemon {

std::vector<std::string> NewEntries::Take(std::vector<std::string> now) {
  std::vector<std::string> fresh;
  for (const std::string& text : now) {
    if (std::ranges::find(last_, text) == last_.end()) fresh.push_back(text);
  }
  last_ = std::move(now);
  return fresh;
}

void PolicyLog::TakeErrors(const std::vector<k8s::PolicyError>& errors) {
  std::vector<std::string> texts;
  for (const k8s::PolicyError& error : errors) texts.push_back(error.ToString());
  for (const std::string& text : errors_.Take(std::move(texts)))
    LOG(kWarn, "policy refused", {{"error", text}});
}

void PolicyLog::TakeWarnings(std::vector<std::string> warnings) {
  for (const std::string& text : warnings_.Take(std::move(warnings)))
    LOG(kWarn, "policy", {{"warning", text}});
}

}  // namespace firetower::daemon
