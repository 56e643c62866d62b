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

// The policies of --policy, read again when a file changes. If a document becomes invalid, its last
// valid version stays in force, so that a typing error does not end an accepted policy. Owned by
// the control thread.
class PolicyStore {
 public:
  // Reads a file or a folder, which must exist, and starts to watch it.
  static Result<PolicyStore> Open(const std::string& path, const Clock& clock);

  // This descriptor becomes readable when something changed.
  int fd() const { return inotify_.get(); }
  // Reads everything again. Returns true if policies changed.
  bool Reload();

  const std::vector<LoadedPolicy>& policies() const { return policies_; }
  // The errors of the last reading.
  const std::vector<k8s::PolicyError>& errors() const { return errors_; }
  // The number of documents with errors, and of unreadable files.
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
