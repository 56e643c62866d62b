// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/captures.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "daemon/export/late_names.h"
#include "daemon/export/store_class.h"
#include "diagnosis/findings.h"
#include "profile/type.h"
#include "store/bundle.h"

namespace firetower::daemon {
namespace {

bool IsRecordedFor(const Decision& decision, const std::string& policy) {
  return std::ranges::find(decision.recorded_for, policy) != decision.recorded_for.end();
}

// Tells whether `order` takes the container's samples in a slice.
bool Wants(const CaptureOrder& order, const Slice::ContainerEntry& entry) {
  return order.subject.Takes(*entry.container) && IsRecordedFor(entry.decision, order.policy);
}

// Writes what a diagnosis says of a capture into it: whoever opens the file reads it first.
void AddReport(const store::CatalogRow& row, profile::Profile& profile) {
  if (profile.sample_count() == 0) return;
  constexpr size_t kMostFindings = 3;
  const diagnosis::Report report =
      diagnosis::Diagnose(profile, profile.DefaultValueIndex(), row.type);
  std::vector<std::string> comments = profile.meta().comments;
  for (std::string& line : diagnosis::ReportLines(report, kMostFindings))
    comments.push_back(std::move(line));
  profile.SetComments(std::move(comments));
}

bool IsWithin(const CaptureOrder& order, int64_t time_ns) {
  return time_ns >= order.begin_ns && time_ns < order.end_ns;
}

}  // namespace

bool Captures::Begin(CaptureOrder order, const FlightRecorder& recorder) {
  if (open_.size() >= kMaxOpen) {
    ++refused_;
    return false;
  }
  Open& open = open_.emplace_back();
  open.order = std::move(order);
  open.from_ns = open.order.end_ns;
  for (const Slice& slice : recorder.slices()) Add(open, slice);
  return true;
}

void Captures::Take(const Slice& slice) {
  for (Open& open : open_) {
    for (auto& [key, part] : open.parts) part.profile.LookAgain();
    Add(open, slice);
  }
}

size_t Captures::Bytes() const {
  size_t bytes = 0;
  for (const Open& open : open_) {
    for (const auto& [key, part] : open.parts) bytes += part.profile.bytes();
  }
  return bytes;
}

void Captures::FindEarlier(const Open& open, const Slice& slice) {
  earlier_.clear();
  const auto consider = [&](const CaptureOrder& order) {
    if (order.end_ns > slice.begin_ns - kLateNs && order.begin_ns < slice.end_ns)
      earlier_.push_back(&order);
  };
  for (const CaptureOrder& past : past_) consider(past);
  for (const Open& other : open_) {
    if (&other == &open) break;
    // A capture that dropped samples is not counted, because its samples may be nowhere else.
    if (other.dropped == 0) consider(other.order);
  }
}

bool Captures::IsTaken(const Slice& slice, const Slice::Timed& timed) const {
  const Slice::ContainerEntry& entry = slice.containers[slice.rows[timed.row].container];
  return std::ranges::any_of(earlier_, [&](const CaptureOrder* order) {
    return IsWithin(*order, timed.time_ns) && Wants(*order, entry);
  });
}

void Captures::AddUp(const Open& open, const Slice& slice) {
  own_.assign(slice.rows.size(), {});
  also_.assign(slice.rows.size(), {});
  FindEarlier(open, slice);
  for (const Slice::Timed& timed : slice.timed) {
    const Slice::Row& row = slice.rows[timed.row];
    if (!IsWithin(open.order, timed.time_ns)) continue;
    if (!Wants(open.order, slice.containers[row.container])) continue;
    (IsTaken(slice, timed) ? also_ : own_)[timed.row] += timed.amount;
  }
}

void Captures::Add(Open& open, const Slice& slice) {
  const CaptureOrder& order = open.order;
  if (slice.timed.empty() || slice.begin_ns >= order.end_ns + kLateNs) return;
  AddUp(open, slice);
  if (slice.end_ns > order.begin_ns) {
    open.from_ns = std::min(open.from_ns, std::max(slice.begin_ns, order.begin_ns));
  }
  const bool full = Bytes() >= max_bytes_;
  for (uint32_t row = 0; row < slice.rows.size(); ++row) {
    const uint64_t count = own_[row].count + also_[row].count;
    if (own_[row].empty() && also_[row].empty()) continue;
    if (full) {
      open.dropped += count;
      dropped_samples_ += count;
    } else {
      AddRow(open, slice, row);
    }
  }
}

void Captures::AddRow(Open& open, const Slice& slice, uint32_t index) {
  const Slice::Row& row = slice.rows[index];
  const Slice::ContainerEntry& entry = slice.containers[row.container];
  Part& part = PartOf(open, entry);
  const auto add = [&](const Amount& amount, std::string_view also) {
    if (amount.empty()) return;
    if (!also.empty()) {
      part.also_samples += static_cast<int64_t>(amount.count);
      part.also_value += static_cast<int64_t>(amount.value);
    }
    part.profile.AddRow(slice, row, amount, also);
  };
  const bool in_window = entry.decision.to_store;
  add(own_[index], in_window ? store::kAlsoInWindow : "");
  add(also_[index], in_window ? store::kAlsoInWindow : store::kAlsoInCapture);
}

Captures::Part& Captures::PartOf(Open& open, const Slice::ContainerEntry& entry) {
  const std::pair key{entry.container.get(), entry.type};
  auto found = open.parts.find(key);
  if (found == open.parts.end()) {
    const CaptureOrder& order = open.order;
    ContainerProfile profile(namer_, labels_, entry, order.begin_wall_ns);
    profile.NotePolicy(order.policy);
    profile.NoteComment("capture=" + order.id + " " + order.reason);
    found = open.parts.try_emplace(key, Part{std::move(profile)}).first;
    names_.Note(entry.container, entry.decision);
  }
  found->second.profile.NoteRate(entry.decision);
  return found->second;
}

bool Captures::Named(const Open& open, bool last) {
  bool named = true;
  for (const auto& [key, part] : open.parts) {
    if (last) names_.GiveUp(part.profile.container());
    named &= names_.NameOf(part.profile.container()).name != nullptr;
  }
  return named;
}

void Captures::NameLateFrames(Open& open, int64_t deadline_ns) {
  std::vector<ContainerProfile*> late;
  for (auto& [key, part] : open.parts) {
    if (part.profile.waits_for_names()) late.push_back(&part.profile);
  }
  NameLate(namer_, late, deadline_ns, nullptr);
}

void Captures::Finish(Open& open, std::vector<Finished>& out) {
  const CaptureOrder& order = open.order;
  for (auto& [key, part] : open.parts) {
    const std::shared_ptr<const ContainerName> name = names_.NameOf(part.profile.container()).name;
    if (name && name->opted_out) continue;
    part.profile.LookAgain();
    if (open.dropped > 0) {
      part.profile.NoteComment(fmt::format(
          "firetower: {} samples of capture {} are missing: no room", open.dropped, order.id));
    }
    part.profile.SetTime(order.begin_wall_ns + (open.from_ns - order.begin_ns),
                         order.begin_wall_ns + (order.end_ns - order.begin_ns));
    profile::Profile profile = part.profile.Build(name.get(), node_);
    store::CatalogRow row = part.profile.Row(name.get(), node_);
    AddReport(row, profile);
    row.capture = order.id;
    row.also_samples = part.also_samples;
    row.also_value = part.also_value;
    out.push_back({std::move(row), std::move(profile), StoreClass(order.retention)});
  }
}

std::vector<Captures::Finished> Captures::TakeFinished(int64_t now_ns, bool last) {
  std::erase_if(past_, [&](const CaptureOrder& past) { return past.end_ns + kPastNs <= now_ns; });
  std::vector<Finished> out;
  const int64_t names_by_ns = Clock::System().MonotonicNs() + kLateNamesNs;
  std::erase_if(open_, [&](Open& open) {
    if (last) {
      // The capture ends early, so its time ends now.
      open.order.end_ns = std::clamp(now_ns, open.from_ns, open.order.end_ns);
    } else if (now_ns < open.order.end_ns + kLateNs) {
      return false;
    }
    if (!Named(open, last)) return false;
    NameLateFrames(open, names_by_ns);
    Finish(open, out);
    if (open.dropped == 0) past_.push_back(std::move(open.order));
    return true;
  });
  return out;
}

store::CaptureKey CaptureKeyOf(const store::CatalogRow& row, store::RetentionClass retention,
                               std::string cluster) {
  // A row has the type's name, which may hold what no key may.
  const Result<profile::ProfileType> type = profile::ParseProfileType(row.type);
  store::CaptureKey key;
  key.retention = retention;
  key.cluster = std::move(cluster);
  key.namespace_name = store::ToKeyComponent(row.namespace_name);
  key.pod = store::ToKeyComponent(row.pod);
  key.start_s = row.start_ns / kNsPerSecond;
  key.seconds = (row.duration_ns + kNsPerSecond - 1) / kNsPerSecond;
  key.container = store::ToKeyComponent(row.container);
  key.type = type ? type->FileToken() : row.type;
  key.id = store::ProfileId(row);
  return key;
}

}  // namespace firetower::daemon
