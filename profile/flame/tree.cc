// SPDX-License-Identifier: Apache-2.0
#include "profile/flame/tree.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/json.h"
#include "profile/codec/pprof/reader.h"
#include "profile/table/frame_name.h"

namespace firetower::profile {
namespace {

// Tells whether a mapping is memory that a runtime wrote code to, by the names that the daemon and
// perf use.
bool IsJitModule(std::string_view path) {
  return path == "[jit]" || path == "[JIT]" || path.starts_with("//anon") ||
         (path.starts_with("/tmp/perf-") && path.ends_with(".map"));
}

template <typename Source>
FrameKind KindOf(const Source& source, const Location& location, std::string_view module,
                 size_t line) {
  if (IsKernelFrame(source, location)) return FrameKind::kKernel;
  if (IsJitModule(module)) return FrameKind::kJit;
  // Lines are innermost first: only the last one is a function that was called.
  return line + 1 < location.lines.size() ? FrameKind::kInlined : FrameKind::kUser;
}

Error Negative() {
  return Error(ErrorCode::kUnsupported,
               "a value is negative, as in a difference of two profiles: a flame graph shows what "
               "adds up; give the two profiles instead");
}

}  // namespace

FlameTreeBuilder::FlameTreeBuilder(NameDetail names, uint32_t max_nodes, size_t max_text_bytes)
    : detail_(names), max_nodes_(max_nodes), max_text_bytes_(max_text_bytes), tree_(1, max_nodes) {
  FrameOf("", "", FrameKind::kUser);  // string 0 is the empty one
}

uint32_t FlameTreeBuilder::FrameOf(std::string_view name, std::string_view module, FrameKind kind,
                                   char domain) {
  FlameFrame frame;
  frame.name = strings_.Intern(std::span(name.data(), name.size()));
  frame.module = strings_.Intern(std::span(module.data(), module.size()));
  frame.kind = kind;
  const uint32_t id = frames_.Intern(frame);
  if (id >= domains_.size()) domains_.resize(id + 1, domain);
  return id;
}

template <typename Source>
char FlameTreeBuilder::DomainOf(const Source& source, const Location& location, size_t line,
                                FrameKind kind, std::string_view module) const {
  if (domain_letter_ == nullptr) return 0;
  if (kind == FrameKind::kKernel) return 'k';
  std::string_view file;
  if (!location.lines.empty())
    file = source.string(source.function(location.lines[line].function).filename);
  return domain_letter_(module, file);
}

uint32_t FlameTreeBuilder::FindFrame(std::string_view name, std::string_view module,
                                     FrameKind kind) const {
  FlameFrame frame;
  frame.name = strings_.Find(std::span(name.data(), name.size()));
  frame.module = strings_.Find(std::span(module.data(), module.size()));
  frame.kind = kind;
  if (frame.name == IdSet::kNone || frame.module == IdSet::kNone) return kNoFrame;
  const uint32_t found = frames_.Find(frame);
  return found == IdSet::kNone ? kNoFrame : found;
}

template <typename Source>
Pool<uint32_t> FlameTreeBuilder::FramesOf(const Source& source) {
  Pool<uint32_t> frames;
  frames.Reserve(source.location_count(), source.location_count());
  std::vector<uint32_t> own;
  for (uint32_t i = 0; i < source.location_count(); ++i) {
    const Location location = source.location(i);
    own.clear();
    if (IsOtherFrame(source, location)) {
      own.push_back(BoundedTree::kOther);
      frames.Append(own);
      continue;
    }
    std::string module;
    if (location.mapping != kNoMapping)
      module = ToValidUtf8(source.string(source.mapping(location.mapping).filename));
    for (size_t line = std::max<size_t>(location.lines.size(), 1); line-- > 0;) {
      const std::string name =
          SimplifyName(ToValidUtf8(FrameNameOf(source, location, line)), detail_);
      const FrameKind kind = KindOf(source, location, module, line);
      // A recount makes no nodes, so that it needs no names that the tree does not have.
      own.push_back(
          tree_.is_recounting()
              ? FindFrame(name, module, kind)
              : FrameOf(name, module, kind, DomainOf(source, location, line, kind, module)));
    }
    frames.Append(own);
  }
  return frames;
}

Status FlameTreeBuilder::Add(const Profile& profile, uint32_t value_index, Side side) {
  return AddSource(profile, value_index, side);
}

Status FlameTreeBuilder::Add(PprofReader& profile, uint32_t value_index, Side side) {
  return AddSource(profile, value_index, side);
}

template <typename Source>
Status FlameTreeBuilder::AddSource(Source& source, uint32_t value_index, Side side) {
  BoundText();
  const Pool<uint32_t> frames = FramesOf(source);
  walker_.Forget();  // its locations were another profile's
  const auto column = static_cast<uint32_t>(side);
  if (column == tree_.columns()) tree_.AddColumn();
  for (uint32_t i = 0; i < source.sample_count(); ++i) {
    const Sample sample = source.sample(i);
    const int64_t value = sample.values[value_index];
    if (value == 0) continue;
    if (value < 0) return Negative();
    const uint32_t node =
        sample.locations.empty()
            ? tree_.ChildOf(BoundedTree::kRoot, FrameOf("[no stack]", "", FrameKind::kUser))
            : walker_.NodeOf(tree_, sample.locations,
                             [&](uint32_t location) { return frames.Get(location); });
    if (!tree_.AddTo(node, column, value))
      return Error(ErrorCode::kExhausted, "the values add up to more than 2^63");
    if (!tree_.IsFull() || tree_.is_recounting()) continue;
    tree_.Prune();
    walker_.Forget();
  }
  return OkStatus();
}

void FlameTreeBuilder::BoundText() {
  // Below this many nodes, most names belong to the profile and not to the tree.
  constexpr uint32_t kFewNodes = 1024;
  if (text_bytes() <= max_text_bytes_ || tree_.is_recounting()) return;
  DropUnusedFrames();
  while (text_bytes() > max_text_bytes_ / 2 && tree_.size() > kFewNodes) {
    tree_.PruneTo(tree_.size() / 2);
    DropUnusedFrames();
  }
}

void FlameTreeBuilder::DropUnusedFrames() {
  const Interner<char> strings = std::exchange(strings_, {});
  const RecordInterner<FlameFrame> frames = std::exchange(frames_, {});
  const std::vector<char> domains = std::exchange(domains_, {});
  const auto text = [&](uint32_t id) {
    const std::span<const char> found = strings.pool().Get(id);
    return std::string_view(found.data(), found.size());
  };
  FrameOf("", "", FrameKind::kUser);
  tree_.MapSymbols([&](uint32_t symbol) {
    const FlameFrame& frame = frames.Get(symbol);
    return FrameOf(text(frame.name), text(frame.module), frame.kind, domains[symbol]);
  });
}

bool FlameTreeBuilder::Recount() {
  if (!tree_.is_pruned() || tree_.is_recounting()) return false;
  tree_.Recount();
  has_empty_ = true;
  walker_.Forget();
  return true;
}

void FlameTreeBuilder::Clear(Side side) {
  walker_.Forget();
  const auto column = static_cast<uint32_t>(side);
  if (column == tree_.columns()) {
    tree_.AddColumn();
  } else if (tree_.columns() == 1 && !tree_.is_recounting()) {
    Restart();
  } else {
    tree_.ClearColumn(column);
    has_empty_ = true;
  }
}

void FlameTreeBuilder::Restart() {
  tree_ = BoundedTree(1, max_nodes_);
  walker_.Forget();
  has_empty_ = false;
}

int64_t FlameTreeBuilder::Total(Side side) const {
  const auto column = static_cast<uint32_t>(side);
  return column < tree_.columns() ? tree_.sum(column) : 0;
}

FlameTree FlameTreeBuilder::Build() && {
  if (has_empty_) tree_.DropEmpty();
  FlameTree built;
  const uint32_t total = FrameOf("total", "", FrameKind::kTotal);
  const uint32_t other = FrameOf("other", "", FrameKind::kOther);
  built.pruned_nodes = tree_.pruned_nodes();
  built.max_hidden = tree_.missing(0);
  if (tree_.is_pruned()) built.max_hidden_share = tree_.max_missing_share();
  built.totals = tree_.Totals(0);
  if (tree_.columns() > 1) {
    built.max_hidden = std::max(built.max_hidden, tree_.missing(1));
    built.left_totals = tree_.Totals(1);
    built.left_selfs = tree_.TakeSelfs(1);
  }
  built.selfs = tree_.TakeSelfs(0);
  built.parents = tree_.TakeParents();
  built.frame_of = tree_.TakeSymbols();
  built.frame_of[BoundedTree::kRoot] = total;
  for (uint32_t node = 1; node < built.size(); ++node) {
    if (built.frame_of[node] == BoundedTree::kOther) built.frame_of[node] = other;
  }
  built.strings = std::move(strings_).TakePool();
  built.frames = std::move(frames_).TakeRecords();
  built.domains = std::move(domains_);
  return built;
}

}  // namespace firetower::profile
