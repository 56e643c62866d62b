// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_set.h"

#include <fmt/core.h>

#include <map>

namespace firetower::daemon {

PolicySet MergePolicies(const PolicyStore* files, const PolicyObjects* objects) {
  PolicySet set;
  std::map<std::string, std::string> sources;  // by display name
  if (files != nullptr) {
    set.policies = files->policies();
    set.errors = files->errors();
    set.refused = files->refused();
    for (const LoadedPolicy& loaded : set.policies)
      sources[DisplayName(loaded.policy)] = loaded.policy.source;
  }
  if (objects == nullptr) return set;
  set.errors.insert(set.errors.end(), objects->errors().begin(), objects->errors().end());
  set.refused += objects->refused();
  set.warnings = objects->warnings();
  for (const LoadedPolicy& loaded : objects->policies()) {
    const std::string name = DisplayName(loaded.policy);
    const auto file = sources.find(name);
    if (file == sources.end()) {
      set.policies.push_back(loaded);
      continue;
    }
    ++set.refused;
    set.errors.push_back(
        {name, 0, "metadata.name",
         fmt::format(
             "{} has a policy with this name too, and the file takes precedence: rename one",
             file->second)});
  }
  return set;
}

}  // namespace firetower::daemon
