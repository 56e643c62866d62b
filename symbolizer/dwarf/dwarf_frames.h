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

// Lines and inlined calls of one file by its DWARF. Keeps the file open and where its units have
// their code; a unit is read when one of its addresses is first asked for, into the cache. What is
// damaged has no frames.
//
// DWARF 2 to 5. Not read: split units (.dwo), whose code has no lines then, and what dwz(1) moved
// to another file.
class DwarfFrames : public SourceFrames {
 public:
  // `cache` must outlive the result. kNotFound: the file has no DWARF; kExhausted: too much of it.
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

  // Reading fills its buffers; answers do not depend on them.
  std::unique_ptr<Reader> reader_;
};

}  // namespace firetower::symbolizer
