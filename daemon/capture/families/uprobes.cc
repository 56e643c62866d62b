// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/families/uprobes.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/file.h"

namespace firetower::daemon {
namespace {

// include/uapi/linux/bpf.h of Linux 6.6: the attach type, and the part of union bpf_attr that makes
// such a link. Debian 12's headers are older.
constexpr auto kUprobeMulti = static_cast<bpf_attach_type>(48);
struct LinkAttributes {
  uint32_t program_fd = 0;
  uint32_t target_fd = 0;
  uint32_t attach_type = kUprobeMulti;
  uint32_t link_flags = 0;
  uint64_t path = 0;
  uint64_t offsets = 0;
  uint64_t reference_counters = 0;
  uint64_t cookies = 0;
  uint32_t count = 0;
  uint32_t flags = 0;
  uint32_t pid = 0;
  uint32_t pad = 0;
};

constexpr uint32_t kLinkReturns = 1;   // BPF_F_UPROBE_MULTI_RETURN, there too
constexpr uint64_t kEventReturns = 1;  // /sys/bus/event_source/devices/uprobe/format/retprobe

UniqueFd OpenLink(uint32_t pid, const std::string& path, int program_fd, Uprobes::At at,
                  std::span<const uint64_t> file_offsets) {
  LinkAttributes attributes;
  attributes.program_fd = static_cast<uint32_t>(program_fd);
  attributes.path = reinterpret_cast<uint64_t>(path.c_str());
  attributes.offsets = reinterpret_cast<uint64_t>(file_offsets.data());
  attributes.count = static_cast<uint32_t>(file_offsets.size());
  attributes.flags = at == Uprobes::At::kReturn ? kLinkReturns : 0;
  attributes.pid = pid;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes))));
}

// Returns the perf event type of uprobes.
Result<uint32_t> UprobeType(const std::string& sys_root) {
  const std::string path = sys_root + "/bus/event_source/devices/uprobe/type";
  const Result<std::string> text = ReadFile(path);
  uint32_t type = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), type).ec != std::errc())
    return Error(ErrorCode::kNotFound,
                 "this kernel has no uprobes (CONFIG_UPROBE_EVENTS): " + path + " cannot be read");
  return type;
}

perf_event_attr EventAttributes(uint32_t type) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = type;
  attr.disabled = 1;
  return attr;
}

UniqueFd OpenPerfEvent(perf_event_attr& attr, pid_t pid) {
  return UniqueFd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

Result<Uprobes> Uprobes::Find(const std::string& sys_root) {
  Uprobes uprobes;
  ASSIGN_OR_RETURN(uprobes.event_type_, UprobeType(sys_root));
  // The kernel looks at capabilities first, and then finds that there is no path.
  perf_event_attr attr = EventAttributes(uprobes.event_type_);
  const UniqueFd none = OpenPerfEvent(attr, 0);
  uprobes.by_links_ = !none && errno == EACCES;
  return uprobes;
}

void Uprobes::Prepare(bpf_program* program) const {
  if (by_links_) bpf_program__set_expected_attach_type(program, kUprobeMulti);
}

Status Uprobes::Check(int program_fd) const {
  if (!by_links_) return OkStatus();
  // A kernel that has such links says EBADF of a path that is no file.
  const uint64_t offset = 0;
  const UniqueFd none = OpenLink(0, "/", program_fd, At::kEntry, {&offset, 1});
  if (none || errno == EBADF) return OkStatus();
  return ErrnoError(
      "uprobes: this kernel sets them for CAP_SYS_ADMIN alone, and has no links of several "
      "(Linux 6.6)",
      errno == EINVAL ? EACCES : errno);
}

Status Uprobes::Attach(uint32_t pid, const std::string& path, int program_fd, At at,
                       std::span<const uint64_t> file_offsets,
                       std::vector<UniqueFd>& probes) const {
  if (by_links_) {
    UniqueFd link = OpenLink(pid, path, program_fd, at, file_offsets);
    if (!link)
      return ErrnoError(fmt::format("a link of {} uprobes, process {}", file_offsets.size(), pid));
    probes.push_back(std::move(link));
    return OkStatus();
  }
  for (const uint64_t offset : file_offsets) {
    ASSIGN_OR_RETURN(UniqueFd event, OpenEvent(pid, path, program_fd, at, offset));
    probes.push_back(std::move(event));
  }
  return OkStatus();
}

Result<UniqueFd> Uprobes::OpenEvent(uint32_t pid, const std::string& path, int program_fd, At at,
                                    uint64_t file_offset) const {
  const auto failure = [&](const char* call) {
    const int error = errno;
    return ErrnoError(fmt::format("{} (uprobe at {:#x}, process {})", call, file_offset, pid),
                      error);
  };
  perf_event_attr attr = EventAttributes(event_type_);
  attr.config = at == At::kReturn ? kEventReturns : 0;
  attr.uprobe_path = reinterpret_cast<uint64_t>(path.c_str());
  attr.probe_offset = file_offset;
  // The breakpoint is set in this process's memory alone, and meets all of its threads.
  UniqueFd event = OpenPerfEvent(attr, static_cast<pid_t>(pid));
  if (!event) return failure("perf_event_open");
  if (::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program_fd) != 0) return failure("attach");
  if (::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) return failure("enable");
  return event;
}

}  // namespace firetower::daemon
