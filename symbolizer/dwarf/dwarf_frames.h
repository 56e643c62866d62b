// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "symbolizer/dwarf/sections.h"
#include "symbolizer/dwarf/unit_cache.h"
#include "symbolizer/random_access.h"
#include "symbolizer/source_frames.h"

namespace firetower::symbolizer {

// Lines and inlined calls of one file, from its DWARF. Keeps the file open, and the address ranges
// of its units. A unit is read into the cache when one of its addresses is first looked up. Damaged
// units have no frames.
//
// Reads DWARF 2 to 5. Does not read split units (.dwo), whose code then has no lines, nor entries
// that dwz(1) moved to another file.
class DwarfFrames : public SourceFrames {
 public:
  // Opens a file. `cache` must outlive the result. kNotFound: the file has no DWARF. kExhausted: it
  // has too much.
  static Result<std::shared_ptr<const DwarfFrames>> Open(std::unique_ptr<RandomAccess> source,
                                                         dwarf::UnitCache& cache,
                                                         const dwarf::DwarfLimits& limits = {});
  ~DwarfFrames() override;

  void Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const override;
  bool IsReady(uint64_t elf_vaddr) const override;
  void Forget() const override;
  size_t bytes() const override;

 private:
  class Reader;
  explicit DwarfFrames(std::unique_ptr<Reader> reader);

  // Look-ups change its buffers, but no answer depends on them.
  std::unique_ptr<Reader> reader_;
};

}  // namespace firetower::symbolizer
