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

// Examines executable memory that no ordinary file describes: memory files (memfd_create, files in
// /dev/shm), which hold an ELF image or compiled code; and anonymous or huge pages, to which a
// program may have moved its own code at the same address.
//
// Reads other processes' files and memory on the resolve thread: a few hundred bytes of each, only
// from file systems of this machine, and only from pages that are present, so that nothing blocks
// (FileSystems; userfaultfd(2)). Callers limit the frequency. Owned by the resolve thread.
class CodeProbe {
 public:
  // The number of memory files with a cached answer. Beyond it all answers are dropped.
  static constexpr size_t kMaxKnown = 4096;
  // The number of earlier mappings that may be of the original file: its own pieces and data.
  static constexpr size_t kMaxBefore = 32;
  // The number and size of the pieces of a mapping that are compared.
  static constexpr size_t kPieces = 16;
  static constexpr size_t kPieceBytes = 64;

  CodeProbe(const ProcFs& proc, FileSystems& file_systems);
  ~CodeProbe();

  // The number of times that a file without an image is examined while its headers may still be
  // written, because programs map a memory file before they write the image into it. A compiler's
  // file may begin with zeros for its whole life, so there is a limit.
  static constexpr uint8_t kMaxLooks = 6;

  // Tells whether the mapped file is an ELF image that has code there. The answer is cached by
  // inode, once the file could be read and its headers are written.
  bool IsImage(uint32_t pid, const MapsLine& line);
  // Returns IsImage's earlier answer for that file; nullopt if there is none.
  std::optional<bool> Known(uint64_t device, uint64_t inode) const;
  // Tells whether IsImage has read that file and its headers may still be written.
  bool MayBecomeImage(uint64_t device, uint64_t inode) const;

  struct Origin {
    size_t line = 0;  // of the file, in the process's
    uint64_t file_offset = 0;
  };
  enum class Match : uint8_t { kNone, kDiffers, kSame };
  // Tells whether lines[index] has the code of a file that is mapped before it, at the address
  // where the file's own would be. kDiffers: the address fits, but the bytes differ.
  Match FindOrigin(uint32_t pid, const std::vector<MapsLine>& lines, size_t index, Origin& out);
  // Must be called after a process's mappings were examined: closes the files that FindOrigin keeps
  // open.
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
