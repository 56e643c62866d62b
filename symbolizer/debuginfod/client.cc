// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/debuginfod/client.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "base/file.h"
#include "net/url.h"
#include "symbolizer/debuginfod/download.h"
#include "symbolizer/elf/build_id.h"
#include "symbolizer/elf/debug_file.h"

namespace firetower::symbolizer {

namespace {

constexpr size_t kMaxFiles = 4096;  // marks of what nobody has are empty, but not free
constexpr std::string_view kDebugInfo = "debuginfo";
constexpr std::string_view kExecutable = "executable";

Error NobodyHasIt(std::string_view build_id_hex) {
  return {ErrorCode::kNotFound, fmt::format("no debuginfod server has {}", build_id_hex)};
}

int64_t ToNs(const timespec& time) { return time.tv_sec * kNsPerSecond + time.tv_nsec; }

}  // namespace

Result<std::vector<std::string>> ParseDebuginfodUrls(std::string_view text) {
  std::vector<std::string> urls;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" ,\t\n"), text.size());
    std::string url(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (url.empty()) continue;
    const Result<net::Url> parsed = net::ParseUrl(url);
    if (!parsed) {
      return Error(ErrorCode::kInvalid, fmt::format("'{}' is not an http:// or https:// URL: {}",
                                                    url, parsed.error().message()));
    }
    while (url.ends_with('/')) url.pop_back();
    urls.push_back(std::move(url));
  }
  return urls;
}

Result<FileSource> DebuginfodClient::DebugFile(std::string_view build_id_hex) {
  return Get(build_id_hex, kDebugInfo);
}

Result<FileSource> DebuginfodClient::Executable(std::string_view build_id_hex) {
  return Get(build_id_hex, kExecutable);
}

DebuginfodClient::Cached DebuginfodClient::LookAt(const std::string& path) const {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return Cached::kNo;
  if (info.st_size > 0) {
    // Its time of change says when it was used: access times may be off.
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
    return Cached::kYes;
  }
  const int64_t age_ns = clock_.WallNs() - ToNs(info.st_mtim);
  return age_ns < options_.negative_ns ? Cached::kNobodyHasIt : Cached::kNo;
}

Result<FileSource> DebuginfodClient::Get(std::string_view build_id_hex, std::string_view what) {
  // Also what keeps foreign bytes out of paths and URLs.
  if (BuildIdPath(build_id_hex).empty() || options_.urls.empty()) {
    return NobodyHasIt(build_id_hex);
  }
  const std::string folder = fmt::format("{}/{}", options_.cache_folder, build_id_hex);
  const std::string path = fmt::format("{}/{}", folder, what);
  switch (LookAt(path)) {
    case Cached::kYes:
      return FileSource::Open(path);
    case Cached::kNobodyHasIt:
      return NobodyHasIt(build_id_hex);
    case Cached::kNo:
      break;
  }
  RETURN_IF_ERROR(MakeDirectories(folder));
  const std::string temporary = fmt::format("{}.tmp-{}", path, ::getpid());
  Status fetched = Fetch(build_id_hex, what, temporary);
  const bool nobody = !fetched && fetched.error().code() == ErrorCode::kNotFound;
  if (!fetched && !nobody) {
    ::unlink(temporary.c_str());
    return fetched.error();
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return ErrnoError("rename " + path);
  HoldToSize(path);
  if (nobody) return NobodyHasIt(build_id_hex);
  return FileSource::Open(path);
}

// On kNotFound leaves an empty file, which marks that no server has it.
Status DebuginfodClient::Fetch(std::string_view build_id_hex, std::string_view what,
                               const std::string& to) {
  UniqueFd fd(::open(to.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) return ErrnoError("open " + to);
  Status last = NobodyHasIt(build_id_hex);
  const int64_t deadline_ns = clock_.MonotonicNs() + options_.timeout_ns;
  for (const std::string& server : options_.urls) {
    const std::string url = fmt::format("{}/buildid/{}/{}", server, build_id_hex, what);
    const int64_t left_ns = deadline_ns - clock_.MonotonicNs();
    if (left_ns <= 0) return Error(ErrorCode::kUnavailable, url + ": no time left to ask");
    Status fetched = Download(http_, url, fd.get(), options_.max_file_bytes, left_ns);
    if (fetched) {
      ASSIGN_OR_RETURN(FileSource source, FileSource::Open(to));
      if (ReadBuildId(source).value_or("") == build_id_hex) return OkStatus();
      fetched = Error(ErrorCode::kCorrupt, url + ": the server sent another file");
    }
    if (::ftruncate(fd.get(), 0) != 0 || ::lseek(fd.get(), 0, SEEK_SET) != 0) {
      return ErrnoError("ftruncate " + to);
    }
    // A server that does not answer may still have it; only all of them together can say no.
    if (fetched.error().code() != ErrorCode::kNotFound) last = fetched;
  }
  return last;
}

void DebuginfodClient::HoldToSize(const std::string& keep) const {
  std::vector<std::tuple<int64_t, uint64_t, std::string>> files;  // used, size, path
  uint64_t total = 0;
  for (const std::string& id : ListDirectory(options_.cache_folder).value_or({})) {
    const std::string folder = fmt::format("{}/{}", options_.cache_folder, id);
    if (BuildIdPath(id).empty()) continue;  // not ours
    for (std::string_view name : {kDebugInfo, kExecutable}) {
      const std::string path = fmt::format("{}/{}", folder, name);
      struct stat info {};
      if (::stat(path.c_str(), &info) != 0) continue;
      const auto size = static_cast<uint64_t>(info.st_size);
      total += size;
      files.emplace_back(ToNs(info.st_mtim), size, path);
    }
  }
  std::sort(files.begin(), files.end());
  size_t count = files.size();
  for (const auto& [used_ns, size, path] : files) {
    if (total <= options_.max_cache_bytes && count <= kMaxFiles) return;
    if (path == keep) continue;
    ::unlink(path.c_str());
    ::rmdir(path.substr(0, path.rfind('/')).c_str());  // if it was the last one in it
    total -= size;
    --count;
  }
}

}  // namespace firetower::symbolizer
