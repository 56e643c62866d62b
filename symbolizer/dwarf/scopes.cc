// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/scopes.h"

#include <algorithm>
#include <cstring>

#include "symbolizer/dwarf/constants.h"

namespace firetower::symbolizer::dwarf {

namespace {

constexpr size_t kMaxDepth = 1024;  // of entries in each other; compilers stay below 100

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t scope = 0;  // scopes are numbered as they are met: an inner one is higher
};

// Says whether a language's types hold no code, only declarations (DWARF 5, 7.12): C and C++, but
// for types within a function.
bool TypesHoldNoCode(uint64_t language) {
  switch (language) {
    case 0x01:  // C89
    case 0x02:  // C
    case 0x04:  // C++
    case 0x0c:  // C99
    case 0x1a:  // C++11
    case 0x1d:  // C11
    case 0x21:  // C++14
    case 0x2b:  // C++17
    case 0x2c:  // C17
      return true;
    default:
      return false;
  }
}

class Walk {
 public:
  Walk(Units& units, const Unit& unit, std::span<const std::byte> bytes, const DwarfLimits& limits)
      : units_(units),
        unit_(unit),
        bytes_(bytes),
        limits_(limits),
        skip_types_(TypesHoldNoCode(unit.root.language.number)) {}

  void Run() {
    ByteReader reader(bytes_);
    reader.Bytes(unit_.header.header_bytes);
    while (reader.remaining() > 0 &&
           std::max(tree_.scopes.size(), ranges_read_) < limits_.max_scopes) {
      const uint64_t at = reader.position();
      const uint64_t code = reader.Uleb();
      if (code == 0) {
        if (!around_.empty()) around_.pop_back();
        continue;
      }
      const Abbrev* abbrev = unit_.abbrevs->Find(code);
      if (abbrev == nullptr || !Visit(*abbrev, at, reader) || reader.failed()) return;
    }
  }

  ScopeTree Take() && {
    Flatten();
    return std::move(tree_);
  }

 private:
  // Surroundings of an entry.
  struct Around {
    uint32_t scope = Scope::kNone;
    bool is_function = false;  // or lies in one
  };

  uint32_t Parent() const { return around_.empty() ? Scope::kNone : around_.back().scope; }
  bool InFunction() const { return !around_.empty() && around_.back().is_function; }

  // False ends the walk.
  bool Visit(const Abbrev& abbrev, uint64_t at, ByteReader& reader) {
    uint32_t inside = Parent();
    if (IsCode(abbrev)) {
      const Entry entry = ReadEntry(reader, abbrev, *unit_.abbrevs, unit_.header.format);
      inside = AddScope(abbrev, at, entry);
    } else {
      if (abbrev.has_children && !MayHoldCode(abbrev.tag) && StepOver(abbrev, reader)) return true;
      SkipEntry(reader, abbrev, *unit_.abbrevs, unit_.header.format);
    }
    if (!abbrev.has_children) return true;
    if (around_.size() >= kMaxDepth) return false;
    around_.push_back({inside, InFunction() || abbrev.tag == kTagSubprogram});
    return true;
  }

  static bool IsCode(const Abbrev& abbrev) {
    return abbrev.has_code && (abbrev.tag == kTagSubprogram || abbrev.tag == kTagInlinedSubroutine);
  }

  bool MayHoldCode(uint16_t tag) const {
    switch (tag) {
      case kTagCompileUnit:
      case kTagPartialUnit:
      case kTagSkeletonUnit:
      case kTagNamespace:
      case kTagModule:
      case kTagSubprogram:
      case kTagInlinedSubroutine:
      case kTagLexicalBlock:
      case kTagTryBlock:
      case kTagCatchBlock:
      case kTagWithStmt:
      case kTagEntryPoint:
        return true;
      case kTagClassType:
      case kTagStructureType:
      case kTagUnionType:
      case kTagInterfaceType:
      case kTagVariantPart:
      case kTagVariant:
        // GCC puts a lambda's code into the type that it has in its function.
        return !skip_types_ || InFunction();
      default:
        return false;
    }
  }

  // Goes to the next entry behind this one's children, where the entry says where that is.
  bool StepOver(const Abbrev& abbrev, ByteReader& reader) {
    if (abbrev.sibling_at < 0) return false;
    const std::span<const std::byte> rest = reader.Rest();
    const auto at = static_cast<size_t>(abbrev.sibling_at);
    uint32_t sibling = 0;
    if (at + sizeof(sibling) > rest.size()) return false;
    std::memcpy(&sibling, rest.data() + at, sizeof(sibling));
    // Only forwards, or a walk could go round.
    if (sibling <= reader.position() || sibling > bytes_.size()) return false;
    reader.Bytes(sibling - reader.position());
    return true;
  }

  uint32_t AddScope(const Abbrev& abbrev, uint64_t at, const Entry& entry) {
    ranges_.clear();
    units_.AddRanges(unit_, entry, ranges_);
    // Many entries may share one long list, so that not the unit's size bounds this.
    ranges_read_ += ranges_.size();
    // The linker puts discarded code at address 0; LLVM's linker uses the highest addresses.
    std::erase_if(ranges_, [](const AddressRange& range) { return range.begin == 0; });
    if (ranges_.empty()) return Parent();
    Scope scope;
    scope.entry = unit_.header.offset + at;
    if (entry.origin.has() && !entry.name.has() && !entry.linkage_name.has()) {
      // Names are looked up once for all copies of a function.
      const uint64_t origin = Units::Reference(unit_, entry.origin);
      if (origin != 0) scope.entry = origin;
    }
    if (abbrev.tag == kTagInlinedSubroutine && Parent() != Scope::kNone) {
      scope.parent = Parent();
      scope.call_line = static_cast<uint32_t>(entry.call_line.number);
      scope.call_file =
          static_cast<uint16_t>(std::min<uint64_t>(entry.call_file.number, UINT16_MAX));
      scope.call_column =
          static_cast<uint16_t>(std::min<uint64_t>(entry.call_column.number, UINT16_MAX));
    }
    const auto index = static_cast<uint32_t>(tree_.scopes.size());
    tree_.scopes.push_back(scope);
    for (const AddressRange& range : ranges_) intervals_.push_back({range.begin, range.end, index});
    return index;
  }

  void Start(uint64_t begin, uint32_t scope) {
    std::vector<ScopeStart>& starts = tree_.starts;
    if (!starts.empty() && starts.back().begin == begin) starts.pop_back();
    if (!starts.empty() && starts.back().scope == scope) return;
    starts.push_back({begin, scope});
  }

  // Intervals lie in each other, as their scopes do; one that sticks out is cut.
  void Flatten() {
    std::sort(intervals_.begin(), intervals_.end(), [](const Interval& a, const Interval& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.scope < b.scope;
    });
    std::vector<Interval> open;
    auto close_until = [&](uint64_t address) {
      while (!open.empty() && open.back().end <= address) {
        const uint64_t end = open.back().end;
        open.pop_back();
        Start(end, open.empty() ? Scope::kNone : open.back().scope);
      }
    };
    for (Interval interval : intervals_) {
      close_until(interval.begin);
      if (!open.empty()) interval.end = std::min(interval.end, open.back().end);
      open.push_back(interval);
      Start(interval.begin, interval.scope);
    }
    close_until(UINT64_MAX);
  }

  Units& units_;
  const Unit& unit_;
  std::span<const std::byte> bytes_;
  const DwarfLimits& limits_;
  const bool skip_types_;
  ScopeTree tree_;
  std::vector<Around> around_;  // by depth
  std::vector<Interval> intervals_;
  std::vector<AddressRange> ranges_;  // scratch
  size_t ranges_read_ = 0;
};

}  // namespace

ScopeTree ReadScopes(Units& units, const Unit& unit, std::span<const std::byte> unit_bytes,
                     const DwarfLimits& limits) {
  Walk walk(units, unit, unit_bytes, limits);
  walk.Run();
  return std::move(walk).Take();
}

}  // namespace firetower::symbolizer::dwarf
