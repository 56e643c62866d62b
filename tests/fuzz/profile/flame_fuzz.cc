// SPDX-License-Identifier: Apache-2.0
// A byte of options, then stacks of hostile names: a line each, frames apart by ';', as long as
// their values are. What is drawn of them must be JSON, XML and UTF-8, and its sums exact.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "profile/builder.h"
#include "profile/flame/html.h"
#include "profile/flame/levels_json.h"
#include "profile/flame/svg.h"

namespace firetower::profile {
namespace {

Profile FromText(std::string_view text) {
  ProfileBuilder builder(CpuMeta(100, 0, 1'000'000'000));
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::vector<uint32_t> stack;
    auto count = static_cast<int64_t>(line.size());
    while (!line.empty()) {
      std::string_view name = line.substr(0, line.find(';'));
      line.remove_prefix(std::min(name.size() + 1, line.size()));
      Line at{.function = builder.AddFunction(name, name, "")};
      // Odd functions are the kernel's.
      uint64_t address = (at.function % 2 == 1 ? 1ull << 63 : 0) + at.function;
      stack.insert(stack.begin(), builder.AddLocation(kNoMapping, address, {&at, 1}));
    }
    int64_t values[] = {count, count};
    builder.AddSample(stack, values);
  }
  return std::move(builder).Build();
}

void CheckSums(const FlameLevels& levels) {
  int64_t selfs = 0;
  for (const FlameBar& bar : levels.bars) selfs += bar.self;
  CHECK(selfs == levels.total());
}

bool IsText(std::string_view text) {
  return ToValidUtf8(text) == text && std::ranges::all_of(text, [](char c) {
           return c == '\n' || static_cast<unsigned char>(c) >= 0x20;
         });
}

void CheckDrawing(const Flame& flame, const FlameOptions& options, std::string_view text) {
  // Drawing is nine tenths of an input's time: each is drawn in one form, by its length.
  switch (text.size() % 3) {
    case 0:
      CHECK(nlohmann::json::accept(FlameLevelsJson(flame, text)));
      CHECK(nlohmann::json::accept(FlameRowsJson(flame, text)));
      break;
    case 1:
      CHECK(IsText(FlameSvg(flame, options)));
      break;
    default: {
      const std::string html = FlameHtml(flame, options, text);
      const size_t begin = html.find("id=\"data\">");
      CHECK(html.find_first_of("<>&", begin + 10) == html.find("</script>", begin));
      break;
    }
  }
}

}  // namespace
}  // namespace firetower::profile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace profile = firetower::profile;
  // Inserting at a stack's front is quadratic, here only.
  if (size == 0 || size > 4096) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  profile::FlameOptions options;
  options.names = static_cast<profile::NameDetail>(data[0] % 3);
  options.order = data[0] & 4 ? profile::SiblingOrder::kName : profile::SiblingOrder::kValue;
  options.max_bars = data[0] / 8;
  options.title = text.substr(0, 100);
  // Half of them in a tree that has to drop nodes.
  const uint32_t max_nodes = data[0] % 2 == 0 ? profile::FlameTreeBuilder::kMaxNodes : 20;
  const profile::Profile drawn = profile::FromText(text);
  auto flame = profile::MakeFlame(drawn, options, max_nodes);
  CHECK(flame);
  CHECK(flame->levels.total() == drawn.Total(1));
  profile::CheckSums(flame->levels);
  profile::CheckDrawing(*flame, options, text);
  return 0;
}
