// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "bpf/abi/hotspot.h"
#include "daemon/runtimes/hotspot/vm_structs.h"

namespace firetower::daemon {

// How a running JVM lays out what its frames lead to. Every offset is as its libjvm says, because
// fields move between versions and vendors.
struct VmLayout {
  // The part that the walk needs, without the places that FillPlaces finds.
  ft_hotspot walk{};

  // Statics: CodeCache::_heap(s), AbstractInterpreter::_code, and where the call stub is returned
  // to.
  uint64_t heaps = 0;
  bool one_heap = false;  // before JDK 9: `heaps` is a CodeHeap*, not a GrowableArray of them
  uint64_t interpreter = 0;
  uint64_t call_return = 0;
  uint16_t array_length = 0, array_data = 0;  // in a GrowableArray
  uint16_t heap_memory = 0, heap_segments = 0, heap_shift = 0;
  uint16_t space_low = 0, space_end = 0;  // in a VirtualSpace: what it may grow to
  uint16_t queue_begin = 0, queue_bytes = 0;

  // Names. In a ConstMethod, a ConstantPool, a Klass and a Symbol.
  uint16_t const_constants = 0, const_words = 0, const_code_bytes = 0, const_flags = 0;
  uint16_t const_name = 0;
  uint16_t pool_holder = 0, pool_bytes = 0, pool_length = 0;
  std::optional<uint16_t> pool_source, holder_source;  // the index of the source file's name
  uint16_t klass_name = 0;
  uint16_t symbol_length = 0, symbol_text = 0;

  // The parts of an nmethod that say what was inlined, from the nmethod or from what a pointer in
  // it leads to.
  struct Part {
    std::optional<uint16_t> pointer;  // of the pointer
    std::optional<uint16_t> offset;   // of the 32 bits that are added to it
  };
  uint16_t nmethod_method = 0, nmethod_id = 0;
  Part pcs, pcs_end, scopes, metadata;
  bool has_scopes = false;
  uint8_t number_base = 0;  // of the numbers in a stream: 1 from JDK 20 on
  uint16_t blob_name = 0;

  uint32_t jdk = 0;
};

// Picks the layout out of the description of the JVM with that memory. kUnsupported: it lacks what
// the walk needs, and says what. kUnavailable: its version could not be read.
Result<VmLayout> LayoutOf(const RemoteMemory& memory, const VmStructs& structs);

// Fills in where the JVM's code cache and its parts are. kUnavailable: they are not there yet.
// Memory and time: a few dozen reads.
Result<ft_hotspot> FillPlaces(const RemoteMemory& memory, const VmLayout& layout);

}  // namespace firetower::daemon
