// SPDX-License-Identifier: Apache-2.0
#include "daemon/health/kernel_version.h"

#include <fmt/core.h>

#include <charconv>

#include "base/file.h"

namespace firetower::daemon {
namespace {

constexpr KernelVersion kOldestServed{5, 10, 0};
constexpr size_t kMaxLineBytes = 4096;

std::string ReadLine(const std::string& path) {
  std::string text = ReadFile(path, kMaxLineBytes).value_or("");
  return text.substr(0, text.find('\n'));
}

// Takes a number from the front of `text`.
std::optional<int> TakeNumber(std::string_view& text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "6.1.158-1", "6.18.5", "7.2-rc1": major.minor, and a patch level if there is one.
std::optional<KernelVersion> ParseVersion(std::string_view text) {
  KernelVersion version;
  auto major = TakeNumber(text);
  if (!major || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  auto minor = TakeNumber(text);
  if (!minor) return std::nullopt;
  version.major = *major;
  version.minor = *minor;
  if (!text.starts_with('.')) return version;
  text.remove_prefix(1);
  version.patch = TakeNumber(text).value_or(0);
  return version;
}

std::string Describe(const KernelIdentity& identity, const std::optional<KernelVersion>& version) {
  if (!version) return fmt::format("'{}'", identity.release);
  return fmt::format("{} (upstream {}.{}.{})", identity.release, version->major, version->minor,
                     version->patch);
}

}  // namespace

KernelIdentity ReadKernelIdentity(const std::string& proc_root) {
  return {ReadLine(proc_root + "/sys/kernel/osrelease"),
          ReadLine(proc_root + "/sys/kernel/version"), ReadLine(proc_root + "/version_signature")};
}

std::optional<KernelVersion> UpstreamVersion(const KernelIdentity& identity) {
  constexpr std::string_view kDebian = "Debian ";
  std::string_view version = identity.version;
  if (size_t at = version.find(kDebian); at != std::string_view::npos) {
    if (auto parsed = ParseVersion(version.substr(at + kDebian.size()))) return parsed;
  }
  std::string_view signature = identity.signature;  // "Ubuntu 6.2.0-26.26-generic 6.2.13"
  if (size_t at = signature.rfind(' '); at != std::string_view::npos) {
    if (auto parsed = ParseVersion(signature.substr(at + 1))) return parsed;
  }
  return ParseVersion(identity.release);
}

bool UserReadsAllowed(const KernelIdentity& identity) {
  std::optional<KernelVersion> version = UpstreamVersion(identity);
  if (!version) return false;
  if (*version < KernelVersion{5, 19, 0} || *version >= KernelVersion{6, 4, 1}) return true;
  if (version->major == 6 && version->minor == 1) return version->patch >= 36;
  if (version->major == 6 && version->minor == 3) return version->patch >= 10;
  // 6.4 itself is fixed, its release candidates may not be.
  return version->major == 6 && version->minor == 4 &&
         identity.release.find("-rc") == std::string::npos;
}

bool ReturnProbesAllowed(const KernelIdentity& identity) {
  const std::optional<KernelVersion> version = UpstreamVersion(identity);
  if (!version) return false;
  if (*version < KernelVersion{6, 11, 0} || *version >= KernelVersion{6, 14, 0}) return true;
  return version->minor == 12 && version->patch >= 95;
}

std::vector<Check> KernelChecks(const KernelIdentity& identity) {
  std::optional<KernelVersion> version = UpstreamVersion(identity);
  std::string found = "kernel " + Describe(identity, version);
  Check age{"kernel", CheckStatus::kOk, found, ""};
  if (!version) {
    age = {"kernel", CheckStatus::kWarn, found + ": the version cannot be read",
           "run a kernel whose release starts with a version, or report this one"};
  } else if (*version < kOldestServed) {
    age = {"kernel", CheckStatus::kFail,
           found + " is older than 5.10, the oldest supported version",
           "upgrade the kernel to 5.10 or later"};
  }
  Check reads{"user-reads", CheckStatus::kOk, "user memory can be read from BPF", ""};
  if (!UserReadsAllowed(identity)) {
    reads = {"user-reads", CheckStatus::kWarn,
             found + " can freeze when BPF reads user memory, so user stacks are off",
             "upgrade the kernel to 6.1.36, 6.3.10, 6.4 or later"};
  }
  return {age, reads};
}

}  // namespace firetower::daemon
