// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "k8s/policy/load.h"

namespace firetower::daemon {

// Of a list that is made again at each change: what was not in the one before.
class News {
 public:
  std::vector<std::string> Take(std::vector<std::string> now);

 private:
  std::vector<std::string> last_;
};

// Logs what is wrong with policies, each thing once for as long as it is so: a change of one policy
// lists those of all anew. One thread.
class PolicyLog {
 public:
  void TakeErrors(const std::vector<k8s::PolicyError>& errors);
  void TakeWarnings(std::vector<std::string> warnings);

 private:
  News errors_;
  News warnings_;
};

}  // namespace firetower::daemon
