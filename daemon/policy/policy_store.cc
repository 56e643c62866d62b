// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_store.h"

#include <fmt/core.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"

namespace firetower::daemon {
namespace {

// "policies.yaml" of "policies.yaml:12".
std::string_view FileOf(std::string_view source) { return source.substr(0, source.rfind(':')); }

bool SamePolicy(const k8s::ProfilingPolicy& a, const k8s::ProfilingPolicy& b) {
  return a.cluster == b.cluster && a.name == b.name && a.namespace_name == b.namespace_name;
}

// Returns the bytes of the file, or of every file of the folder, to detect changes.
std::string Fingerprint(const std::string& path) {
  Result<std::vector<std::string>> names = ListDirectory(path);
  if (!names) return ReadFile(path).value_or("");
  std::string all;
  for (const std::string& name : *names) {
    all += fmt::format("{}\n{}\n", name, ReadFile(path + "/" + name).value_or(""));
  }
  return all;
}

}  // namespace

Result<PolicyStore> PolicyStore::Open(const std::string& path, const Clock& clock) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return ErrnoError("--policy " + path);
  UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) return ErrnoError("inotify_init1");
  // Editors and ConfigMap volumes replace files by renaming: it is the folder that tells.
  std::string folder = path;
  if (!S_ISDIR(info.st_mode)) {
    size_t slash = path.find_last_of('/');
    folder = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  }
  constexpr uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE;
  if (::inotify_add_watch(inotify.get(), folder.c_str(), kChanges) < 0) {
    return ErrnoError("watch " + folder);
  }
  PolicyStore store(path, std::move(inotify), clock);
  store.Reload();
  return store;
}

void PolicyStore::DrainEvents() {
  char events[4096];
  while (::read(inotify_.get(), events, sizeof(events)) > 0) {
  }
}

void PolicyStore::KeepLastGood(std::vector<k8s::ProfilingPolicy>& fresh) const {
  for (const LoadedPolicy& old : policies_) {
    std::string_view file = FileOf(old.policy.source);
    bool file_is_bad = std::any_of(errors_.begin(), errors_.end(),
                                   [&](const k8s::PolicyError& e) { return e.file == file; });
    bool replaced = std::any_of(fresh.begin(), fresh.end(), [&](const k8s::ProfilingPolicy& p) {
      return SamePolicy(p, old.policy);
    });
    if (file_is_bad && !replaced) fresh.push_back(old.policy);
  }
}

bool PolicyStore::Reload() {
  DrainEvents();
  std::string fingerprint = Fingerprint(path_);
  if (fingerprint == fingerprint_) return false;
  fingerprint_ = std::move(fingerprint);
  k8s::PolicyFileResult loaded = k8s::LoadPolicies(path_);
  errors_ = std::move(loaded.errors);
  refused_ = loaded.refused;
  KeepLastGood(loaded.policies);
  std::vector<LoadedPolicy> next;
  for (k8s::ProfilingPolicy& policy : loaded.policies) {
    auto known = std::find_if(policies_.begin(), policies_.end(), [&](const LoadedPolicy& old) {
      return SamePolicy(old.policy, policy);
    });
    int64_t since_ns = known != policies_.end() ? known->since_ns : clock_->WallNs();
    next.push_back({std::move(policy), since_ns});
  }
  policies_ = std::move(next);
  return true;
}

}  // namespace firetower::daemon
