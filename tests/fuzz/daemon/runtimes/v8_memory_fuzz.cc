// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "daemon/runtimes/v8/v8_names.h"
#include "tests/fuzz/daemon/runtimes/any_memory.h"

namespace firetower::daemon {
namespace {

// Types are taken from the input, so that objects of any bytes have one of them.
V8Build BuildOf(const uint8_t* data, size_t size) {
  V8Build build;
  build.major = static_cast<uint16_t>(10 + (size > 0 ? data[0] % 5 : 0));
  build.minor = 4;
  build.shared_name = 16;
  build.shared_script = 32;
  build.string_length = 12;
  build.one_byte_text = build.two_byte_text = 16;
  build.cons_first = build.sliced_parent = build.thin_actual = build.external_resource = 16;
  build.cons_second = build.sliced_offset = 24;
  build.script_name = 16;
  build.script_source = 8;
  build.bytecodes = 64;
  build.code_start = 40;
  build.code_size = 56;
  uint16_t* types[] = {&build.shared_type, &build.scope_type, &build.script_type,
                       &build.bytecode_type, &build.code_type};
  for (size_t i = 0; i < std::size(types); ++i) {
    if (size >= 2 * (i + 1)) std::memcpy(types[i], data + 2 * i, 2);
  }
  return build;
}

}  // namespace
}  // namespace firetower::daemon

// Any bytes as the memory of a process that runs V8: the names of frames end.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace daemon = firetower::daemon;
  const daemon::AnyMemory memory({data, size});
  daemon::V8Names names(daemon::BuildOf(data, size));
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t shared = i * 64 + 4096;
    const auto name = memory.Get<uint64_t>(shared + 16), script = memory.Get<uint64_t>(shared + 32);
    if (!name || !script) continue;
    uint64_t more = i;
    if (size >= 8 * (i + 1)) std::memcpy(&more, data + 8 * i, 8);
    const daemon::V8Frame frame{
        .word = FT_WORD_COMPILED_SCRIPT | shared,
        .where = uint64_t{ft_v8_cookie(*name, *script)} << 32 | static_cast<uint32_t>(more),
        .code = i % 2 != 0 ? more | 8 : 0,
        .feedback = more & ~uint64_t{7}};
    for (const daemon::RuntimePlace& place : names.Find(memory, frame))
      CHECK(place.function != nullptr && !place.function->name.empty());
  }
  return 0;
}
