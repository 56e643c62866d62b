// SPDX-License-Identifier: Apache-2.0
// Generated profiles keep their stacks and values through every format. docs/formats.md lists the
// limits of each format; the test reads the compared values from the profiles itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "profile/builder.h"
#include "profile/format.h"

namespace firetower::profile {
namespace {

// Root first, one text a function, with `extra` of what a format is to keep besides.
using Stack = std::vector<std::string>;
using Values = std::map<Stack, int64_t>;

struct Extra {
  bool kernel = false;
  bool source = false;  // file and line
};

Values ValuesOf(const Profile& profile, uint32_t value_index, const Extra& extra) {
  Values values;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    Sample sample = profile.sample(i);
    Stack stack;
    for (size_t at = sample.locations.size(); at-- > 0;) {
      Location location = profile.location(sample.locations[at]);
      for (size_t line = std::max<size_t>(location.lines.size(), 1); line-- > 0;) {
        std::string text = profile.FrameName(location, line);
        if (extra.kernel && profile.IsKernel(location)) text += " of the kernel";
        if (extra.source && line < location.lines.size()) {
          const Line& source = location.lines[line];
          text += " in " + std::string(profile.string(profile.function(source.function).filename)) +
                  ":" + std::to_string(source.line);
        }
        stack.push_back(text);
      }
    }
    values[stack] += sample.values[value_index];
  }
  std::erase_if(values, [](const auto& entry) { return entry.second == 0; });
  return values;
}

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed), builder_(CpuMeta(99, 1, 2)) {}

  Profile Make() {
    const uint32_t app = builder_.AddMapping({.memory_start = 0x400000,
                                              .memory_limit = 0x800000,
                                              .filename = builder_.AddString("/usr/bin/app"),
                                              .flags = Mapping::kHasFunctions});
    const uint32_t kernel =
        builder_.AddMapping({.memory_start = 0xffffffff80000000,
                             .memory_limit = 0xffffffffffffffff,
                             .filename = builder_.AddString("[kernel.kallsyms]"),
                             .flags = Mapping::kHasFunctions});
    std::vector<uint32_t> user_frames;
    std::vector<uint32_t> kernel_frames;
    for (uint32_t i = 0; i < 40; ++i) {
      user_frames.push_back(UserFrame(app, i));
      Line line{.function = builder_.AddFunction("sys_" + std::to_string(i) + "_k", "", "")};
      kernel_frames.push_back(builder_.AddLocation(kernel, 0xffffffff81000000 + i, {&line, 1}));
    }
    for (uint32_t i = 0; i < 200; ++i) {
      std::vector<uint32_t> stack;
      for (uint32_t depth = Below(3); depth > 0; --depth) stack.push_back(kernel_frames[Below(40)]);
      for (uint32_t depth = Below(12); depth > 0; --depth) stack.push_back(user_frames[Below(40)]);
      const int64_t count = Below(5);
      const int64_t values[] = {count, count * 10'101'010 + Below(3)};
      Label label = builder_.StringLabel("thread", std::to_string(Below(3)));
      builder_.AddSample(stack, values, {&label, 1});
    }
    return std::move(builder_).Build();
  }

 private:
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  // Every fourth one has calls inlined into it, every seventh no name.
  uint32_t UserFrame(uint32_t mapping, uint32_t i) {
    static constexpr const char* kNames[] = {"ns::f(int, char)", "größe",       "operator->",
                                             "a b\"c\\d",        "Lorg/x/Y::z", "<{closure}>",
                                             "f'lambda'(x)"};
    std::vector<Line> lines;
    for (uint32_t line = 0; line < 1 + (i % 4 == 0 ? Below(3) : 0); ++line) {
      std::string name = std::to_string(i) + kNames[Below(7)] + std::to_string(line) + "()";
      lines.push_back({.function = builder_.AddFunction(name, name, i % 2 == 0 ? "src/a.cc" : ""),
                       .line = i % 2 == 0 ? 10 + i : 0});
    }
    if (i % 7 == 3) lines.clear();
    return builder_.AddLocation(mapping, 0x400000 + 16 * i, lines);
  }

  std::mt19937 random_;
  ProfileBuilder builder_;
};

constexpr uint32_t kProfiles = 50;

// pprof, then `format`, then pprof again.
Profile Through(const Profile& profile, Format format, const EncodeOptions& options = {}) {
  auto pprof = EncodeProfile(profile, Format::kPprof);
  EXPECT_TRUE(pprof);
  auto first = DecodeProfile(*pprof, "");
  EXPECT_TRUE(first) << first.error().message();
  auto text = EncodeProfile(*first, format, options);
  EXPECT_TRUE(text) << text.error().message();
  auto read = DecodeProfile(*text, "", {.format = format});
  EXPECT_TRUE(read) << read.error().message();
  auto again = DecodeProfile(*EncodeProfile(*read, Format::kPprof), "");
  EXPECT_TRUE(again) << again.error().message();
  return *std::move(again);
}

TEST(RoundTrip, PprofKeepsStacksValuesAndSources) {
  for (uint32_t seed = 1; seed <= kProfiles; ++seed) {
    Profile profile = Generator(seed).Make();
    Profile back = Through(profile, Format::kPprof);
    EXPECT_EQ(back.meta(), profile.meta());
    for (uint32_t value = 0; value < 2; ++value) {
      const Extra all{.kernel = true, .source = true};
      EXPECT_EQ(ValuesOf(back, value, all), ValuesOf(profile, value, all)) << seed;
    }
  }
}

TEST(RoundTrip, SpeedscopeKeepsAllTypesKernelAndSources) {
  for (uint32_t seed = 1; seed <= kProfiles; ++seed) {
    Profile profile = Generator(seed).Make();
    Profile back = Through(profile, Format::kSpeedscope);
    ASSERT_EQ(back.sample_types(), profile.sample_types());
    for (uint32_t value = 0; value < 2; ++value) {
      const Extra all{.kernel = true, .source = true};
      EXPECT_EQ(ValuesOf(back, value, {.kernel = true}), ValuesOf(profile, value, {.kernel = true}))
          << seed;
      // A frame without a name has no source; read back, its text is a name.
      auto sources = [&](const Profile& of) {
        std::set<std::string> named;
        for (const auto& [stack, sum] : ValuesOf(of, value, all)) {
          for (const std::string& frame : stack) {
            if (frame.find(" in src/") != std::string::npos) named.insert(frame);
          }
        }
        return named;
      };
      EXPECT_EQ(sources(back), sources(profile)) << seed;
    }
  }
}

TEST(RoundTrip, FoldedKeepsOneValueAndAnnotatedTheKernel) {
  for (uint32_t seed = 1; seed <= kProfiles; ++seed) {
    Profile profile = Generator(seed).Make();
    for (uint32_t value = 0; value < 2; ++value) {
      Profile plain = Through(profile, Format::kFolded, {.value_index = value});
      EXPECT_EQ(ValuesOf(plain, 0, {}), ValuesOf(profile, value, {})) << seed;
      Profile marked = Through(profile, Format::kFolded, {.value_index = value, .annotate = true});
      EXPECT_EQ(ValuesOf(marked, 0, {.kernel = true}), ValuesOf(profile, value, {.kernel = true}))
          << seed;
    }
  }
}

}  // namespace
}  // namespace firetower::profile
