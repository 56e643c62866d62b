// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "symbolizer/cfi/load_unwind_rows.h"
#include "tests/unit/symbolizer/support/cfi_builder.h"

namespace firetower::symbolizer {
namespace {

// Checks the promises that a sink gets.
class CheckingSink : public UnwindRowSink {
 public:
  void OnRow(const UnwindRow& row) override {
    if (rows > 0 && row.elf_vaddr <= last.elf_vaddr) std::abort();
    if (row.rule == last.rule) std::abort();
    last = row;
    ++rows;
  }
  UnwindRow last;
  uint64_t rows = 0;
};

void Load(std::string_view bytes) {
  MemorySource source(std::as_bytes(std::span(bytes)));
  auto file = ElfFile::Open(source);
  if (!file) return;
  CheckingSink sink;
  auto stats = LoadUnwindRows(*file, sink);
  if (!stats) return;
  if (stats->rows != sink.rows) std::abort();
  // Nothing holds behind the last function.
  if (sink.rows > 0 && sink.last.rule != UnwindRule{}) std::abort();
}

}  // namespace
}  // namespace firetower::symbolizer

// Any bytes as .eh_frame (E), .debug_frame (D) or a whole file (F).
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  using symbolizer::FrameFile;
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  FrameFile file;
  if (data[0] == 'E') {
    file.AddSection(".eh_frame", FrameFile::kEhFrame, bytes);
  } else if (data[0] == 'D') {
    file.AddSection(".debug_frame", FrameFile::kDebugFrame, bytes);
  } else {
    symbolizer::Load(bytes);
    return 0;
  }
  symbolizer::Load(file.Build());
  return 0;
}
