// SPDX-License-Identifier: Apache-2.0
#include "store/profiles/newest.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "store/find.h"
#include "store/profiles/stored_profile.h"
#include "store/profiles/unstored.h"

namespace firetower::store {
namespace {

// Whether `a` stands before `b` in the list.
bool ComesBefore(const ListedProfile& a, const ListedProfile& b) {
  const auto key = [](const ListedProfile& one) {
    return std::tie(one.row.namespace_name, one.row.pod, one.row.container, one.row.type, one.id);
  };
  if (a.row.start_ns != b.row.start_ns) return a.row.start_ns > b.row.start_ns;
  return key(a) < key(b);
}

}  // namespace

Result<NewestProfiles> ListNewest(const ProfileSource& source, const Query& query, size_t most,
                                  std::span<const OpenProfile> open, const QueryLimits& limits) {
  NewestProfiles newest;
  // A heap whose top is the one that goes first.
  std::vector<ListedProfile>& kept = newest.profiles;
  const auto add = [&](ListedProfile one) {
    ++newest.total;
    kept.push_back(std::move(one));
    std::ranges::push_heap(kept, ComesBefore);
    if (kept.size() <= most) return;
    std::ranges::pop_heap(kept, ComesBefore);
    kept.pop_back();
  };
  Unstored unstored(open);
  RETURN_IF_ERROR(FindProfiles(
      source, query, limits, Resolution::kWindows, &newest.skipped, [&](const FoundProfile& found) {
        unstored.Found(found);
        const std::string entry = found.entry == nullptr ? "" : found.entry->name;
        add({StoredProfileId{*found.key, entry}.ToString(), found.bytes(), *found.row});
        return OkStatus();
      }));
  RETURN_IF_ERROR(unstored.ForEach([&](const OpenProfile& one) {
    if (IsAsked(query, one.row)) add({.row = one.row});
    return OkStatus();
  }));
  std::ranges::sort_heap(kept, ComesBefore);
  return newest;
}

}  // namespace firetower::store
