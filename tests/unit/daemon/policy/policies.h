// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/policy/policy_selection.h"
#include "daemon/process/cgroup_tree.h"
#include "k8s/policy/load.h"

namespace firetower::daemon {

// One document; `spec` is YAML in flow style.
inline std::string Document(const std::string& name, const std::string& spec,
                            const std::string& kind = "ProfilingPolicy") {
  return "apiVersion: firetower.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name +
         "}\nspec: {" + spec + "}\n---\n";
}

inline std::vector<LoadedPolicy> Loaded(const std::string& documents, int64_t since_ns = 0) {
  k8s::PolicyFileResult result = k8s::ParsePolicies(documents, "p.yaml");
  for (const k8s::PolicyError& error : result.errors) ADD_FAILURE() << error.ToString();
  std::vector<LoadedPolicy> loaded;
  for (k8s::ProfilingPolicy& policy : result.policies) {
    loaded.push_back({std::move(policy), since_ns});
  }
  return loaded;
}

// Makes a container of a path as the cgroup tree does.
inline Container ContainerAt(const std::string& path) {
  Container container;
  container.path = k8s::ParseCgroupPath(path);
  container.labels = k8s::LabelsOf(container.path);
  container.root_path = path;
  return container;
}

inline Container PodContainer(const std::string& uid_end, char digit) {
  return ContainerAt("/kubepods/burstable/pod12345678-1234-1234-1234-1234567" + uid_end + "/" +
                     std::string(64, digit));
}

inline const std::string kAllPods = "targets: {podSelector: {matchLabels: {}}}";
inline const std::string kContinuous = "general: {schedule: Continuous}, ";

}  // namespace firetower::daemon
