// SPDX-License-Identifier: Apache-2.0
// unwind_rows_bench FILE: compiles its call frame information once and prints
// `<FDEs> <rows before merging> <rows> <KiB at the peak>`.
// unwind_rows_bench FILE rules: prints how many distinct rules there are.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <unordered_set>

#include "base/file.h"
#include "symbolizer/cfi/load_unwind_rows.h"

namespace firetower::symbolizer {
namespace {

class RuleCounter : public UnwindRowSink {
 public:
  void OnRow(const UnwindRow& row) override {
    rules_.emplace(reinterpret_cast<const char*>(&row.rule), sizeof(row.rule));
  }
  size_t rules() const { return rules_.size(); }

 private:
  std::unordered_set<std::string> rules_;
};

// Sink that does the least work possible: it reads the row.
class SummingSink : public UnwindRowSink {
 public:
  void OnRow(const UnwindRow& row) override {
    sum_ += row.elf_vaddr + static_cast<uint32_t>(row.rule.cfa_offset);
  }
  uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};

// Not getrusage's: that one begins with the memory of who started us.
std::string PeakKib() {
  const std::string status = ReadFile("/proc/self/status").value_or("");
  const size_t at = status.find("VmHWM:");
  if (at == std::string::npos) return "?";
  const size_t digit = status.find_first_of("0123456789", at);
  return status.substr(digit, status.find(' ', digit) - digit);
}

Result<CfiStats> Load(const char* path, UnwindRowSink& sink) {
  ASSIGN_OR_RETURN(FileSource source, FileSource::Open(path));
  ASSIGN_OR_RETURN(ElfFile file, ElfFile::Open(source));
  return LoadUnwindRows(file, sink);
}

int Run(const char* path, bool rules) {
  RuleCounter counter;
  SummingSink summing;
  auto stats = rules ? Load(path, counter) : Load(path, summing);
  if (!stats || (!rules && summing.sum() == 0)) {
    fmt::print(stderr, "{}: {}\n", path, stats ? "no rows" : stats.error().message());
    return 1;
  }
  if (rules) {
    fmt::print("{}\n", counter.rules());
    return 0;
  }
  fmt::print("{} {} {} {}\n", stats->fdes, stats->raw_rows, stats->rows, PeakKib());
  return 0;
}

}  // namespace
}  // namespace firetower::symbolizer

int main(int argc, char** argv) {
  const bool rules = argc == 3 && std::string_view(argv[2]) == "rules";
  if (argc == 2 || rules) return firetower::symbolizer::Run(argv[1], rules);
  fmt::print(stderr, "usage: unwind_rows_bench FILE [rules]\n");
  return 2;
}
