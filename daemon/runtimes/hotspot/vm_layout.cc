// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/hotspot/vm_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

namespace firetower::daemon {
namespace {

// Takes fields out of a description, and notes the first one that it lacks.
class Picker {
 public:
  explicit Picker(const VmStructs& structs) : structs_(structs) {}

  uint16_t Field(const char* type, const char* field) {
    return Must(structs_.Offset(type, field), type, field);
  }
  uint64_t Static(const char* type, const char* field) {
    return Must(structs_.Static(type, field), type, field);
  }
  uint16_t Size(const char* type) { return Must(structs_.SizeOf(type), type, ""); }
  const std::string& missing() const { return missing_; }

 private:
  template <typename T>
  T Must(std::optional<T> value, const char* type, const char* field) {
    if (!value && missing_.empty()) missing_ = fmt::format("{}::{}", type, field);
    return value.value_or(0);
  }

  const VmStructs& structs_;
  std::string missing_;
};

constexpr const char* kNmethodTypes[] = {"nmethod", "CompiledMethod"};

std::optional<uint16_t> NmethodField(const VmStructs& structs, const char* field) {
  for (const char* type : kNmethodTypes) {
    if (const auto offset = structs.Offset(type, field)) return offset;
  }
  return std::nullopt;
}

bool IsShort(std::string_view type) {
  return type == "u2" || type == "int16_t" || type == "uint16_t" || type == "short";
}

uint16_t BytesOf(const VmStructs& structs, const char* type, const char* field) {
  return IsShort(structs.TypeOf(type, field)) ? 2 : 4;
}

// Finds the field that leads to an nmethod's part: by a pointer field, or by a field of 16 or 32
// bits.
std::optional<ft_hotspot_field> Place(const VmStructs& structs, uint16_t header,
                                      std::initializer_list<const char*> pointers,
                                      std::initializer_list<const char*> offsets,
                                      ft_hotspot_form form) {
  for (const char* name : pointers) {
    if (const auto at = NmethodField(structs, name))
      return ft_hotspot_field{static_cast<uint16_t>(*at + header), FT_HOTSPOT_POINTER};
  }
  for (const char* name : offsets) {
    if (const auto at = NmethodField(structs, name))
      return ft_hotspot_field{static_cast<uint16_t>(*at + header), static_cast<uint16_t>(form)};
  }
  return std::nullopt;
}

void PickNames(Picker& pick, const VmStructs& structs, VmLayout& layout) {
  layout.const_constants = pick.Field("ConstMethod", "_constants");
  layout.const_words = pick.Field("ConstMethod", "_constMethod_size");
  layout.const_code_bytes = pick.Field("ConstMethod", "_code_size");
  layout.const_name = pick.Field("ConstMethod", "_name_index");
  const auto flags = structs.Offset("ConstMethod", "_flags._flags");
  layout.const_flags = flags ? *flags : pick.Field("ConstMethod", "_flags");
  layout.pool_holder = pick.Field("ConstantPool", "_pool_holder");
  layout.pool_length = pick.Field("ConstantPool", "_length");
  layout.pool_bytes = pick.Size("ConstantPool");
  layout.pool_source = structs.Offset("ConstantPool", "_source_file_name_index");
  layout.holder_source = structs.Offset("InstanceKlass", "_source_file_name_index");
  layout.klass_name = pick.Field("Klass", "_name");
  layout.symbol_length = pick.Field("Symbol", "_length");
  const auto text = structs.Offset("Symbol", "_body");
  layout.symbol_text = text ? *text : pick.Field("Symbol", "_body[0]");
}

// Three forms: everything behind the nmethod (to 22), and parts of it apart (from 24 on).
void PickScopes(const VmStructs& structs, VmLayout& layout) {
  const auto immutable = structs.Offset("nmethod", "_immutable_data");
  const auto pcs = NmethodField(structs, "_scopes_pcs_offset");
  const auto scopes = NmethodField(structs, "_scopes_data_offset");
  if (immutable) {
    layout.pcs = {immutable, pcs};
    layout.scopes = layout.pcs_end = {immutable, scopes};
    layout.metadata = {structs.Offset("CodeBlob", "_mutable_data"),
                       structs.Offset("CodeBlob", "_relocation_size")};
    layout.has_scopes = pcs && scopes && layout.metadata.pointer && layout.metadata.offset;
    return;
  }
  const auto begin = NmethodField(structs, "_scopes_data_begin");
  layout.pcs = {std::nullopt, pcs};
  layout.pcs_end = {std::nullopt, NmethodField(structs, "_dependencies_offset")};
  layout.scopes =
      begin ? VmLayout::Part{begin, std::nullopt} : VmLayout::Part{std::nullopt, scopes};
  layout.metadata = {std::nullopt, NmethodField(structs, "_metadata_offset")};
  layout.has_scopes = pcs && layout.pcs_end.offset && (begin || scopes) && layout.metadata.offset;
}

void PickPlaces(Picker& pick, const VmStructs& structs, VmLayout& layout) {
  layout.one_heap = structs.Static("CodeCache", "_heap").has_value();
  layout.heaps = pick.Static("CodeCache", layout.one_heap ? "_heap" : "_heaps");
  layout.interpreter = pick.Static("AbstractInterpreter", "_code");
  layout.call_return = pick.Static("StubRoutines", "_call_stub_return_address");
  if (!layout.one_heap) {
    const char* base =
        structs.Offset("GrowableArrayBase", "_len") ? "GrowableArrayBase" : "GenericGrowableArray";
    layout.array_length = pick.Field(base, "_len");
    layout.array_data = pick.Field("GrowableArray<int>", "_data");
  }
  layout.heap_memory = pick.Field("CodeHeap", "_memory");
  layout.heap_segments = pick.Field("CodeHeap", "_segmap");
  layout.heap_shift = pick.Field("CodeHeap", "_log2_segment_size");
  layout.space_low = pick.Field("VirtualSpace", "_low_boundary");
  layout.space_end = pick.Field("VirtualSpace", "_high_boundary");
  layout.queue_begin = pick.Field("StubQueue", "_stub_buffer");
  layout.queue_bytes = pick.Field("StubQueue", "_buffer_limit");
}

// Fills in the fields of a block of the code cache. Returns what it lacks, or nothing.
std::string PickBlock(Picker& pick, const VmStructs& structs, VmLayout& layout) {
  ft_hotspot& walk = layout.walk;
  const uint16_t header = pick.Size("HeapBlock");
  const auto at = [&](const char* field) {
    return static_cast<uint16_t>(pick.Field("CodeBlob", field) + header);
  };
  walk.blob = header;
  // HeapBlock::Header is {size_t or u4 length; bool used}.
  walk.block_used = header / 2;
  walk.size = at("_size");
  walk.frame_size = at("_frame_size");
  walk.frame_complete = at("_frame_complete_offset");
  walk.frame_complete_bytes = BytesOf(structs, "CodeBlob", "_frame_complete_offset");
  walk.header_size = at("_header_size");
  walk.header_size_bytes = BytesOf(structs, "CodeBlob", "_header_size");
  walk.nmethod_bytes = pick.Size("nmethod");
  layout.blob_name = pick.Field("CodeBlob", "_name");
  layout.nmethod_id = pick.Field("nmethod", "_compile_id");
  walk.compile_id = static_cast<uint16_t>(layout.nmethod_id + header);
  walk.orig_pc = static_cast<uint16_t>(pick.Field("nmethod", "_orig_pc_offset") + header);
  const auto code = structs.Offset("CodeBlob", "_code_begin");
  walk.code = {
      static_cast<uint16_t>((code ? *code : pick.Field("CodeBlob", "_code_offset")) + header),
      static_cast<uint16_t>(code ? FT_HOTSPOT_POINTER : FT_HOTSPOT_FROM_BLOB)};
  const auto method = NmethodField(structs, "_method");
  const auto entry = Place(structs, header, {"_verified_entry_point"}, {"_verified_entry_offset"},
                           FT_HOTSPOT_FROM_CODE);
  const auto deopt =
      Place(structs, header, {"_deopt_handler_begin"},
            {"_deopt_handler_entry_offset", "_deopt_handler_offset", "_deoptimize_offset"},
            FT_HOTSPOT_FROM_BLOB);
  if (!method) return "nmethod::_method";
  if (!entry) return "nmethod::_verified_entry_point";
  if (!deopt) return "nmethod::_deopt_handler_begin";
  layout.nmethod_method = *method;
  walk.entry = *entry;
  walk.deopt = *deopt;
  return "";
}

// Returns the bytes of a block's head that the walk looks at.
uint16_t HeadBytes(const ft_hotspot& walk) {
  const uint16_t ends[] = {
      static_cast<uint16_t>(walk.size + 4),           static_cast<uint16_t>(walk.frame_size + 4),
      static_cast<uint16_t>(walk.frame_complete + 4), static_cast<uint16_t>(walk.header_size + 4),
      static_cast<uint16_t>(walk.compile_id + 4),     static_cast<uint16_t>(walk.orig_pc + 4),
      static_cast<uint16_t>(walk.code.offset + 8),    static_cast<uint16_t>(walk.entry.offset + 8),
      static_cast<uint16_t>(walk.deopt.offset + 8)};
  return *std::ranges::max_element(ends);
}

}  // namespace

Result<VmLayout> LayoutOf(const RemoteMemory& memory, const VmStructs& structs) {
  VmLayout layout;
  Picker pick(structs);
  PickPlaces(pick, structs, layout);
  PickNames(pick, structs, layout);
  std::string missing = PickBlock(pick, structs, layout);
  PickScopes(structs, layout);
  layout.walk.method_const = pick.Field("Method", "_constMethod");
  layout.walk.const_bytes = pick.Size("ConstMethod");
  // frame_x86.hpp: JDK 9 put the method's mirror between the Method and the rest.
  layout.walk.bytecode_slot = layout.one_heap ? -56 : -64;
  layout.walk.enter = structs.Static("ContinuationEntry", "_return_pc").value_or(0);
  const uint64_t version = pick.Static("Abstract_VM_Version", "_vm_major_version");
  if (missing.empty()) missing = pick.missing();
  if (missing.empty() && HeadBytes(layout.walk) > FT_HOTSPOT_HEAD_BYTES)
    missing = "a head of code blobs of known size";
  if (!missing.empty())
    return Error(ErrorCode::kUnsupported, fmt::format("its libjvm does not describe {}", missing));
  layout.walk.head_bytes = HeadBytes(layout.walk);
  // JDK 8's HotSpot calls itself 25.
  const auto major = memory.Get<int32_t>(version);
  if (!major) return Error(ErrorCode::kUnavailable, "its memory could not be read");
  layout.jdk = layout.one_heap ? 8 : static_cast<uint32_t>(*major);
  layout.number_base = layout.jdk >= 20 ? 1 : 0;
  return layout;
}

namespace {

std::optional<ft_hotspot_heap> ReadHeap(const RemoteMemory& memory, const VmLayout& layout,
                                        uint64_t heap, uint16_t& shift) {
  const auto low = memory.Get<uint64_t>(heap + layout.heap_memory + layout.space_low);
  const auto end = memory.Get<uint64_t>(heap + layout.heap_memory + layout.space_end);
  const auto segments = memory.Get<uint64_t>(heap + layout.heap_segments + layout.space_low);
  const auto log2 = memory.Get<int32_t>(heap + layout.heap_shift);
  if (!low || !end || !segments || !log2 || *low == 0 || *end <= *low || *segments == 0 ||
      *log2 < 4 || *log2 > 16)
    return std::nullopt;
  shift = static_cast<uint16_t>(*log2);
  return ft_hotspot_heap{*low, *end - *low, *segments};
}

// Returns the addresses of the code heaps; nothing while they are not made.
std::vector<uint64_t> HeapsOf(const RemoteMemory& memory, const VmLayout& layout) {
  std::vector<uint64_t> heaps;
  const uint64_t first = memory.Get<uint64_t>(layout.heaps).value_or(0);
  if (first == 0) return heaps;
  if (layout.one_heap) return {first};
  const int32_t count = memory.Get<int32_t>(first + layout.array_length).value_or(0);
  const uint64_t data = memory.Get<uint64_t>(first + layout.array_data).value_or(0);
  if (count < 1 || count > FT_HOTSPOT_HEAPS || data == 0) return heaps;
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i)
    heaps.push_back(memory.Get<uint64_t>(data + i * 8).value_or(0));
  return heaps;
}

}  // namespace

Result<ft_hotspot> FillPlaces(const RemoteMemory& memory, const VmLayout& layout) {
  const Error not_yet(ErrorCode::kUnavailable, "its code cache is not there yet");
  ft_hotspot walk = layout.walk;
  const std::vector<uint64_t> heaps = HeapsOf(memory, layout);
  if (heaps.empty()) return not_yet;
  uint64_t end = 0;
  walk.at.kind = FT_MACHINE_HOTSPOT;
  walk.at.low = UINT64_MAX;
  for (size_t i = 0; i < heaps.size(); ++i) {
    const auto heap = ReadHeap(memory, layout, heaps[i], walk.segment_shift);
    if (!heap) return not_yet;
    walk.heap[i] = *heap;
    walk.at.low = std::min(walk.at.low, heap->low);
    end = std::max<uint64_t>(end, heap->low + heap->bytes);
  }
  walk.at.bytes = end - walk.at.low;
  const uint64_t queue = memory.Get<uint64_t>(layout.interpreter).value_or(0);
  const uint64_t interpreter = memory.Get<uint64_t>(queue + layout.queue_begin).value_or(0);
  const int32_t bytes = memory.Get<int32_t>(queue + layout.queue_bytes).value_or(0);
  walk.call_return = memory.Get<uint64_t>(layout.call_return).value_or(0);
  if (queue == 0 || bytes <= 0 || walk.call_return == 0 ||
      interpreter - walk.at.low >= walk.at.bytes)
    return not_yet;
  walk.interpreter = interpreter;
  walk.interpreter_bytes = static_cast<uint64_t>(bytes);
  return walk;
}

}  // namespace firetower::daemon
