// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace firetower {

// Opens read-only with O_CLOEXEC; `extra_flags` are further open(2) flags.
Result<UniqueFd> OpenReadOnly(const std::string& path, int extra_flags = 0);

// Reads the whole file. Fails with kExhausted when it is longer than `max_bytes`. Works on /proc
// files, whose size reads as 0. Refuses anything but a regular file (kInvalid), because a FIFO or a
// device may never end.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes = 64u << 20);
// Like ReadFile, but also reads a FIFO and waits for its writer. For paths that a person gives on a
// command line, such as /dev/stdin or a shell's <(command).
Result<std::string> ReadFileOrPipe(const std::string& path, size_t max_bytes);
Result<std::string> ReadFd(int fd, size_t max_bytes = 64u << 20);

// Reads exactly out.size() bytes at `offset`. Fails with kCorrupt when the file ends earlier.
Status ReadExactAt(int fd, uint64_t offset, std::span<std::byte> out);

// Replaces the file at `path` atomically: a reader sees the old file or the whole new one, even
// after a power cut. Writes a temporary file in the same folder, syncs it, renames it and syncs the
// folder.
Status WriteFileAtomic(const std::string& path, std::string_view contents, unsigned mode = 0644);
// Replaces the file in the same way, with contents that `fill` writes to the descriptor.
Status WriteFileAtomic(const std::string& path, const std::function<Status(int fd)>& fill,
                       unsigned mode = 0644);
// Writes all of `contents` at the descriptor's current position.
Status WriteAll(int fd, std::string_view contents);

// Returns the pid in the name of a temporary file of WriteFileAtomic (<name>.tmp-<pid>-<serial>),
// or nothing for any other name. Tells the remains of a crash from other files with similar names.
std::optional<pid_t> TemporaryFileOwner(std::string_view name);
inline constexpr size_t kMaxTemporarySuffixBytes = 26;  // two numbers of ten digits

// Creates the folder and its parents with mode 0755. Succeeds when the folder exists.
Status MakeDirectories(const std::string& path);

// Returns the sorted names in a folder, without . and ..
Result<std::vector<std::string>> ListDirectory(const std::string& path);

}  // namespace firetower
