// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/symbol_digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text/hex.h"

namespace firetower::symbolizer {
namespace {

constexpr size_t kChunkBytes = 256u << 10;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
};

class Digest {
 public:
  explicit Digest(const RandomAccess& source) : source_(source), context_(::EVP_MD_CTX_new()) {
    CHECK(context_ != nullptr && ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) == 1);
  }

  void Add(std::span<const std::byte> bytes) {
    CHECK(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  template <size_t kCount>
  void AddNumbers(const std::array<uint64_t, kCount>& numbers) {
    Add(std::as_bytes(std::span(numbers)));
  }
  Status AddFrom(uint64_t offset, uint64_t size) {
    while (size > 0) {
      chunk_.resize(std::min<uint64_t>(size, kChunkBytes));
      RETURN_IF_ERROR(source_.ReadAt(offset, chunk_));
      Add(chunk_);
      offset += chunk_.size();
      size -= chunk_.size();
    }
    return OkStatus();
  }
  std::string Finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    CHECK(::EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1);
    return ToHex({reinterpret_cast<const char*>(digest.data()), length});
  }

 private:
  const RandomAccess& source_;
  std::unique_ptr<EVP_MD_CTX, FreeContext> context_;
  std::vector<std::byte> chunk_;
};

}  // namespace

Result<std::string> SymbolDigest(const ElfFile& file) {
  Digest digest(file.source());
  for (const Elf64_Phdr& header : file.program_headers()) {
    digest.AddNumbers<6>({header.p_type, header.p_flags, header.p_offset, header.p_vaddr,
                          header.p_filesz, header.p_memsz});
  }
  const std::vector<Elf64_Shdr>& sections = file.sections();
  std::vector<const Elf64_Shdr*> contents;
  for (std::string_view name : {".gnu_debugdata", ".gnu_debuglink"}) {
    contents.push_back(file.FindSection(name));
  }
  for (const Elf64_Shdr& section : sections) {
    if ((section.sh_flags & SHF_ALLOC) != 0) continue;
    // Debuggers' sections differ in their presence only, and that shows in their number and sizes.
    digest.AddNumbers<3>({section.sh_type, section.sh_size, section.sh_link});
    if (section.sh_type != SHT_SYMTAB) continue;
    contents.push_back(&section);
    if (section.sh_link < sections.size()) contents.push_back(&sections[section.sh_link]);
  }
  for (const Elf64_Shdr* section : contents) {
    const bool is_there = section != nullptr && file.SectionInFile(*section);
    digest.AddNumbers<1>({is_there ? section->sh_size : 0});
    if (is_there) RETURN_IF_ERROR(digest.AddFrom(section->sh_offset, section->sh_size));
  }
  return digest.Finish();
}

}  // namespace firetower::symbolizer
