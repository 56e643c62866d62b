// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "k8s/policy/load.h"

namespace firetower::daemon {

// Finds the entries of a list that were not in the list before.
class NewEntries {
 public:
  std::vector<std::string> Take(std::vector<std::string> now);

 private:
  std::vector<std::string> last_;
};

// Logs problems of policies, each once for as long as it lasts: a change of one policy lists the
// problems of all policies again. Belongs to one thread.
class PolicyLog {
 public:
  void TakeErrors(const std::vector<k8s::PolicyError>& errors);
  void TakeWarnings(std::vector<std::string> warnings);

 private:
  NewEntries errors_;
  NewEntries warnings_;
};

}  // namespace firetower::daemon
