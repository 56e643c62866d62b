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

// The whole file. kExhausted when it is longer than `max_bytes`; works on /proc files (size 0).
// Only regular files (kInvalid): of a FIFO or a device the end may never come.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes = 64u << 20);
// As ReadFile, and waits for the writer of a FIFO: for what a person names on a command line, such
// as /dev/stdin or a shell's <(command).
Result<std::string> ReadFileOrPipe(const std::string& path, size_t max_bytes);
Result<std::string> ReadFd(int fd, size_t max_bytes = 64u << 20);

// Reads exactly out.size() bytes at `offset`; kCorrupt when the file ends before.
Status ReadExactAt(int fd, uint64_t offset, std::span<std::byte> out);

// Replaces `path` so that a reader sees the old file or the whole new one, never a part, also
// after a power cut: temporary file beside it, fsync, rename, fsync of the folder.
Status WriteFileAtomic(const std::string& path, std::string_view contents, unsigned mode = 0644);
// The same for contents that `fill` writes to the descriptor.
Status WriteFileAtomic(const std::string& path, const std::function<Status(int fd)>& fill,
                       unsigned mode = 0644);
// Writes all of it where the descriptor stands.
Status WriteAll(int fd, std::string_view contents);

// The temporary file of WriteFileAtomic is <name>.tmp-<pid>-<serial>. The pid if `name` is such a
// name, so that what a crash left behind can be told from a file that somebody called similarly.
std::optional<pid_t> TemporaryFileOwner(std::string_view name);
inline constexpr size_t kMaxTemporarySuffixBytes = 26;  // two numbers of ten digits

// Creates the folder and its parents (mode 0755); fine when it exists.
Status MakeDirectories(const std::string& path);

// Names in a folder, without . and .., sorted.
Result<std::vector<std::string>> ListDirectory(const std::string& path);

}  // namespace firetower
