// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <charconv>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/flame_look.h"
#include "cli/graph/fetched.h"
#include "cli/term/table.h"
#include "profile/flame/flame.h"
#include "profile/select/inverted.h"

namespace firetower::cli {
namespace {

using profile::Flame;
using profile::FlameLevels;

// Prints bars as an indented tree, depth first.
class Printer {
 public:
  Printer(const Flame& flame, const Terminal& terminal) : flame_(flame), terminal_(terminal) {
    children_.resize(flame.levels.bars.size());
    for (uint32_t bar = 1; bar < children_.size(); ++bar)
      children_[flame.levels.parent_of[bar]].push_back(bar);
  }

  std::string Print() {
    text_ =
        fmt::format("{:>10} {:>6}  {:>10} {:>6}  FUNCTION\n", "TOTAL", "TOTAL%", "SELF", "SELF%");
    // A stack may have thousands of frames: no recursion.
    std::vector<std::pair<uint32_t, std::string>> open = {{0, ""}};
    while (!open.empty()) {
      const auto [bar, indent] = std::move(open.back());
      open.pop_back();
      Line(bar, indent);
      const std::vector<uint32_t>& children = children_[bar];
      // A chain of single calls is not indented: deep stacks stay on the screen.
      const std::string inner =
          children.size() > 1 || bar == 0 ? indent + (terminal_.utf8 ? "│ " : "| ") : indent;
      for (size_t i = children.size(); i-- > 0;) open.emplace_back(children[i], inner);
    }
    return std::move(text_);
  }

 private:
  void Line(uint32_t bar, const std::string& indent) {
    const FlameLevels& levels = flame_.levels;
    const profile::FlameBar& value = levels.bars[bar];
    const profile::FlameName& name = levels.names[levels.name_of[bar]];
    const std::string file = name.module.substr(name.module.rfind('/') + 1);
    text_ += fmt::format("{:>10} {:>5.1f}%  {:>10} {:>5.1f}%  {}{}{}\n", Value(value.total),
                         Percent(value.total), Value(value.self), Percent(value.self), indent,
                         Printable(name.text, terminal_.utf8),
                         file.empty() ? "" : " (" + Printable(file, terminal_.utf8) + ")");
  }
  std::string Value(int64_t value) const {
    return FormatValue(static_cast<double>(value), flame_.info.value.unit);
  }
  double Percent(int64_t value) const {
    const int64_t total = flame_.levels.total();
    return total == 0 ? 0 : 100.0 * static_cast<double>(value) / static_cast<double>(total);
  }

  const Flame& flame_;
  const Terminal& terminal_;
  std::vector<std::vector<uint32_t>> children_;
  std::string text_;
};

// "0.5" or "0.5%", of the whole.
Outcome<double> MinShare(const Context& context) {
  std::string text = context.args.Has("min-percent") ? context.args.Get("min-percent") : "0.5";
  if (text.ends_with('%')) text.pop_back();
  double percent = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size() || percent < 0 || percent > 100) {
    return BadFlag(context, Error(ErrorCode::kInvalid,
                                  fmt::format("--min-percent '{}' is not a number from 0 to 100",
                                              context.args.Get("min-percent"))));
  }
  return percent / 100;
}

}  // namespace

Outcome<int> RunTree(const Context& context) {
  Outcome<double> min_share = MinShare(context);
  if (!min_share) return min_share.failure();
  Outcome<profile::FlameOptions> look = FlameLook(context, "");
  if (!look) return look.failure();
  if (!context.args.Has("sort")) look->order = profile::SiblingOrder::kValue;
  look->min_share = *min_share;
  look->sample_type = context.args.Get("sample-type");
  Outcome<profile::Profile> profile = FetchProfile(context);
  if (!profile) return profile.failure();
  if (context.args.Has("bottom-up")) *profile = profile::Inverted(*profile);
  const Result<Flame> flame = profile::MakeFlame(*profile, *look);
  if (!flame) return BadFlag(context, flame.error());
  return Emit(Printer(*flame, context.terminal).Print(), ExitCode::kOk);
}

}  // namespace firetower::cli
