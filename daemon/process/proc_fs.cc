// SPDX-License-Identifier: Apache-2.0
#include "daemon/process/proc_fs.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/unique_fd.h"

namespace firetower::daemon {
namespace {

// Takes a number off the front of `text`, up to `end_char`; false if there is none.
bool TakeNumber(std::string_view& text, int base, char end_char, uint64_t& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc()) return false;
  auto used = static_cast<size_t>(end - text.data());
  if (end_char != 0 && (used >= text.size() || text[used] != end_char)) return false;
  text.remove_prefix(used + (end_char != 0 ? 1 : 0));
  return true;
}

// "7f..-7f.. r-xp 00001000 fe:00 1234   /path"
template <typename Wants>
bool ParseLine(std::string_view line, const Wants& wants, MapsLine& out) {
  uint64_t major = 0, minor = 0;
  if (!TakeNumber(line, 16, '-', out.start) || !TakeNumber(line, 16, ' ', out.end)) return false;
  if (line.size() < 5) return false;
  out.executable = line[2] == 'x';
  if (!wants(out)) return false;
  line.remove_prefix(5);
  if (!TakeNumber(line, 16, ' ', out.file_offset) || !TakeNumber(line, 16, ':', major) ||
      !TakeNumber(line, 16, ' ', minor) || !TakeNumber(line, 10, 0, out.inode)) {
    return false;
  }
  out.device = major << 32 | minor;
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  out.path = WithoutDeleted(line);
  return out.start < out.end;
}

template <typename Wants>
std::vector<MapsLine> ParseLines(std::string_view text, const Wants& wants) {
  std::vector<MapsLine> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    MapsLine line;
    if (ParseLine(text.substr(0, end), wants, line)) lines.push_back(std::move(line));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Whether all pages from `begin` to `end` are present (proc_pid_pagemap(5): bit 63).
Status CheckPresent(const std::string& pagemap, uint64_t begin, uint64_t end) {
  const UniqueFd fd(::open(pagemap.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return ErrnoError("open " + pagemap);
  constexpr uint64_t kPageBytes = 4096;
  for (uint64_t page = begin / kPageBytes; page * kPageBytes < end; ++page) {
    uint64_t entry = 0;
    if (::pread(fd.get(), &entry, sizeof(entry), static_cast<off_t>(page * sizeof(entry))) !=
            sizeof(entry) ||
        entry >> 63 == 0) {
      return Error(ErrorCode::kUnavailable, "a page is not present");
    }
  }
  return OkStatus();
}

// A link into a mount namespace, less " (deleted)".
Result<std::string> ReadLink(const std::string& link) {
  std::string target(4096, '\0');  // PATH_MAX, with its terminator
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  if (size < 0) return ErrnoError("readlink " + link);
  target.resize(static_cast<size_t>(size));
  return std::string(WithoutDeleted(target));
}

std::string WithoutNewline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::string_view WithoutDeleted(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.size() >= kDeleted.size() && path.substr(path.size() - kDeleted.size()) == kDeleted) {
    path.remove_suffix(kDeleted.size());
  }
  return path;
}

std::vector<MapsLine> ParseMaps(std::string_view text) {
  return ParseLines(text, [](const MapsLine& line) { return line.executable; });
}

std::vector<MapsLine> ParseAllMaps(std::string_view text) {
  return ParseLines(text, [](const MapsLine&) { return true; });
}

std::optional<ProcessStat> ParseStat(std::string_view text) {
  // "42 (a) b) S 7 …": field 2 ends with the last parenthesis, the parent is 4, num_threads 20,
  // starttime 22.
  const size_t begin = text.find('('), end = text.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return std::nullopt;
  ProcessStat stat;
  stat.comm = text.substr(begin + 1, end - begin - 1);
  text.remove_prefix(end + 1);
  uint64_t parent = 0, threads = 0;
  for (int field = 3; field <= 22; ++field) {
    if (!text.starts_with(' ')) return std::nullopt;
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find(' '));
    uint64_t* const number = field == 4    ? &parent
                             : field == 20 ? &threads
                             : field == 22 ? &stat.start_ticks
                                           : nullptr;
    if (number != nullptr) {
      const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
      if (error != std::errc() || last != word.data() + word.size()) return std::nullopt;
    }
    text.remove_prefix(word.size());
  }
  // A cut start time would be another one.
  if (!text.starts_with(' ') || parent > UINT32_MAX || threads > UINT32_MAX) return std::nullopt;
  stat.parent = static_cast<uint32_t>(parent);
  stat.threads = static_cast<uint32_t>(threads);
  return stat;
}

std::string ProcFs::Path(uint32_t pid, std::string_view file) const {
  return fmt::format("{}/{}/{}", root_, pid, file);
}

std::vector<uint32_t> ProcFs::Pids() const {
  std::vector<uint32_t> pids;
  Result<std::vector<std::string>> names = ListDirectory(root_);
  if (!names) return pids;
  for (const std::string& name : *names) {
    uint32_t pid = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

Result<std::vector<MapsLine>> ProcFs::Maps(uint32_t pid) const {
  ASSIGN_OR_RETURN(std::string text, ReadFile(Path(pid, "maps")));
  return ParseMaps(text);
}

Result<std::vector<MapsLine>> ProcFs::AllMaps(uint32_t pid) const {
  ASSIGN_OR_RETURN(std::string text, ReadFile(Path(pid, "maps")));
  return ParseAllMaps(text);
}

Status ProcFs::ReadPresentMemory(uint32_t pid, uint64_t address, std::span<std::byte> out) const {
  RETURN_IF_ERROR(CheckPresent(Path(pid, "pagemap"), address, address + out.size()));
  const std::string path = Path(pid, "mem");
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return ErrnoError("open " + path);
  const ssize_t got = ::pread(fd.get(), out.data(), out.size(), static_cast<off_t>(address));
  if (got < 0) return ErrnoError("read " + path);
  if (static_cast<size_t>(got) != out.size()) return Error(ErrorCode::kUnavailable, "not mapped");
  return OkStatus();
}

Result<MappedFile> ProcFs::FindMapped(uint32_t pid, uint64_t start, uint64_t end) const {
  const std::string link = Path(pid, fmt::format("map_files/{:x}-{:x}", start, end));
  MappedFile file;
  ASSIGN_OR_RETURN(file.stamp, StatFile(link));
  if (Result<std::string> path = ReadLink(link)) file.path = *std::move(path);
  return file;
}

Result<ProcessStat> ProcFs::Stat(uint32_t pid) const {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(Path(pid, "stat")));
  std::optional<ProcessStat> stat = ParseStat(text);
  if (!stat) return Error(ErrorCode::kCorrupt, fmt::format("stat of process {}", pid));
  return *std::move(stat);
}

Result<std::string> ProcFs::ThreadComm(uint32_t pid, uint32_t tid) const {
  ASSIGN_OR_RETURN(std::string text, ReadFile(Path(pid, fmt::format("task/{}/comm", tid))));
  return WithoutNewline(std::move(text));
}

Result<std::string> ProcFs::Executable(uint32_t pid) const {
  return ReadLink(Path(pid, "exe")).Context(fmt::format("executable of process {}", pid));
}

Result<std::string> ProcFs::CommandLine(uint32_t pid) const {
  ASSIGN_OR_RETURN(std::string text, ReadFile(Path(pid, "cmdline")));
  text.resize(std::min(text.size(), kMaxCommandLine));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace firetower::daemon
