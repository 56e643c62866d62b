// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/inotify.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"

namespace firetower::testing {

// Tells whether anything in a folder was opened since (inotify(7) IN_OPEN, which open(2) with
// O_PATH does not raise).
class OpenWatch {
 public:
  explicit OpenWatch(const std::string& folder) : fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    ::inotify_add_watch(fd_.get(), folder.c_str(), IN_OPEN);
  }
  bool Opened() const {
    char events[4096];
    return ::read(fd_.get(), events, sizeof events) > 0;
  }

 private:
  UniqueFd fd_;
};

}  // namespace firetower::testing
