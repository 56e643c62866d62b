// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "symbolizer/cfi/load_unwind_rows.h"
#include "symbolizer/go/go_inlines.h"
#include "symbolizer/go/go_values.h"
#include "symbolizer/go/pclntab.h"
#include "tests/unit/symbolizer/support/go_builder.h"

namespace firetower::symbolizer {
namespace {

// Checks the promises that a sink gets.
class CheckingSink : public UnwindRowSink {
 public:
  void OnRow(const UnwindRow& row) override {
    if (rows_ > 0 && row.elf_vaddr <= last_.elf_vaddr) std::abort();
    if (row.rule == last_.rule) std::abort();
    last_ = row;
    ++rows_;
  }

 private:
  UnwindRow last_;
  uint64_t rows_ = 0;
};

void ReadFunction(Pclntab& table, const GoFunction& function) {
  if (function.begin_elf_vaddr < table.begin_elf_vaddr() ||
      function.begin_elf_vaddr >= function.end_elf_vaddr ||
      function.end_elf_vaddr > table.end_elf_vaddr()) {
    std::abort();
  }
  if (table.Name(function.name).size() > Pclntab::kMaxNameBytes) std::abort();
  const uint64_t last = function.end_elf_vaddr - 1;
  GoValueAt(table, function.line_values, function, last);
  table.FileName(function, GoValueAt(table, function.file_values, function, last));
}

void ReadTable(const ElfFile& file) {
  auto table = Pclntab::Open(file);
  if (!table) return;
  for (uint32_t index = 0; index < table->function_count(); ++index) {
    if (auto function = table->Function(index)) ReadFunction(*table, *function);
  }
  const uint64_t end = table->end_elf_vaddr();
  for (uint64_t elf_vaddr : {table->begin_elf_vaddr(), end - 1, end}) {
    auto index = table->FindFunction(elf_vaddr);
    if (index && *index >= table->function_count()) std::abort();
  }
}

// Names and inlined calls.
void ReadSymbols(const RandomAccess& source) {
  const auto symbols = LoadElfSymbols(source);
  if (!symbols) return;
  std::vector<SourceFrame> frames;
  for (uint64_t behind = 0; behind < 0x100; ++behind) {
    frames.clear();
    (*symbols)->FindFrames(TestGoFile::kCode - 0x400000 + behind, frames);
    if (frames.size() > GoInlines::kMaxDepth + 1) std::abort();
    for (const SourceFrame& frame : frames) {
      if (frame.name.size() > Pclntab::kMaxNameBytes) std::abort();
    }
  }
}

}  // namespace
}  // namespace firetower::symbolizer

// The input: the form of the table, its size in two bytes, the table itself, and then the rest of
// the file from the inline trees on.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace symbolizer = firetower::symbolizer;
  using symbolizer::TestGoFile;
  if (size < 3) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  const size_t table_bytes = std::min<size_t>(data[1] | size_t{data[2]} << 8, bytes.size());
  TestGoFile file(data[0] == '6'   ? TestGoFile::Version::kGo116
                  : data[0] == '8' ? TestGoFile::Version::kGo118
                                   : TestGoFile::Version::kGo120);
  // push rbp; mov rbp, rsp; sub rsp, 16, again and again.
  std::string code;
  while (code.size() < 0x1000) code += "\x55\x48\x89\xe5\x48\x83\xec\x10";
  file.Add({.code = code});
  const std::string image =
      file.BuildAround(bytes.substr(0, table_bytes), bytes.substr(table_bytes));
  const symbolizer::MemorySource source(std::as_bytes(std::span(image)));
  auto elf = symbolizer::ElfFile::Open(source);
  if (!elf) std::abort();
  symbolizer::ReadTable(*elf);
  symbolizer::ReadSymbols(source);
  symbolizer::CheckingSink sink;
  [[maybe_unused]] auto stats = symbolizer::LoadUnwindRows(*elf, sink);
  return 0;
}
