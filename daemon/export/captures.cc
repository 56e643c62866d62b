// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/captures.h"

#include <algorithm>
#include <utility>

#include "daemon/export/store_class.h"

namespace firetower::daemon {
bool Captures::Begin(CaptureOrder order, const FlightRecorder& recorder) {
  if (open_.size() >= kMaxOpen) return false;
  Open& open = open_.emplace_back();
  open.order = std::move(order);
  open.from_ns = open.order.end_ns;
  for (const Slice& slice : recorder.slices()) Add(open, slice);
  return true;
}

void Captures::Take(const Slice& slice) {
  for (Open& open : open_) {
    for (auto& [container, part] : open.parts) part.profile.LookAgain();
    Add(open, slice);
  }
}

void Captures::Add(Open& open, const Slice& slice) {
  const CaptureOrder& order = open.order;
  if (slice.timed.empty() || slice.begin_ns >= order.end_ns + kLateNs) return;
  sums_.assign(slice.rows.size(), {});
  for (const Slice::Timed& timed : slice.timed) {
    if (timed.time_ns < order.begin_ns || timed.time_ns >= order.end_ns) continue;
    ++sums_[timed.row].count;
    sums_[timed.row].value += timed.value;
  }
  if (slice.end_ns > order.begin_ns) {
    open.from_ns = std::min(open.from_ns, std::max(slice.begin_ns, order.begin_ns));
  }
  for (size_t i = 0; i < sums_.size(); ++i) {
    const Sum& sum = sums_[i];
    const Slice::Row& row = slice.rows[i];
    const Slice::ContainerEntry& entry = slice.containers[row.container];
    if (sum.count == 0 || !order.whom.Takes(*entry.container)) continue;
    const std::vector<std::string>& by = entry.decision.recorded_for;
    if (std::ranges::find(by, order.policy) == by.end()) continue;
    Part& part = PartOf(open, entry);
    const bool also = entry.decision.to_store;
    if (also) {
      part.also_samples += static_cast<int64_t>(sum.count);
      part.also_value += static_cast<int64_t>(sum.value);
    }
    part.profile.AddRow(slice, row, sum.count, sum.value, also ? store::kAlsoInWindow : "");
  }
}

Captures::Part& Captures::PartOf(Open& open, const Slice::ContainerEntry& entry) {
  auto found = open.parts.find(entry.container.get());
  if (found == open.parts.end()) {
    const CaptureOrder& order = open.order;
    ContainerProfile profile(namer_, labels_, entry.container, order.begin_wall_ns);
    profile.NotePolicy(order.policy);
    profile.NoteComment("capture=" + order.id + " " + order.reason);
    found = open.parts.try_emplace(entry.container.get(), Part{std::move(profile)}).first;
    names_.Note(entry.container, entry.decision);
  }
  found->second.profile.NoteRate(entry.decision.frequency_hz);
  return found->second;
}

bool Captures::Named(const Open& open, bool last) {
  bool named = true;
  for (const auto& [container, part] : open.parts) {
    if (last) names_.GiveUp(part.profile.container());
    named &= names_.NameOf(part.profile.container()).name != nullptr;
  }
  return named;
}

void Captures::Finish(Open& open, std::vector<Finished>& out) {
  const CaptureOrder& order = open.order;
  for (auto& [container, part] : open.parts) {
    const std::shared_ptr<const ContainerName> name = names_.NameOf(part.profile.container()).name;
    if (name && name->opted_out) continue;
    part.profile.LookAgain();
    part.profile.SetTime(order.begin_wall_ns + (open.from_ns - order.begin_ns),
                         order.begin_wall_ns + (order.end_ns - order.begin_ns));
    profile::Profile profile = part.profile.Build(name.get(), node_);
    store::CatalogRow row = part.profile.Row(name.get(), node_);
    row.capture = order.id;
    row.also_samples = part.also_samples;
    row.also_value = part.also_value;
    out.push_back({std::move(row), std::move(profile), StoreClass(order.retention)});
  }
}

std::vector<Captures::Finished> Captures::TakeFinished(int64_t now_ns, bool last) {
  std::vector<Finished> out;
  std::erase_if(open_, [&](Open& open) {
    if (last) {
      // What was not to come any more is no part of the time it covers.
      open.order.end_ns = std::clamp(now_ns, open.from_ns, open.order.end_ns);
    } else if (now_ns < open.order.end_ns + kLateNs) {
      return false;
    }
    if (!Named(open, last)) return false;
    Finish(open, out);
    return true;
  });
  return out;
}

}  // namespace firetower::daemon
