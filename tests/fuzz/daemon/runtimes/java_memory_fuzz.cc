// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <span>

#include "base/check.h"
#include "daemon/runtimes/hotspot/java_names.h"
#include "tests/fuzz/daemon/runtimes/any_memory.h"

namespace firetower::daemon {
namespace {

VmLayout LayoutForAnything() {
  VmLayout layout;
  layout.walk.const_bytes = 56;
  layout.walk.method_const = 8;
  layout.const_constants = 8;
  layout.const_words = 24;
  layout.const_flags = 28;
  layout.const_code_bytes = 34;
  layout.const_name = 36;
  layout.pool_holder = 24;
  layout.pool_bytes = 72;
  layout.pool_length = 60;
  layout.pool_source = 54;
  layout.klass_name = 24;
  layout.symbol_length = 4;
  layout.symbol_text = 6;
  layout.nmethod_method = 80;
  layout.nmethod_id = 212;
  layout.pcs = {96, 196};
  layout.pcs_end = layout.scopes = {96, 200};
  layout.metadata = {16, 28};
  layout.has_scopes = true;
  layout.number_base = 1;
  return layout;
}

}  // namespace
}  // namespace firetower::daemon

// Any bytes as the memory of a JVM: its description, its places and the names of frames end.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace daemon = firetower::daemon;
  const daemon::AnyMemory memory({data, size});
  if (const auto structs = daemon::VmStructs::Read(memory, {0, 8, 16, 24}, 0); structs) {
    if (const auto layout = daemon::LayoutOf(memory, *structs); layout)
      (void)daemon::FillPlaces(memory, *layout);
  }
  const daemon::VmLayout layout = daemon::LayoutForAnything();
  (void)daemon::FillPlaces(memory, layout);
  daemon::JavaNames names(layout, layout.walk);
  for (const uint64_t kind : {FT_WORD_INTERPRETED, FT_WORD_COMPILED, FT_WORD_STUB}) {
    for (uint64_t i = 0; i < 4; ++i) {
      uint64_t where = i;
      if (size >= 8 * (i + 1)) std::memcpy(&where, data + 8 * i, 8);
      for (const daemon::RuntimePlace& place : names.Find(memory, kind | (i * 64 + 4096), where))
        CHECK(place.function != nullptr && !place.function->name.empty());
    }
  }
  return 0;
}
