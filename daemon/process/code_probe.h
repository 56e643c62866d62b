// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/process/file_systems.h"
#include "daemon/process/proc_fs.h"

namespace firetower::daemon {

// Looks at executable memory that has no file to tell what it is: a memory file (memfd_create, a
// file in /dev/shm), which holds an ELF image or what a compiler wrote; and anonymous or huge
// pages, which a program may have moved its own code to, at the same address.
//
// Reads other processes' files and memory on the resolve thread: a few hundred bytes of each, only
// of file systems that are this machine's, and only of pages that are present, so that nothing is
// waited for (FileSystems; userfaultfd(2)). Callers limit how often. Owned by the resolve thread.
class CodeProbe {
 public:
  // Memory files whose answer is kept; all are forgotten when there are more.
  static constexpr size_t kMaxKnown = 4096;
  // Mappings before one that may be of the file that it was moved from: its own pieces and data.
  static constexpr size_t kMaxBefore = 32;
  // Compares so many pieces of a mapping, each of so many bytes.
  static constexpr size_t kPieces = 16;
  static constexpr size_t kPieceBytes = 64;

  CodeProbe(const ProcFs& proc, FileSystems& file_systems);
  ~CodeProbe();

  // Looks at a file without an image so often while its headers may still be written: programs map
  // a memory file and write the image into it afterwards. A compiler's file may begin with zeros
  // for as long as it lives, so there is an end.
  static constexpr uint8_t kMaxLooks = 6;

  // Says whether the file that is mapped there is an ELF image that has code there. The answer is
  // kept by its inode, once the file could be read and its headers are written.
  bool IsImage(uint32_t pid, const MapsLine& line);
  // Returns what IsImage said of that file; nullopt if it was not asked or could not say.
  std::optional<bool> Known(uint64_t device, uint64_t inode) const;
  // Says whether IsImage read that file and found headers that may still be written.
  bool MayBecomeImage(uint64_t device, uint64_t inode) const;

  struct Origin {
    size_t line = 0;  // of the file, in the process's
    uint64_t file_offset = 0;
  };
  enum class Match : uint8_t { kNone, kDiffers, kSame };
  // Whether lines[index] has the code of a file that is mapped before it, at the address where the
  // file's own would be. kDiffers: it lies there, and its bytes are others.
  Match FindOrigin(uint32_t pid, const std::vector<MapsLine>& lines, size_t index, Origin& out);
  // To be called when a process's mappings were looked at: closes what FindOrigin keeps open.
  void Close();

 private:
  struct Image;
  struct Opened;
  std::optional<Image> Open(uint32_t pid, const MapsLine& line);
  const Image* OpenOnce(uint32_t pid, const MapsLine& line);
  Match Compare(uint32_t pid, const MapsLine& line, const Image& image, const MapsLine& of,
                uint64_t& file_offset) const;
  bool HasBytes(uint32_t pid, uint64_t begin, uint64_t end, const Image& image,
                uint64_t file_offset) const;

  const ProcFs& proc_;
  FileSystems& file_systems_;
  struct Seen {
    bool is_image = false;
    bool is_final = false;
    uint8_t looks = 0;
  };
  std::map<std::pair<uint64_t, uint64_t>, Seen> known_;  // by device and inode
  std::unique_ptr<Opened> last_;  // a compiler's hundreds of mappings have one file before them
};

}  // namespace firetower::daemon
