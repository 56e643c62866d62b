// SPDX-License-Identifier: Apache-2.0
// pprof_bench generate FOLDER: 100,000 stacks as folded text, and a hundred profiles of 2,000 that
// overlap; little of that in the short form. pprof_bench encode FOLDED OUT | merge OUT FILE…
// | diff OUT BEFORE AFTER: prints
// `<CPU ms> <bytes> <peak KiB>` of the encoding alone, the profile being built line by line before,
// or of reading, merging and writing; the peak is the process's.
#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "profile/builder.h"
#include "profile/diff.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "tests/bench/pairs.h"

namespace firetower::profile {
namespace {

double CpuMs(const rusage& usage) {
  auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}
rusage Usage() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage;
}

constexpr int64_t kPeriodNs = 10'101'010;  // of 99 Hz

// Stacks of 10 to 40 frames that share their roots, over so many functions in 20 binaries.
Profile Generate(uint32_t stacks, uint32_t functions, uint32_t seed, uint32_t shared_seed) {
  constexpr uint32_t kBinaries = 20;
  ProfileBuilder builder(CpuMeta(99, 1'700'000'000'000'000'000, 60'000'000'000));
  std::vector<uint32_t> locations;
  for (uint32_t i = 0; i < functions; ++i) {
    uint64_t start = 0x7f0000000000 + uint64_t{i % kBinaries} * 0x1000000;
    uint32_t mapping = builder.AddMapping(
        {.memory_start = start,
         .memory_limit = start + 0x1000000,
         .filename = builder.AddString(fmt::format("/usr/lib/library{}.so", i % kBinaries)),
         .build_id = builder.AddString(fmt::format("{:040x}", i % kBinaries)),
         .flags = Mapping::kHasFunctions});
    std::string name = fmt::format("module{}::Class{}::Method{}", i % kBinaries, i % 317, i);
    Line line{.function = builder.AddFunction(name, name, "")};
    locations.push_back(builder.AddLocation(mapping, start + uint64_t{i} * 0x40, {&line, 1}));
  }
  std::mt19937 shared(shared_seed);
  std::mt19937 own(seed);
  std::vector<uint32_t> stack;
  while (builder.sample_count() < stacks) {
    // Every second stack comes from what all profiles share.
    std::mt19937& random = builder.sample_count() % 2 == 0 ? shared : own;
    size_t keep = stack.empty() ? 0 : random() % std::min<size_t>(stack.size(), 12);
    stack.erase(stack.begin(), stack.end() - static_cast<ptrdiff_t>(keep));
    size_t depth = 10 + random() % 31;
    while (stack.size() < depth) stack.insert(stack.begin(), locations[random() % functions]);
    int64_t count = 1 + static_cast<int64_t>(random() % 50);
    int64_t values[] = {count, count * kPeriodNs};
    builder.AddSample(stack, values);
  }
  return std::move(builder).Build();
}

// A line for each stack, `root;…;leaf count`.
std::string FoldedLines(const Profile& profile) {
  std::string text;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const Sample sample = profile.sample(i);
    for (size_t at = sample.locations.size(); at-- > 0;) {
      const Location location = profile.location(sample.locations[at]);
      text += profile.string(profile.function(location.lines[0].function).name);
      text += at > 0 ? ';' : ' ';
    }
    text += fmt::format("{}\n", sample.values[0]);
  }
  return text;
}

Profile ReadFolded(const std::string& path) {
  ProfileBuilder builder(CpuMeta(99, 1'700'000'000'000'000'000, 60'000'000'000));
  std::ifstream in(path);
  std::vector<uint32_t> stack;
  for (std::string line; std::getline(in, line);) {
    const size_t space = line.rfind(' ');
    CHECK(space != std::string::npos);
    const int64_t count = std::stoll(line.substr(space + 1));
    std::string_view frames(line.data(), space);
    stack.clear();
    while (!frames.empty()) {
      const size_t cut = frames.rfind(';') + 1;  // 0: the root
      const Line named{.function = builder.AddFunction(frames.substr(cut), frames.substr(cut), "")};
      stack.push_back(builder.AddLocation(kNoMapping, 0, {&named, 1}));
      frames = frames.substr(0, cut == 0 ? 0 : cut - 1);
    }
    const int64_t values[] = {count, count * kPeriodNs};
    CHECK(builder.AddSample(stack, values));
  }
  return std::move(builder).Build();
}

int GenerateAll(const std::string& folder) {
  CHECK(WriteFileAtomic(folder + "/big.folded",
                        FoldedLines(Generate(bench::Pick(100'000u, 1000u), 5000, 1, 2))));
  for (uint32_t i = 0; i < bench::Pick(100u, 3u); ++i) {
    // 1.3 MB each before compression: most of what a merge reads are tables.
    Profile part = Generate(2000, bench::Pick(20'000u, 2000u), 100 + i, 3);
    CHECK(WriteFileAtomic(fmt::format("{}/part{:02}.pb.gz", folder, i), EncodePprof(part)));
  }
  return 0;
}

Profile Read(const std::string& path) {
  auto bytes = ReadFile(path);
  CHECK(bytes);
  auto profile = DecodePprof(*std::move(bytes));
  CHECK(profile);
  return *std::move(profile);
}

void Print(const rusage& before, size_t bytes) {
  rusage after = Usage();
  fmt::print("{:.3f} {} {}\n", CpuMs(after) - CpuMs(before), bytes, after.ru_maxrss);
}

int Encode(const std::string& in, const std::string& out) {
  // The settings of firetowerd (daemon/main.cc), whose memory is measured here.
  ::mallopt(M_MMAP_THRESHOLD, 64 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 10);
  const Profile profile = ReadFolded(in);
  const rusage before = Usage();
  std::string bytes = EncodePprof(profile);
  Print(before, bytes.size());
  CHECK(WriteFileAtomic(out, bytes));
  return 0;
}

int MergeFiles(const std::string& out, const std::vector<std::string>& files) {
  rusage before = Usage();
  Merger merger;
  for (const std::string& file : files) {
    auto bytes = ReadFile(file);
    CHECK(bytes);
    CHECK(merger.AddPprof(*bytes));
  }
  std::string bytes = EncodePprof(std::move(merger).Finish());
  Print(before, bytes.size());
  CHECK(WriteFileAtomic(out, bytes));
  return 0;
}

int DiffFiles(const std::string& out, const std::string& before, const std::string& after) {
  rusage start = Usage();
  auto diff = Diff(Read(before), Read(after));
  CHECK(diff);
  std::string bytes = EncodePprof(*diff);
  Print(start, bytes.size());
  CHECK(WriteFileAtomic(out, bytes));
  return 0;
}

}  // namespace
}  // namespace firetower::profile

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 2 && args[0] == "generate") return firetower::profile::GenerateAll(args[1]);
  if (args.size() == 3 && args[0] == "encode") return firetower::profile::Encode(args[1], args[2]);
  if (args.size() > 2 && args[0] == "merge") {
    return firetower::profile::MergeFiles(args[1], {args.begin() + 2, args.end()});
  }
  if (args.size() == 4 && args[0] == "diff") {
    return firetower::profile::DiffFiles(args[1], args[2], args[3]);
  }
  fmt::print(stderr,
             "usage: pprof_bench generate FOLDER | encode FOLDED OUT | merge OUT FILE… | "
             "diff OUT BEFORE AFTER\n");
  return 2;
}
