// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/health/check.h"

namespace firetower::daemon {

struct KernelVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const KernelVersion&) const = default;
};

// The version texts of a kernel. Debian and Ubuntu leave the patch level out of the release
// ("6.1.0-44" is 6.1.158). Debian has it in `version`, Ubuntu in `signature`; libbpf looks there
// too.
struct KernelIdentity {
  std::string release;    // uname -r, /proc/sys/kernel/osrelease
  std::string version;    // uname -v, /proc/sys/kernel/version
  std::string signature;  // /proc/version_signature, Ubuntu only
};

KernelIdentity ReadKernelIdentity(const std::string& proc_root);
std::optional<KernelVersion> UpstreamVersion(const KernelIdentity& identity);

// Returns false on kernels whose fault-free user reads can freeze the host: 5.19 to 6.3 without the
// fix of copy_from_user_nofault() (in 6.1.36, 6.3.10 and 6.4). Other features are probed, but a
// probe of this one would do the harm. Vendor kernels are judged by their version alone; an
// unreadable version counts as unsafe.
bool UserReadsAllowed(const KernelIdentity& identity);

// Returns false on kernels that end a process with a seccomp filter when a function whose return is
// probed returns: since 6.11 that is a system call (uretprobe(2)), which filters do not know; 6.14
// lets it pass, and so does 6.12.95, which was tried.
bool ReturnProbesAllowed(const KernelIdentity& identity);

// Checks "kernel" (5.10 is the oldest supported version) and "user-reads".
std::vector<Check> KernelChecks(const KernelIdentity& identity);

}  // namespace firetower::daemon
