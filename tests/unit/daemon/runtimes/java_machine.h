// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/runtimes/hotspot/vm_structs.h"
#include "tests/unit/daemon/runtimes/fake_memory.h"

namespace firetower::testing {

// Lays a libjvm's description of itself out, as vmStructs.hpp has it, with the offsets of JDK 25,
// and one method, compiled and interpreted.
class JavaMachine {
 public:
  static constexpr uint64_t kTables = 0x100000, kTexts = 0x200000, kStatics = 0x300000;
  static constexpr uint64_t kHeap = 0x7f0000000000, kSegments = 0x7e0000000000;
  static constexpr uint64_t kInterpreter = kHeap + 0x40000, kMetaspace = 0x500000;
  static constexpr uint64_t kMethod = kMetaspace + 0x100, kConstMethod = kMetaspace + 0x200;
  static constexpr uint64_t kCode = kHeap + 0x1000, kNmethod = kCode + 8;

  JavaMachine() {
    memory.Map(kTables, 0x10000);
    memory.Map(kTexts, 0x10000);
    memory.Map(kStatics, 0x1000);
    memory.Map(kHeap, 0x80000);
    memory.Map(kSegments, 0x1000);
    memory.Map(kMetaspace, 0x10000);
    Statics();
    Fields();
    Types();
    Places();
    Names();
  }

  daemon::HotSpotSymbols symbols() const { return {0x0, 0x8, 0x10, 0x18}; }
  void Field(std::string_view type, std::string_view field, std::string_view of, uint64_t at,
             bool is_static = false) {
    const uint64_t entry = kTables + fields_++ * 48;
    memory.Put(entry, Text(type));
    memory.Put(entry + 8, Text(field));
    memory.Put(entry + 16, Text(of));
    memory.Put(entry + 24, int32_t{is_static ? 1 : 0});
    memory.Put(entry + (is_static ? 40 : 32), at);
  }
  uint64_t Text(std::string_view text) {
    const uint64_t at = kTexts + texts_;
    memory.PutText(at, text);
    texts_ += text.size() + 1;
    return at;
  }
  // A Symbol; returns its address.
  uint64_t Symbol(std::string_view text) {
    const uint64_t at = kMetaspace + 0x2000 + symbols_;
    memory.Put(at + 4, static_cast<uint16_t>(text.size()));
    memory.PutText(at + 6, text);
    symbols_ += 64;
    return at;
  }

  FakeMemory memory;

 private:
  void Statics();
  void Fields();
  void Types();
  void Places();
  void Names();
  void Type(std::string_view type, uint64_t bytes) {
    const uint64_t entry = kTables + 0x8000 + types_++ * 40;
    memory.Put(entry, Text(type));
    memory.Put(entry + 32, bytes);
  }

  size_t fields_ = 0, types_ = 0, texts_ = 0, symbols_ = 0;
};

inline void JavaMachine::Statics() {
  memory.Put(kStatics + 0x0, kTables);
  memory.Put(kStatics + 0x8, kTables + 0x8000);
  memory.Put(kStatics + 0x10, uint64_t{48});
  memory.Put(kStatics + 0x18, uint64_t{40});
  memory.Put(kStatics + 0x40, int32_t{25});
}

inline void JavaMachine::Fields() {
  Field("Abstract_VM_Version", "_vm_major_version", "int", kStatics + 0x40, true);
  Field("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", kStatics + 0x100, true);
  Field("AbstractInterpreter", "_code", "StubQueue*", kStatics + 0x108, true);
  Field("StubRoutines", "_call_stub_return_address", "address", kStatics + 0x110, true);
  Field("GrowableArrayBase", "_len", "int", 0);
  Field("GrowableArray<int>", "_data", "int*", 8);
  Field("CodeHeap", "_memory", "VirtualSpace", 0);
  Field("CodeHeap", "_segmap", "VirtualSpace", 112);
  Field("CodeHeap", "_log2_segment_size", "int", 248);
  Field("VirtualSpace", "_low_boundary", "char*", 0);
  Field("VirtualSpace", "_high_boundary", "char*", 8);
  Field("StubQueue", "_stub_buffer", "address", 8);
  Field("StubQueue", "_buffer_limit", "int", 20);
  Field("CodeBlob", "_name", "const char*", 8);
  Field("CodeBlob", "_size", "int", 24);
  Field("CodeBlob", "_relocation_size", "int", 28);
  Field("CodeBlob", "_code_offset", "int", 36);
  Field("CodeBlob", "_frame_size", "int", 44);
  Field("CodeBlob", "_header_size", "u2", 52);
  Field("CodeBlob", "_frame_complete_offset", "int16_t", 54);
  Field("CodeBlob", "_mutable_data", "address", 16);
  Field("nmethod", "_method", "Method*", 80);
  Field("nmethod", "_immutable_data", "address", 96);
  Field("nmethod", "_verified_entry_offset", "u2", 154);
  Field("nmethod", "_deopt_handler_offset", "int", 176);
  Field("nmethod", "_scopes_pcs_offset", "int", 196);
  Field("nmethod", "_scopes_data_offset", "int", 200);
  Field("nmethod", "_orig_pc_offset", "int", 208);
  Field("nmethod", "_compile_id", "int", 212);
  Field("Method", "_constMethod", "ConstMethod*", 8);
  Field("ConstMethod", "_constants", "ConstantPool*", 8);
  Field("ConstMethod", "_constMethod_size", "int", 24);
  Field("ConstMethod", "_flags._flags", "u4", 28);
  Field("ConstMethod", "_code_size", "u2", 34);
  Field("ConstMethod", "_name_index", "u2", 36);
  Field("ConstMethod", "_signature_index", "u2", 38);
  Field("ConstantPool", "_pool_holder", "InstanceKlass*", 24);
  Field("ConstantPool", "_length", "int", 60);
  Field("ConstantPool", "_source_file_name_index", "u2", 54);
  Field("Klass", "_name", "Symbol*", 24);
  Field("Symbol", "_length", "u2", 4);
  Field("Symbol", "_body", "", 6);
}

inline void JavaMachine::Types() {
  Type("HeapBlock", 8);
  Type("nmethod", 224);
  Type("ConstMethod", 56);
  Type("ConstantPool", 72);
}

// One code heap of segments of 128 bytes, with an nmethod of three segments, and the interpreter.
inline void JavaMachine::Places() {
  constexpr uint64_t kArray = kStatics + 0x200, kHeapObject = kStatics + 0x300;
  memory.Put(kStatics + 0x100, kArray);
  memory.Put(kArray, int32_t{1});
  memory.Put(kArray + 8, kStatics + 0x240);
  memory.Put(kStatics + 0x240, kHeapObject);
  memory.Put(kHeapObject, kHeap);
  memory.Put(kHeapObject + 8, kHeap + 0x80000);
  memory.Put(kHeapObject + 112, kSegments);
  memory.Put(kHeapObject + 248, int32_t{7});
  memory.Put(kStatics + 0x108, kStatics + 0x500);
  memory.Put(kStatics + 0x508, kInterpreter);
  memory.Put(kStatics + 0x514, int32_t{0x1000});
  memory.Put(kStatics + 0x110, kHeap + 0x60010);
  for (uint8_t i = 0; i < 6; ++i) memory.Put(kSegments + 0x20 + i, i);
  memory.Put(kCode + 4, uint8_t{1});
  memory.Put(kNmethod + 24, int32_t{0x2f0});
  memory.Put(kNmethod + 36, int32_t{224});
  memory.Put(kNmethod + 44, int32_t{6});
  memory.Put(kNmethod + 52, uint16_t{224});
  memory.Put(kNmethod + 54, int16_t{0x20});
  memory.Put(kNmethod + 80, kMethod);
  memory.Put(kNmethod + 154, uint16_t{0x10});
  memory.Put(kNmethod + 176, int32_t{0x2e0});
  memory.Put(kNmethod + 208, int32_t{0x18});
  memory.Put(kNmethod + 212, int32_t{77});
}

// shop.Cart.add of Cart.java, whose bytecodes 0 and 5 are of lines 12 and 14.
inline void JavaMachine::Names() {
  constexpr uint64_t kPool = kMetaspace + 0x400, kKlass = kMetaspace + 0x600;
  memory.Put(kMethod + 8, kConstMethod);
  memory.Put(kConstMethod + 8, kPool);
  memory.Put(kConstMethod + 24, int32_t{(56 + 16) / 8});
  memory.Put(kConstMethod + 28, uint32_t{1});
  memory.Put(kConstMethod + 34, uint16_t{8});
  memory.Put(kConstMethod + 36, uint16_t{1});
  // Behind eight bytecodes: {0, 12} as signed numbers of JDK 20 and newer, {+5, +2} in a byte, the
  // end.
  const uint8_t lines[] = {0xff, 1, 25, 5 << 3 | 2, 0};
  memory.PutBytes(kConstMethod + 56 + 8, std::as_bytes(std::span(lines)));
  memory.Put(kPool + 24, kKlass);
  memory.Put(kPool + 54, uint16_t{2});
  memory.Put(kPool + 60, int32_t{3});
  memory.Put(kPool + 72 + 8, Symbol("add"));
  memory.Put(kPool + 72 + 16, Symbol("Cart.java"));
  memory.Put(kKlass + 24, Symbol("shop/Cart"));
}

}  // namespace firetower::testing
