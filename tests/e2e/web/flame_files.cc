// SPDX-License-Identifier: Apache-2.0
// flame_files FOLDER: pages of profiles whose sums are known, for a browser to look at.
#include <fmt/core.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "profile/flame/html.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::StackBuilder;

// Makes a profile of 75 samples of 10 ms in a minute: main/serve/parse 60, main/idle 15. The latter
// is in another binary, so that their colours differ.
Profile Shop() {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  stacks.Add({"main", "serve", "parse"}, 60);
  uint32_t library = builder.AddMapping({.memory_start = 0x700000,
                                         .memory_limit = 0x800000,
                                         .filename = builder.AddString("/usr/lib/libc.so.6"),
                                         .flags = Mapping::kHasFunctions});
  Line line{.function = builder.AddFunction("idle", "idle", "")};
  uint32_t stack[] = {builder.AddLocation(library, 0x700010, {&line, 1}), stacks.Frame("main")};
  int64_t values[] = {15, 150'000'000};
  CHECK(builder.AddSample(stack, values));
  return stacks.Build();
}

Profile Hostile() {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  return StackBuilder()
      .Add({"main", "</script><script>window.pwned=1</script>"}, 10)
      .Add({"main", "<img src=x onerror=\"window.pwned=2\">"}, 20)
      .Add({"main", "${window.pwned=3}"}, 30)
      .Add({"main", "<!--", "]]>", "\\u003c/script>"}, 5)
      .Add({"main", every}, 5)
      .Add({"main", std::string(100'000, 'x')}, 5)
      .Build();
}

// Some 110,000 nodes of 4,096 stacks, 30 to 59 deep.
Profile Big() {
  std::mt19937 random(100'000);
  std::vector<std::string> names;
  for (int i = 0; i < 700; ++i) names.push_back(fmt::format("module{}::Class::Method{}", i % 9, i));
  StackBuilder stacks;
  for (int i = 0; i < 4096; ++i) {
    std::vector<std::string_view> stack{"main"};
    for (size_t depth = 29 + random() % 30; depth > 0; --depth) {
      // Near the root there is little to choose from.
      size_t choices = stack.size() < 12 ? 2 : names.size();
      stack.push_back(names[random() % choices]);
    }
    stacks.Add(stack, 1 + random() % 20);
  }
  return stacks.Build();
}

Profile Deep() {
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) names.push_back("frame" + std::to_string(i));
  return StackBuilder().Add({names.begin(), names.end()}, 1).Build();
}

void Write(const std::string& folder, std::string_view name, const Profile& profile,
           bool root_at_bottom = false) {
  FlameOptions options;
  options.title = name;
  options.max_bars = 0;
  options.root_at_bottom = root_at_bottom;
  auto html = EncodeFlameHtml(profile, options, "cpu");
  CHECK(html && WriteFileAtomic(fmt::format("{}/{}.html", folder, name), *html));
}

}  // namespace
}  // namespace firetower::profile

int main(int argc, char** argv) {
  namespace profile = firetower::profile;
  if (argc != 2) {
    fmt::print(stderr, "usage: flame_files FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  profile::Write(folder, "shop", profile::Shop());
  profile::Write(folder, "shop-flame", profile::Shop(), true);
  profile::Write(folder, "hostile", profile::Hostile());
  profile::Write(folder, "big", profile::Big());
  profile::Write(folder, "deep", profile::Deep());
  profile::Write(folder, "empty", firetower::testing::StackBuilder().Build());
  return 0;
}
