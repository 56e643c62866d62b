// SPDX-License-Identifier: Apache-2.0
// Every frame of a program, built in many ways, beside llvm-symbolizer and eu-addr2line.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "symbolizer/demangle.h"
#include "symbolizer/dwarf/dwarf_frames.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/symbol_table.h"
#include "tests/support/command.h"

namespace firetower::symbolizer {
namespace {

using ::firetower::testing::HaveCommand;
using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;

constexpr char kSource[] = FIRETOWER_SOURCE_DIR "/tests/unit/symbolizer/elf/symbols_program.cc";
constexpr double kLlvmShare = 0.995;
// It sometimes has a call outside the one that it was made from; llvm-symbolizer does not.
constexpr double kEuShare = 0.99;

// "function file:line" of each frame, innermost first.
using Frames = std::vector<std::string>;

struct Way {
  const char* name;
  const char* compiler;
  const char* flags;
};

std::string_view FileOf(const SourceFrame& frame) { return frame.file.empty() ? "??" : frame.file; }

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

// How many answers are equal, and the first that is not.
struct Tally {
  size_t all = 0;
  size_t equal = 0;
  std::string first_difference = {};

  // Both have their mangled names; which of a constructor's aliases it is, is a matter of taste.
  void Add(uint64_t address, Frames ours, Frames theirs) {
    for (Frames* frames : {&ours, &theirs}) {
      for (std::string& frame : *frames) {
        const size_t space = frame.find(' ');
        frame = Demangle(frame.substr(0, space)) + frame.substr(space);
      }
    }
    ++all;
    if (ours == theirs) {
      ++equal;
    } else if (first_difference.empty()) {
      first_difference = fmt::format("{:#x}: {} and {}", address, ::testing::PrintToString(ours),
                                     ::testing::PrintToString(theirs));
    }
  }
  void Judge(double share) const {
    EXPECT_GE(static_cast<double>(equal), share * static_cast<double>(all))
        << equal << " of " << all << "; " << first_difference;
  }
};

class OtherReadersTest : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    for (const char* program : {GetParam().compiler, "llvm-symbolizer-14", "eu-addr2line"}) {
      if (!HaveCommand(program)) GTEST_SKIP() << program << " is not installed";
    }
    auto built = RunCommand(fmt::format("cd {} && {} -std=c++17 {} {} -o program", folder_.path(),
                                        GetParam().compiler, GetParam().flags, kSource));
    ASSERT_EQ(built.exit_code, 0) << built.output;
    FileSource source = FileSource::Open(path()).value();
    table_ = LoadElfSymbols(source).value();
    auto owned = std::make_unique<FileSource>(FileSource::Open(path()).value());
    table_->Attach(DwarfFrames::Open(std::move(owned), cache_).value());
    ElfFile file = ElfFile::Open(source).value();
    const Elf64_Shdr& text = *file.FindSection(".text");
    std::vector<SourceFrame> frames;
    for (uint64_t at = text.sh_addr; at < text.sh_addr + text.sh_size; ++at) {
      // The others come from the compiler's start-up files, or lie between functions.
      frames.clear();
      table_->source()->Find(at, frames);
      if (!frames.empty() && table_->FindVaddr(at)) addresses_.push_back(at);
    }
    ASSERT_GT(addresses_.size(), 500u);
  }
  std::string path() const { return folder_.path() + "/program"; }

  std::string Run(const std::string& command, const std::vector<uint64_t>& addresses) const {
    std::ofstream list(folder_.path() + "/addresses");
    for (uint64_t address : addresses) list << fmt::format("{:#x}\n", address);
    list.close();
    auto result = RunCommand(fmt::format("{} < {}/addresses", command, folder_.path()));
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  }

  ScratchFolder folder_;
  dwarf::UnitCache cache_{16 << 20};
  std::shared_ptr<SymbolTable> table_;
  std::vector<uint64_t> addresses_;
};

TEST_P(OtherReadersTest, LlvmSymbolizerSaysTheSame) {
  std::istringstream text(
      Run(fmt::format("llvm-symbolizer-14 --no-demangle --obj={}", path()), addresses_));
  Tally tally;
  size_t inlined = 0;
  for (uint64_t address : addresses_) {
    Frames theirs;
    std::string function;
    std::string place;
    while (std::getline(text, function) && !function.empty() && std::getline(text, place)) {
      theirs.push_back(function + " " + place);
    }
    inlined += theirs.size() > 1;
    std::vector<SourceFrame> frames;
    table_->FindFrames(address, frames);
    Frames ours;
    for (const SourceFrame& frame : frames) {
      ours.push_back(
          fmt::format("{} {}:{}:{}", frame.name, FileOf(frame), frame.line, frame.column));
    }
    tally.Add(address, ours, theirs);
  }
  EXPECT_GT(inlined, 50u) << "the program has inlined calls";
  tally.Judge(kLlvmShare);
}

// "file:line" of "file:line:column".
std::string WithoutColumn(const std::string& place) {
  return place.substr(0, place.find(':', place.find(':') + 1));
}

// One look-up is slow there: every seventh address. It does not take the outermost name from the
// symbols, and reads neither files without .debug_aranges (clang's) nor calls whose function is in
// another unit (LTO's).
class EuAddr2lineTest : public OtherReadersTest {};

TEST_P(EuAddr2lineTest, SaysTheSame) {
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < addresses_.size(); i += 7) addresses.push_back(addresses_[i]);
  std::istringstream text(Run(fmt::format("eu-addr2line -a -f -i -e {}", path()), addresses));
  Tally tally;
  std::string line;
  std::getline(text, line);
  for (uint64_t address : addresses) {
    // An address, then a function and a place for each frame; behind the first function also where
    // it is inlined, which is right where the second frame's own line is sometimes another call's.
    ASSERT_EQ(line.substr(0, 2), "0x") << line;
    Frames theirs;
    std::string call;
    while (std::getline(text, line) && line.substr(0, 2) != "0x") {
      std::string place;
      std::getline(text, place);
      const size_t inlined = line.find(" inlined at ");
      if (theirs.size() == 1 && !call.empty()) place = call;
      theirs.push_back(line.substr(0, inlined) + " " + WithoutColumn(place));
      if (inlined != std::string::npos) call = line.substr(inlined + 12);
    }
    std::vector<SourceFrame> frames;
    table_->source()->Find(address, frames);
    // It does not look into types, where GCC has the code of some lambdas ("Ul" in mangled names).
    const bool is_lambda = std::ranges::any_of(frames, [](const SourceFrame& frame) {
      return frame.name.find("Ul") != std::string::npos;
    });
    if (is_lambda) continue;
    Frames ours;
    for (const SourceFrame& frame : frames) {
      ours.push_back(fmt::format("{} {}:{}", frame.name, FileOf(frame), frame.line));
    }
    tally.Add(address, ours, theirs);
  }
  tally.Judge(kEuShare);
}

constexpr Way kBoth[] = {{"dwarf5", "g++", "-O2 -gdwarf-5"},
                         {"dwarf4", "g++", "-O2 -gdwarf-4"},
                         {"dwarf3", "g++", "-O2 -gdwarf-3"},
                         {"dwarf2", "g++", "-O2 -gdwarf-2"},
                         {"dwarf5_64", "g++", "-O2 -gdwarf-5 -gdwarf64"},
                         {"types", "g++", "-O2 -gdwarf-4 -fdebug-types-section"},
                         {"zlib", "g++", "-O2 -g -gz=zlib"},
                         {"sections", "g++", "-O2 -g -ffunction-sections -Wl,--gc-sections"}};
constexpr Way kLlvmOnly[] = {{"lto", "g++", "-O2 -g -flto"},
                             {"clang5", "clang++-14", "-O2 -gdwarf-5"},
                             {"clang4", "clang++-14", "-O2 -gdwarf-4"}};

std::string NameOf(const ::testing::TestParamInfo<Way>& way) { return way.param.name; }

INSTANTIATE_TEST_SUITE_P(Gcc, OtherReadersTest, ::testing::ValuesIn(kBoth), NameOf);
INSTANTIATE_TEST_SUITE_P(Others, OtherReadersTest, ::testing::ValuesIn(kLlvmOnly), NameOf);
INSTANTIATE_TEST_SUITE_P(Gcc, EuAddr2lineTest, ::testing::ValuesIn(kBoth), NameOf);

}  // namespace
}  // namespace firetower::symbolizer
