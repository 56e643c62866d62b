// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/cfi/cie.h"

#include <string_view>

#include "symbolizer/cfi/byte_reader.h"
#include "symbolizer/cfi/frame_program.h"

namespace firetower::symbolizer {

namespace {

// x86-64's is 1, the largest of all machines' is 4: more would only help addresses to overflow.
constexpr uint64_t kMaxCodeAlignment = 255;

std::string_view ReadString(ByteReader& reader) {
  ByteReader ahead = reader;
  size_t length = 0;
  while (ahead.U8() != 0) ++length;
  auto bytes = reader.Bytes(length + 1);  // fails where `ahead` did
  if (reader.failed()) return {};
  return {reinterpret_cast<const char*>(bytes.data()), length};
}

// LSB Core, "Augmentation String Format". With 'z' first, data follow whose length is known.
CfiFault ReadAugmentation(std::string_view letters, ByteReader& reader, uint64_t elf_vaddr,
                          Cie& cie) {
  if (letters.starts_with('z')) {
    cie.has_augmentation_data = true;
    letters.remove_prefix(1);
  } else if (!letters.empty() && letters != "S") {
    return CfiFault::kAugmentation;
  }
  if (letters == "S") cie.initial.signal_frame = true;
  if (!cie.has_augmentation_data) return CfiFault::kNone;

  const uint64_t length = reader.Uleb();
  const uint64_t data_elf_vaddr = elf_vaddr + reader.position();
  ByteReader data(reader.Bytes(length));
  for (char letter : letters) {
    switch (letter) {
      case 'R':
        cie.pointer_encoding = data.U8();
        break;
      case 'L':
        data.U8();
        break;
      case 'P': {
        // Only the length matters here, not the base or the target of the address.
        const uint8_t encoding = data.U8();
        const bool aligned = (encoding & kPointerBaseMask) == kPointerAligned;
        const auto form = static_cast<uint8_t>(encoding & (aligned ? 0x7f : kPointerFormMask));
        if (!IsCodePointerEncoding(form)) return CfiFault::kEncoding;
        ReadEncodedPointer(data, form, {.reader_elf_vaddr = data_elf_vaddr});
        break;
      }
      case 'S':
        cie.initial.signal_frame = true;
        break;
      case 'B':
        break;
      default:
        return CfiFault::kAugmentation;
    }
  }
  if (data.failed()) return CfiFault::kCie;
  return IsCodePointerEncoding(cie.pointer_encoding) ? CfiFault::kNone : CfiFault::kEncoding;
}

CfiFault Parse(std::span<const std::byte> body, uint64_t elf_vaddr, Cie& cie) {
  ByteReader reader(body);
  const uint8_t version = reader.U8();
  if (version != 1 && version != 3 && version != 4) return CfiFault::kCie;
  const std::string_view letters = ReadString(reader);
  if (version == 4) {
    const uint8_t address_bytes = reader.U8();
    const uint8_t segment_bytes = reader.U8();
    if (address_bytes != 8 || segment_bytes != 0) return CfiFault::kCie;
  }
  const uint64_t code_alignment = reader.Uleb();
  if (code_alignment > kMaxCodeAlignment) return CfiFault::kCie;
  cie.code_alignment = static_cast<uint32_t>(code_alignment);
  cie.data_alignment = reader.Sleb();
  cie.return_address_register = version == 1 ? reader.U8() : reader.Uleb();

  // Defaults for registers that no instruction sets: the ABI keeps RBP, and says nothing about the
  // return address.
  cie.initial.cfa = UnwindRule::Cfa::kUnsupported;
  cie.initial.return_address = UnwindRule::Place::kUnsupported;
  cie.initial.return_address_offset = 0;
  const CfiFault fault = ReadAugmentation(letters, reader, elf_vaddr, cie);
  if (fault != CfiFault::kNone) return fault;
  if (reader.failed()) return CfiFault::kCie;

  const uint64_t program_elf_vaddr = elf_vaddr + reader.position();
  return FrameProgram::RunInitial({reader.Bytes(reader.remaining()), program_elf_vaddr}, cie);
}

}  // namespace

Cie ParseCie(std::span<const std::byte> body, uint64_t elf_vaddr) {
  Cie cie;
  cie.fault = Parse(body, elf_vaddr, cie);
  return cie;
}

}  // namespace firetower::symbolizer
