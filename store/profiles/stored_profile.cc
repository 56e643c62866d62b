// SPDX-License-Identifier: Apache-2.0
#include "store/profiles/stored_profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "store/bundle.h"
#include "store/capture.h"
#include "store/key.h"

namespace firetower::store {
namespace {

// A key, and an entry's name with its longest components.
constexpr size_t kMaxIdBytes = 4 * kMaxKeyBytes;

Error NoSuchProfile(const StoredProfileId& id) {
  return {ErrorCode::kNotFound,
          fmt::format("no stored profile has the id '{}': it may have been deleted by its age",
                      id.ToString())};
}

// It is in memory as a whole.
uint64_t MostBytes(const QueryLimits& limits) {
  return std::min(limits.max_read_bytes, limits.max_merged_bytes);
}

Status CheckSize(uint64_t bytes, const QueryLimits& limits) {
  if (bytes <= MostBytes(limits)) return OkStatus();
  return Error(ErrorCode::kExhausted, fmt::format("the profile has {} bytes: an answer may read {}",
                                                  bytes, MostBytes(limits)));
}

bool Allows(const profile::Selector& allowed, const CatalogRow& row) {
  return allowed.Matches([&](std::string_view label) { return LabelValueOf(row, label); });
}

Result<StoredProfile> ReadEntry(const ObjectStore& store, const StoredProfileId& id,
                                const profile::Selector& allowed, const QueryLimits& limits) {
  ASSIGN_OR_RETURN(BundleIndex index, ReadBundleIndex(store, id.key));
  const auto entry = std::ranges::find(index.entries, id.entry, &BundleEntry::name);
  if (entry == index.entries.end() || !Allows(allowed, entry->row)) return NoSuchProfile(id);
  RETURN_IF_ERROR(CheckSize(entry->size, limits));
  StoredProfile found;
  ASSIGN_OR_RETURN(found.pprof_gz, ReadBundleEntry(store, id.key, *entry));
  found.row = std::move(entry->row);
  return found;
}

Result<StoredProfile> ReadCapture(const ObjectStore& store, const StoredProfileId& id,
                                  const profile::Selector& allowed, const QueryLimits& limits) {
  StoredProfile found;
  ASSIGN_OR_RETURN(const uint64_t bytes, store.Size(id.key));
  ASSIGN_OR_RETURN(found.row, ReadCaptureRow(store, id.key, bytes));
  if (!Allows(allowed, found.row)) return NoSuchProfile(id);
  RETURN_IF_ERROR(CheckSize(bytes, limits));
  ASSIGN_OR_RETURN(found.pprof_gz, store.Get(id.key, bytes));
  return found;
}

std::string ClusterOf(const StoredProfileId& id) {
  if (id.entry.empty()) return ParseCaptureKey(id.key)->cluster;
  return ParseBundleKey(id.key)->cluster;
}

}  // namespace

Result<StoredProfileId> StoredProfileId::Parse(std::string_view text) {
  // No key holds a ':'.
  const size_t colon = text.find(':');
  StoredProfileId id{.key = std::string(text.substr(0, colon))};
  if (colon != text.npos) id.entry = text.substr(colon + 1);
  const bool is_entry = std::ranges::count(id.entry, '/') == 3 && ParseBundleKey(id.key);
  const bool is_capture = colon == text.npos && ParseCaptureKey(id.key);
  if (text.size() > kMaxIdBytes || (!is_entry && !is_capture)) {
    return Error(ErrorCode::kInvalid, "not a profile id as a list of profiles returns it");
  }
  return id;
}

std::string StoredProfileId::NamespaceComponent() const {
  if (entry.empty()) return ParseCaptureKey(key)->namespace_name;
  return entry.substr(0, entry.find('/'));
}

Result<StoredProfile> ReadStoredProfile(const ProfileSource& source, const StoredProfileId& id,
                                        const profile::Selector& allowed,
                                        const QueryLimits& limits) {
  const std::optional<std::string> cluster = source.cluster();
  if (cluster && ClusterOf(id) != *cluster) return NoSuchProfile(id);
  const std::unique_ptr<const ObjectStore> store = source.store().Limited(limits.calls);
  Result<StoredProfile> found = id.entry.empty() ? ReadCapture(*store, id, allowed, limits)
                                                 : ReadEntry(*store, id, allowed, limits);
  if (!found && found.error().code() == ErrorCode::kNotFound) return NoSuchProfile(id);
  return found;
}

}  // namespace firetower::store
