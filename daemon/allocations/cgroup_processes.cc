// SPDX-License-Identifier: Apache-2.0
#include "daemon/allocations/cgroup_processes.h"

#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/file.h"

namespace firetower::daemon {
namespace {

void AddProcesses(const std::string& folder, std::vector<uint32_t>& pids) {
  const Result<std::string> text = ReadFile(folder + "/cgroup.procs");
  if (!text) return;
  const char* at = text->data();
  const char* end = at + text->size();
  while (at < end && pids.size() < kMaxProcesses) {
    uint32_t pid = 0;
    const auto [next, error] = std::from_chars(at, end, pid);
    // 0 is a process of another PID namespace.
    if (error == std::errc() && pid != 0) pids.push_back(pid);
    at = next == at ? next + 1 : next;
  }
}

}  // namespace

std::vector<uint32_t> ProcessesIn(const std::string& mount, const std::string& root_path,
                                  const std::set<std::string>& others) {
  namespace fs = std::filesystem;
  std::vector<uint32_t> pids;
  const std::string root = mount + (root_path == "/" ? "" : root_path);
  AddProcesses(root, pids);
  std::error_code error;
  fs::recursive_directory_iterator folder(root, error);
  for (; !error && folder != fs::recursive_directory_iterator(); folder.increment(error)) {
    std::error_code ignored;
    if (!folder->is_directory(ignored) || folder->is_symlink(ignored)) continue;
    const std::string path = folder->path().string();
    if (others.contains(path.substr(mount.size()))) {
      folder.disable_recursion_pending();
      continue;
    }
    AddProcesses(path, pids);
  }
  return pids;
}

}  // namespace firetower::daemon
