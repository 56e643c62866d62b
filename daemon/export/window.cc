// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/window.h"

#include <algorithm>
#include <optional>

namespace firetower::daemon {

Window::Open& Window::OpenFor(const Slice::ContainerEntry& entry) {
  std::unique_ptr<Open>& open = profiles_[{entry.container.get(), entry.type}];
  if (!open) {
    open = std::make_unique<Open>(Open{ContainerProfile(namer_, options_.labels, entry, begin_ns_),
                                       names_.NameOf(entry.container).name});
  }
  open->profile.Cover(begin_ns_, end_ns_);
  open->profile.NoteDecision(entry.decision);
  open->retention = std::max(open->retention, entry.decision.retention);
  return *open;
}

void Window::Add(const Slice& slice) {
  if (profiles_.empty()) start_ns_ = slice.window_start_ns;
  open_ = true;
  begin_ns_ = slice.begin_wall_ns;
  end_ns_ = slice.end_wall_ns;
  heaps_.LookAgain();
  for (auto& [key, open] : profiles_) {
    LookForName(*open);
    open->profile.LookAgain();
  }
  placed_.assign(slice.rows.size(), {});
  for (size_t i = 0; i < slice.rows.size(); ++i) {
    const Slice::Row& row = slice.rows[i];
    if (!slice.containers[row.container].decision.to_store) continue;
    const NamedContainer& named = names_.NameOf(slice.containers[row.container].container);
    if (named.name && named.name->LeftOut()) opted_out_samples_ += row.amount.count;
    if (named.name && !named.name->Stored()) continue;
    ContainerProfile& profile = OpenFor(slice.containers[row.container]).profile;
    if (const std::optional<uint32_t> sample = profile.AddRow(slice, row))
      placed_[i] = {&profile, *sample};
  }
  heaps_.Take(slice);
  if (!options_.labels.times) return;
  const bool lacks_times = slice.timed.size() >= Slice::kMaxTimed;
  for (const Slice::Timed& timed : slice.timed) {
    const Placed& placed = placed_[timed.row];
    if (placed.profile == nullptr) continue;
    if (lacks_times) {
      placed.profile->ForgetTimes();
    } else {
      placed.profile->NoteTime(slice.WallNs(timed.time_ns), placed.sample);
    }
  }
}

void Window::LookForName(Open& open) { open.name = names_.NameOf(open.profile.container()).name; }

bool Window::waits_for_names() const {
  return std::ranges::any_of(profiles_,
                             [](const auto& it) { return it.second->profile.waits_for_names(); });
}

std::vector<ContainerProfile*> Window::LateProfiles() {
  std::vector<ContainerProfile*> late;
  for (auto& [key, open] : profiles_) {
    if (open->profile.waits_for_names()) late.push_back(&open->profile);
  }
  return late;
}

void Window::PutName(const ContainerName& name, Finished& finished) const {
  daemon::PutName(name, options_.node, finished.open.row, *finished.unnamed);
  finished.unnamed = nullptr;
}

store::OpenProfile Window::OpenProfileOf(const Open& open,
                                         std::shared_ptr<const profile::Profile> profile,
                                         const ContainerName* name) const {
  store::OpenProfile out{open.profile.Row(name, options_.node), std::move(profile)};
  if (!open.profile.times().empty())
    out.times = std::make_shared<const profile::SampleTimes>(open.profile.times());
  return out;
}

std::vector<store::OpenProfile> Window::Snapshot() const {
  std::vector<store::OpenProfile> out;
  for (const auto& [key, open] : profiles_) {
    const ContainerName* name = open->name.get();
    if (name == nullptr || !name->Stored()) continue;
    auto copy = std::make_shared<const profile::Profile>(CopyOf(*open, name));
    out.push_back(OpenProfileOf(*open, std::move(copy), name));
  }
  return out;
}

profile::Profile Window::CopyOf(const Open& open, const ContainerName* name) const {
  const LiveHeaps::Live* live = heaps_.Find(open.profile.container().get());
  if (live == nullptr || !open.profile.is_of_memory())
    return open.profile.Copy(name, options_.node);
  ContainerProfile with = open.profile;
  with.SetInUse(live->in_use());
  return with.Copy(name, options_.node);
}

void Window::TakeInUse() {
  heaps_.LookAgain();
  heaps_.ForEach([&](const LiveHeaps::Live& live) {
    const NamedContainer& named = names_.NameOf(live.entry.container);
    if (named.name && !named.name->Stored()) return;
    OpenFor(live.entry).profile.SetInUse(live.in_use());
  });
}

std::vector<Window::Finished> Window::Take() {
  TakeInUse();
  open_ = false;
  std::vector<Finished> out;
  for (auto& [key, open] : profiles_) {
    LookForName(*open);
    const ContainerName* name = open->name.get();
    if (name != nullptr && name->LeftOut()) {
      opted_out_samples_ += static_cast<uint64_t>(open->profile.samples());
    }
    if (name != nullptr && !name->Stored()) continue;
    open->profile.LookAgain();
    auto profile = std::make_shared<profile::Profile>(open->profile.Build(name, options_.node));
    Finished finished{OpenProfileOf(*open, profile, name), open->retention,
                      open->profile.container(), nullptr};
    if (name == nullptr) finished.unnamed = std::move(profile);
    out.push_back(std::move(finished));
  }
  profiles_.clear();
  return out;
}

}  // namespace firetower::daemon
