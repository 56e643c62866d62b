// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "daemon/policy/policy_selection.h"
#include "k8s/policy/load.h"

namespace firetower::daemon {

// The policies of --policy, read again when a file changes. A document that became bad keeps its
// last good version in force: what was accepted is not lost to a slip of the pen. Owned by the
// control thread.
class PolicyStore {
 public:
  // `path`: a file or a folder; it must exist. Reads it, and begins to watch it.
  static Result<PolicyStore> Open(const std::string& path, const Clock& clock);

  // Readable when something changed.
  int fd() const { return inotify_.get(); }
  // Reads everything again. True if the policies are others than before.
  bool Reload();

  const std::vector<LoadedPolicy>& policies() const { return policies_; }
  // Errors of the last reading.
  const std::vector<k8s::PolicyError>& errors() const { return errors_; }
  // Documents that have some, and files that could not be read.
  size_t refused() const { return refused_; }

 private:
  PolicyStore(std::string path, UniqueFd inotify, const Clock& clock)
      : path_(std::move(path)), inotify_(std::move(inotify)), clock_(&clock) {}

  void DrainEvents();
  void KeepLastGood(std::vector<k8s::ProfilingPolicy>& fresh) const;

  std::string path_;
  UniqueFd inotify_;
  const Clock* clock_;
  std::vector<LoadedPolicy> policies_;
  std::vector<k8s::PolicyError> errors_;
  size_t refused_ = 0;
  std::string fingerprint_;  // of what was read: file contents and errors
};

}  // namespace firetower::daemon
