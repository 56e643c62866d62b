// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/window.h"

#include <algorithm>

namespace firetower::daemon {

Window::Open& Window::OpenFor(const Slice::ContainerEntry& entry, const Slice& slice) {
  std::unique_ptr<Open>& open = profiles_[{entry.container.get(), entry.type}];
  if (!open) {
    open = std::make_unique<Open>(
        Open{ContainerProfile(namer_, options_.labels, entry, slice.begin_wall_ns),
             names_.NameOf(entry.container).name});
  }
  open->profile.Cover(slice.begin_wall_ns, slice.end_wall_ns);
  open->profile.NoteDecision(entry.decision);
  open->retention = std::max(open->retention, entry.decision.retention);
  return *open;
}

void Window::Add(const Slice& slice) {
  if (profiles_.empty()) start_ns_ = slice.window_start_ns;
  for (auto& [key, open] : profiles_) {
    LookForName(*open);
    open->profile.LookAgain();
  }
  for (const Slice::Row& row : slice.rows) {
    if (!slice.containers[row.container].decision.to_store) continue;
    const NamedContainer& named = names_.NameOf(slice.containers[row.container].container);
    if (named.name && named.name->LeftOut()) opted_out_samples_ += row.amount.count;
    if (named.name && !named.name->Stored()) continue;
    OpenFor(slice.containers[row.container], slice).profile.AddRow(slice, row);
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

std::vector<store::OpenProfile> Window::Snapshot() const {
  std::vector<store::OpenProfile> out;
  for (const auto& [key, open] : profiles_) {
    const ContainerName* name = open->name.get();
    if (name == nullptr || !name->Stored()) continue;
    out.push_back(
        {open->profile.Row(name, options_.node),
         std::make_shared<const profile::Profile>(open->profile.Copy(name, options_.node))});
  }
  return out;
}

std::vector<Window::Finished> Window::Take() {
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
    Finished finished{{open->profile.Row(name, options_.node), profile},
                      open->retention,
                      open->profile.container(),
                      nullptr};
    if (name == nullptr) finished.unnamed = std::move(profile);
    out.push_back(std::move(finished));
  }
  profiles_.clear();
  return out;
}

}  // namespace firetower::daemon
