// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/hotspot/vm_structs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "daemon/runtimes/elf_values.h"
#include "symbolizer/elf/symbols/function_finder.h"

namespace firetower::daemon {
namespace {

// VMStructEntry and VMTypeEntry, as every version has had them; the library says their sizes.
struct StructEntry {
  uint64_t type = 0, field = 0, field_type = 0;
  int32_t is_static = 0, pad = 0;
  uint64_t offset = 0, address = 0;
};
struct TypeEntry {
  uint64_t type = 0, super = 0;
  int32_t is_oop = 0, is_integer = 0, is_unsigned = 0, pad = 0;
  uint64_t size = 0;
};

enum Name : size_t { kStructs, kTypes, kStructStride, kTypeStride, kNames };
constexpr std::array<std::string_view, kNames> kSymbols = {"gHotSpotVMStructs", "gHotSpotVMTypes",
                                                           "gHotSpotVMStructEntryArrayStride",
                                                           "gHotSpotVMTypeEntryArrayStride"};

// Reads texts by pages, because those of a table lie close together.
class Texts {
 public:
  explicit Texts(const RemoteMemory& memory) : memory_(memory) {}

  std::optional<std::string> At(uint64_t address) {
    constexpr size_t kMost = 256;
    std::string text;
    while (text.size() < kMost) {
      const Page* page = PageOf(address / kPageBytes);
      if (page == nullptr) return std::nullopt;
      const std::string_view rest =
          std::string_view(page->data(), page->size()).substr(address % kPageBytes);
      const size_t end = rest.find('\0');
      text += rest.substr(0, end);
      if (end != std::string_view::npos) return text;
      address += rest.size();
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kPageBytes = 4096;
  using Page = std::array<char, kPageBytes>;

  const Page* PageOf(uint64_t number) {
    auto [it, inserted] = pages_.try_emplace(number);
    if (inserted) {
      it->second = std::make_unique<Page>();
      if (!memory_.Read(number * kPageBytes, std::as_writable_bytes(std::span(*it->second))))
        it->second.reset();
    }
    return it->second.get();
  }

  const RemoteMemory& memory_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

Error NotRead() { return Error(ErrorCode::kUnavailable, "its memory could not be read"); }

std::string KeyOf(std::string_view type, std::string_view field) {
  std::string key(type);
  key += '.';
  key += field;
  return key;
}

std::optional<uint16_t> Small(uint64_t value) {
  if (value > 0x7fff) return std::nullopt;
  return static_cast<uint16_t>(value);
}

}  // namespace

Result<std::optional<HotSpotSymbols>> FindHotSpot(const symbolizer::ElfFile& file) {
  const auto found = symbolizer::FindSymbols(file, SHT_DYNSYM, kSymbols);
  if (!found) {
    if (found.error().code() == ErrorCode::kNotFound) return std::optional<HotSpotSymbols>();
    return found.error();
  }
  std::array<uint64_t, kNames> at{};
  for (const symbolizer::FoundSymbol& symbol : *found) at[symbol.name] = symbol.value;
  if (std::ranges::count(at, uint64_t{0}) > 0) return std::optional<HotSpotSymbols>();
  ASSIGN_OR_RETURN(const std::optional<uint64_t> bias, CodeBias(file));
  if (!bias) return std::optional<HotSpotSymbols>();
  const auto place = [&](Name name) { return static_cast<int64_t>(at[name] - *bias); };
  return std::optional(
      HotSpotSymbols{place(kStructs), place(kTypes), place(kStructStride), place(kTypeStride)});
}

Result<VmStructs> VmStructs::Read(const RemoteMemory& memory, const HotSpotSymbols& symbols,
                                  uint64_t bias) {
  VmStructs read;
  Texts texts(memory);
  const auto word = [&](int64_t at) {
    return memory.Get<uint64_t>(bias + static_cast<uint64_t>(at)).value_or(0);
  };
  const uint64_t structs = word(symbols.structs), types = word(symbols.types);
  const uint64_t struct_bytes = word(symbols.struct_bytes), type_bytes = word(symbols.type_bytes);
  if (structs == 0 || types == 0 || struct_bytes == 0 || type_bytes == 0) return NotRead();
  if (struct_bytes != sizeof(StructEntry) || type_bytes != sizeof(TypeEntry))
    return Error(ErrorCode::kCorrupt, "its description of itself is of another kind");
  for (size_t i = 0; i < kMaxEntries; ++i) {
    const auto entry = memory.Get<StructEntry>(structs + i * sizeof(StructEntry));
    if (!entry) return NotRead();
    if (entry->type == 0) break;
    const auto type = texts.At(entry->type), field = texts.At(entry->field);
    if (!type || !field) return Error(ErrorCode::kCorrupt, "its description of itself is damaged");
    const auto field_type = entry->field_type != 0 ? texts.At(entry->field_type) : std::nullopt;
    const bool is_static = entry->is_static != 0;
    read.fields_.try_emplace(
        KeyOf(*type, *field),
        Field{field_type.value_or(""), is_static, is_static ? entry->address : entry->offset});
  }
  for (size_t i = 0; i < kMaxEntries; ++i) {
    const auto entry = memory.Get<TypeEntry>(types + i * sizeof(TypeEntry));
    if (!entry) return NotRead();
    if (entry->type == 0) break;
    const auto type = texts.At(entry->type);
    if (!type) return Error(ErrorCode::kCorrupt, "its description of itself is damaged");
    read.sizes_.try_emplace(*type, entry->size);
  }
  return read;
}

const VmStructs::Field* VmStructs::Find(std::string_view type, std::string_view field) const {
  const auto found = fields_.find(KeyOf(type, field));
  return found != fields_.end() ? &found->second : nullptr;
}

std::optional<uint16_t> VmStructs::Offset(std::string_view type, std::string_view field) const {
  const Field* found = Find(type, field);
  return found != nullptr && !found->is_static ? Small(found->at) : std::nullopt;
}

std::optional<uint64_t> VmStructs::Static(std::string_view type, std::string_view field) const {
  const Field* found = Find(type, field);
  return found != nullptr && found->is_static ? std::optional(found->at) : std::nullopt;
}

std::optional<uint16_t> VmStructs::SizeOf(std::string_view type) const {
  const auto found = sizes_.find(std::string(type));
  return found != sizes_.end() ? Small(found->second) : std::nullopt;
}

std::string_view VmStructs::TypeOf(std::string_view type, std::string_view field) const {
  const Field* found = Find(type, field);
  return found != nullptr ? std::string_view(found->type) : std::string_view();
}

}  // namespace firetower::daemon
