// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/dwarf_frames.h"

#include <optional>

#include "symbolizer/dwarf/unit.h"
#include "symbolizer/dwarf/unit_ranges.h"

namespace firetower::symbolizer {

class DwarfFrames::Reader {
 public:
  Reader(std::unique_ptr<RandomAccess> source, dwarf::Units units, dwarf::UnitCache& cache,
         const dwarf::DwarfLimits& limits)
      : source_(std::move(source)),
        units_(std::move(units)),
        ranges_(dwarf::ReadUnitRanges(units_)),
        cache_(cache),
        limits_(limits),
        file_(cache.NewFile()) {
    units_.Forget();
  }
  ~Reader() { cache_.Forget(file_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::optional<uint32_t> UnitOf(uint64_t elf_vaddr) const {
    return dwarf::FindUnit(ranges_, elf_vaddr);
  }
  bool Has(uint32_t unit) const { return cache_.Has(file_, unit); }

  const dwarf::UnitTable& Get(uint32_t unit) {
    if (last_ == nullptr || last_unit_ != unit) {
      last_ = cache_.Find(file_, unit);
      last_unit_ = unit;
    }
    if (last_ == nullptr) {
      last_ = dwarf::UnitTable::Load(units_, unit, limits_);
      cache_.Insert(file_, unit, last_);
    }
    return *last_;
  }

  void Forget() {
    units_.Forget();
    last_ = nullptr;
  }

  size_t bytes() const {
    return sizeof(*this) + units_.bytes() + ranges_.capacity() * sizeof(ranges_[0]);
  }

 private:
  std::unique_ptr<RandomAccess> source_;
  dwarf::Units units_;
  std::vector<dwarf::UnitRange> ranges_;
  dwarf::UnitCache& cache_;
  dwarf::DwarfLimits limits_;
  uint64_t file_;
  // Texts of the last answer are in it.
  std::shared_ptr<const dwarf::UnitTable> last_;
  uint32_t last_unit_ = 0;
};

DwarfFrames::DwarfFrames(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
DwarfFrames::~DwarfFrames() = default;

Result<std::shared_ptr<const DwarfFrames>> DwarfFrames::Open(std::unique_ptr<RandomAccess> source,
                                                             dwarf::UnitCache& cache,
                                                             const dwarf::DwarfLimits& limits) {
  ASSIGN_OR_RETURN(ElfFile file, ElfFile::Open(*source));
  ASSIGN_OR_RETURN(dwarf::Sections sections, dwarf::Sections::Open(file, limits));
  ASSIGN_OR_RETURN(dwarf::Units units, dwarf::Units::Open(std::move(sections), limits));
  auto reader = std::make_unique<Reader>(std::move(source), std::move(units), cache, limits);
  return std::shared_ptr<const DwarfFrames>(new DwarfFrames(std::move(reader)));
}

void DwarfFrames::Find(uint64_t elf_vaddr, std::vector<SourceFrame>& out) const {
  std::optional<uint32_t> unit = reader_->UnitOf(elf_vaddr);
  if (unit) reader_->Get(*unit).Find(elf_vaddr, out);
}

bool DwarfFrames::IsReady(uint64_t elf_vaddr) const {
  std::optional<uint32_t> unit = reader_->UnitOf(elf_vaddr);
  return !unit || reader_->Has(*unit);
}

void DwarfFrames::Forget() const { reader_->Forget(); }

size_t DwarfFrames::bytes() const { return sizeof(*this) + reader_->bytes(); }

}  // namespace firetower::symbolizer
