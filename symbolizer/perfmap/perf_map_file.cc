// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/perfmap/perf_map_file.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "symbolizer/foreign_file.h"
#include "symbolizer/perfmap/perf_map_builder.h"

namespace firetower::symbolizer {

namespace {

constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kMaxStatusBytes = 64 * 1024;

// Reads at most `size` bytes; text that the program appends meanwhile is left for the next time.
// Adds the number of bytes to `read_bytes`.
Result<PerfMap> ReadMap(int fd, uint64_t size, uint64_t* read_bytes) {
  PerfMapBuilder builder;
  std::vector<char> buffer(kReadBytes);
  for (uint64_t left = size; left > 0;) {
    ssize_t got = ::read(fd, buffer.data(), std::min<uint64_t>(left, buffer.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("read");
    if (got == 0) break;
    left -= static_cast<uint64_t>(got);
    *read_bytes += static_cast<uint64_t>(got);
    if (!builder.AddText({buffer.data(), static_cast<size_t>(got)})) break;
  }
  return std::move(builder).Finish();
}

}  // namespace

Result<pid_t> InnermostPid(std::string_view status_text) {
  static constexpr std::string_view kKey = "NSpid:";
  size_t at = status_text.starts_with(kKey) ? 0 : status_text.find("\nNSpid:");
  if (at == std::string_view::npos) return Error(ErrorCode::kCorrupt, "no NSpid line in status");
  if (at != 0) ++at;
  std::string_view line = status_text.substr(at + kKey.size());
  line = line.substr(0, line.find('\n'));
  size_t last = line.find_last_of(" \t");
  std::string_view number = last == std::string_view::npos ? line : line.substr(last + 1);
  pid_t pid = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), pid);
  if (error != std::errc() || end != number.data() + number.size() || pid <= 0) {
    return Error(ErrorCode::kCorrupt, "NSpid line without a pid at its end");
  }
  return pid;
}

Result<uint64_t> StartTicks(std::string_view stat_text) {
  // The second field is the command in brackets and may hold any byte; no field after it can.
  static constexpr int kFieldsBetween = 22 - 2;
  size_t at = stat_text.rfind(')');
  for (int i = 0; i < kFieldsBetween && at != std::string_view::npos; ++i) {
    at = stat_text.find(' ', at + 1);
  }
  uint64_t ticks = 0;
  if (at != std::string_view::npos) {
    std::string_view number = stat_text.substr(at + 1);
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ticks);
    if (error == std::errc() && end != number.data() + number.size() && *end == ' ') return ticks;
  }
  return Error(ErrorCode::kCorrupt, "no start time in stat");
}

Result<uint64_t> ReadStartTicks(const std::string& proc_root, pid_t pid) {
  ASSIGN_OR_RETURN(std::string stat,
                   ReadFile(fmt::format("{}/{}/stat", proc_root, pid), kMaxStatusBytes));
  return StartTicks(stat);
}

Result<PerfMapFile> PerfMapFile::ForProcess(const std::string& proc_root, pid_t pid) {
  std::string folder = fmt::format("{}/{}", proc_root, pid);
  ASSIGN_OR_RETURN(std::string status, ReadFile(folder + "/status", kMaxStatusBytes));
  ASSIGN_OR_RETURN(pid_t inner, InnermostPid(status));
  return PerfMapFile(folder + "/root", fmt::format("tmp/perf-{}.map", inner));
}

Result<bool> PerfMapFile::Refresh(bool may_read) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenForeignBelow(root_path_, inner_path_, PerfMap::kMaxFileBytes,
                                                 LastLink::kRefuse));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("fstat " + inner_path_);
  size_bytes_ = static_cast<uint64_t>(info.st_size);
  Version version{info.st_dev, info.st_ino, info.st_size,
                  info.st_mtim.tv_sec * kNsPerSecond + info.st_mtim.tv_nsec};
  if (version == version_) return false;
  if (!may_read) return Error(ErrorCode::kUnavailable, inner_path() + ": not read now");
  ASSIGN_OR_RETURN(PerfMap map, ReadMap(fd.get(), size_bytes_, &read_bytes_));
  map_ = std::make_shared<const PerfMap>(std::move(map));
  version_ = version;
  return true;
}

}  // namespace firetower::symbolizer
