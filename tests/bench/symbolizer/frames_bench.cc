// SPDX-License-Identifier: Apache-2.0
// frames_bench names|lines FILE ADDRESSES MODE: names addresses of the file's own address space,
// one "0x…" a line of ADDRESSES, with or without lines and inlined calls. MODE:
//   print  as llvm-symbolizer does: function and place of each frame, an empty line behind each
//   address cold   once; prints what was held at the peak: `KiB` warm   once, then a million again
//   by Zipf's law: `ns an address`, `ns of a search in an array`
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "symbolizer/dwarf/dwarf_frames.h"
#include "symbolizer/name_memo.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {
namespace {

constexpr size_t kWarmLookups = 1'000'000;
constexpr size_t kCacheBytes = 64u << 20;

std::string PeakKib() {
  const std::string status = ReadFile("/proc/self/status").value_or("");
  const size_t at = status.find("VmHWM:");
  if (at == std::string::npos) return "?";
  const size_t digit = status.find_first_of("0123456789", at);
  return status.substr(digit, status.find(' ', digit) - digit);
}

std::vector<uint64_t> ReadAddresses(const char* path) {
  std::vector<uint64_t> addresses;
  const std::string text = ReadFile(path).value();
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); end - at > 2;) {
    uint64_t address = 0;
    at = std::from_chars(at + 2, end, address, 16).ptr + 1;  // behind "0x"
    addresses.push_back(address);
  }
  return addresses;
}

class Namer {
 public:
  Namer(const char* path, bool lines) : cache_(kCacheBytes) {
    table_ = LoadElfSymbols(FileSource::Open(path).value()).value();
    number_ = memo_.NumberOf(table_);
    if (!lines) return;
    auto source = std::make_unique<FileSource>(FileSource::Open(path).value());
    dwarf::DwarfLimits limits;
    limits.max_unpacked_bytes = 1u << 30;
    table_->Attach(DwarfFrames::Open(std::move(source), cache_, limits).value());
  }
  // Does the daemon's work on a frame. The sum keeps the compiler from removing it.
  size_t Name(uint64_t elf_vaddr) {
    frames_.clear();
    table_->FindFrames(elf_vaddr, frames_);
    size_t sum = 0;
    for (const SourceFrame& frame : frames_) {
      sum += memo_.Demangled(number_, frame).size() + frame.file.size() + frame.line;
    }
    return sum;
  }
  void Print(uint64_t elf_vaddr) {
    frames_.clear();
    table_->FindFrames(elf_vaddr, frames_);
    if (frames_.empty()) frames_.push_back({});
    for (const SourceFrame& frame : frames_) {
      fmt::print("{}\n{}:{}:{}\n", frame.name.empty() ? "??" : frame.name,
                 frame.file.empty() ? "??" : frame.file, frame.line, frame.column);
    }
    fmt::print("\n");
  }

 private:
  dwarf::UnitCache cache_;
  std::shared_ptr<SymbolTable> table_;
  std::vector<SourceFrame> frames_;
  NameMemo memo_;
  uint32_t number_ = 0;
};

// Ranks by Zipf's law with exponent 1: few addresses are most of a profile.
std::vector<uint64_t> Zipf(const std::vector<uint64_t>& addresses, size_t count) {
  std::vector<double> upto;
  double sum = 0;
  for (size_t i = 0; i < addresses.size(); ++i)
    upto.push_back(sum += 1.0 / static_cast<double>(i + 1));
  std::vector<uint64_t> ranked = addresses;
  std::mt19937_64 random(20240229);
  std::shuffle(ranked.begin(), ranked.end(), random);
  std::uniform_real_distribution<double> uniform(0, sum);
  std::vector<uint64_t> out;
  for (size_t i = 0; i < count; ++i) {
    const auto rank = std::upper_bound(upto.begin(), upto.end(), uniform(random)) - upto.begin();
    out.push_back(ranked[std::min(static_cast<size_t>(rank), ranked.size() - 1)]);
  }
  return out;
}

double CpuNs() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Work>
double NsEach(const std::vector<uint64_t>& addresses, Work work) {
  const double begin = CpuNs();
  size_t sum = 0;
  for (uint64_t address : addresses) sum += work(address);
  const double spent = CpuNs() - begin;
  if (sum == 0) std::abort();
  return spent / static_cast<double>(addresses.size());
}

int Run(std::string_view what, const char* path, const char* list, std::string_view mode) {
  Namer namer(path, what == "lines");
  const std::vector<uint64_t> addresses = ReadAddresses(list);
  if (mode == "print") {
    for (uint64_t address : addresses) namer.Print(address);
    return 0;
  }
  size_t sum = 0;
  for (uint64_t address : addresses) sum += namer.Name(address);
  if (sum == 0) return 1;
  if (mode == "cold") {
    fmt::print("{}\n", PeakKib());
    return 0;
  }
  const std::vector<uint64_t> again = Zipf(addresses, kWarmLookups);
  std::vector<uint64_t> sorted = addresses;
  std::sort(sorted.begin(), sorted.end());
  const double ours = NsEach(again, [&](uint64_t address) { return namer.Name(address); });
  const double floor = NsEach(again, [&](uint64_t address) {
    return *(std::upper_bound(sorted.begin(), sorted.end(), address) - 1);
  });
  fmt::print("{:.1f} {:.1f}\n", ours, floor);
  return 0;
}

}  // namespace
}  // namespace firetower::symbolizer

int main(int argc, char** argv) {
  if (argc == 5) return firetower::symbolizer::Run(argv[1], argv[2], argv[3], argv[4]);
  fmt::print(stderr, "usage: frames_bench names|lines FILE ADDRESSES print|cold|warm\n");
  return 2;
}
