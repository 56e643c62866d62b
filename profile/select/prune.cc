// SPDX-License-Identifier: Apache-2.0
// The rules are those of RemoveUninteresting() in github.com/google/pprof/profile/prune.go.
#include "profile/select/prune.h"

#include <fmt/core.h>
#include <re2/re2.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profile/builder.h"
#include "profile/select/copied_tables.h"

namespace firetower::profile {
namespace {

constexpr int64_t kMaxRegexBytes = 8 << 20;

// A name without the arguments of a function of C++, whose own parentheses stay, and without the
// dot that it begins with on PowerPC.
std::string_view SimpleName(std::string_view name) {
  constexpr std::string_view kOwn[] = {"(anonymous namespace)", "operator()"};
  if (name.starts_with('.')) name.remove_prefix(1);
  for (size_t at = 0; at < name.size();) {
    size_t own = 0;
    for (const std::string_view text : kOwn) {
      if (name.substr(at).starts_with(text)) own = text.size();
    }
    if (own == 0 && name[at] == '(') return name.substr(0, at);
    at += own > 0 ? own : 1;
  }
  return name;
}

Result<std::unique_ptr<RE2>> Compile(std::string_view field, const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxRegexBytes);
  auto compiled = std::make_unique<RE2>("^(" + pattern + ")$", options);
  if (compiled->ok()) return compiled;
  return Error(ErrorCode::kInvalid, fmt::format("{}: {}", field, compiled->error()));
}

class Pruner {
 public:
  Pruner(const Profile& profile, const RE2& drop, const RE2* keep)
      : from_(profile),
        drop_(drop),
        keep_(keep),
        builder_(Meta(profile.meta()), {.max_samples = std::numeric_limits<uint32_t>::max(),
                                        .max_bytes = std::numeric_limits<size_t>::max()}),
        tables_(profile, builder_) {}

  Pruned Prune() {
    for (uint32_t i = 0; i < from_.function_count(); ++i)
      drops_.push_back(IsDropped(from_.string(from_.function(i).name)));
    for (uint32_t i = 0; i < from_.location_count(); ++i) AddLocation(from_.location(i));
    Pruned pruned;
    for (uint32_t i = 0; i < from_.sample_count(); ++i) {
      const Sample sample = from_.sample(i);
      if (FillStack(sample.locations)) ++pruned.samples;
      builder_.AddSample(stack_, sample.values, sample.labels);
    }
    pruned.profile = std::move(builder_).Build();
    return pruned;
  }

 private:
  enum class PruneAction : uint8_t {
    kKeep,
    kDrop,
    kKeepPart,  // a function was inlined into one that stays
  };
  struct Place {
    uint32_t index = 0;
    PruneAction fate = PruneAction::kKeep;
  };

  bool IsDropped(std::string_view name) const {
    if (name.empty()) return false;
    const std::string_view simple = SimpleName(name);
    const re2::StringPiece text(simple.data(), simple.size());
    return RE2::PartialMatch(text, drop_) && (keep_ == nullptr || !RE2::PartialMatch(text, *keep_));
  }

  void AddLocation(const Location& location) {
    // Goes from the outermost function inwards: when one is dropped, the functions inlined into it
    // are dropped too.
    size_t keep = location.lines.size();
    while (keep > 0 && !drops_[location.lines[keep - 1].function]) --keep;
    PruneAction fate = PruneAction::kKeep;
    size_t first = 0;
    if (keep > 0 && keep == location.lines.size()) fate = PruneAction::kDrop;
    if (keep > 0 && keep < location.lines.size()) {
      fate = PruneAction::kKeepPart;
      first = keep;
    }
    lines_.clear();
    for (const Line& line : location.lines.subspan(first)) lines_.push_back(tables_.LineOf(line));
    places_.push_back({builder_.AddLocation(tables_.MappingOf(location), location.address, lines_,
                                            location.is_folded),
                       fate});
  }

  // Fills stack_; true when frames are left out.
  bool FillStack(const StackView& from) {
    stack_.clear();
    for (const uint32_t location : from) stack_.push_back(places_[location].index);
    bool any_stays = false;
    for (size_t i = from.size(); i-- > 0;) {
      const PruneAction fate = places_[from[i]].fate;
      if (fate == PruneAction::kKeep) {
        any_stays = true;
      } else if (any_stays) {
        const size_t first = i + (fate == PruneAction::kDrop ? 1 : 0);
        stack_.erase(stack_.begin(), stack_.begin() + static_cast<ptrdiff_t>(first));
        return true;
      }
    }
    return false;
  }

  const Profile& from_;
  const RE2& drop_;
  const RE2* keep_;
  ProfileBuilder builder_;
  const CopiedTables tables_;
  std::vector<bool> drops_;    // by function
  std::vector<Place> places_;  // by location
  std::vector<Line> lines_;
  std::vector<uint32_t> stack_;
};

}  // namespace

Result<Pruned> PruneFrames(const Profile& profile) {
  const Meta& meta = profile.meta();
  ASSIGN_OR_RETURN(const std::unique_ptr<RE2> drop, Compile("drop_frames", meta.drop_frames));
  std::unique_ptr<RE2> keep;
  if (!meta.keep_frames.empty()) {
    ASSIGN_OR_RETURN(keep, Compile("keep_frames", meta.keep_frames));
  }
  return Pruner(profile, *drop, keep.get()).Prune();
}

}  // namespace firetower::profile
