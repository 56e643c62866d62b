// SPDX-License-Identifier: Apache-2.0
#include "store/verify.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "profile/pprof.h"
#include "profile/times/timed_profile.h"
#include "store/bundle.h"
#include "store/capture.h"
#include "store/walk.h"

namespace firetower::store {
namespace {

class Verifier {
 public:
  explicit Verifier(const ObjectStore& store) : store_(store) {}

  Status Check(const StoredObject& object) {
    Result<std::string> bytes = store_.Get(object.key);
    if (!bytes && bytes.error().code() == ErrorCode::kNotFound) return OkStatus();  // just deleted
    ++result_.objects;
    if (!bytes) {
      Damaged(object.key, "", bytes.error());
      return OkStatus();
    }
    result_.bytes += bytes->size();
    if (object.kind == ObjectKind::kCapture) {
      ++result_.entries;
      Result<CatalogRow> row = ReadCaptureRow(*bytes);
      if (!row) {
        Damaged(object.key, "", row.error());
      } else {
        CheckProfile(object.key, "", *bytes);
      }
    } else {
      CheckBundle(object.key, *bytes);
    }
    return OkStatus();
  }
  VerifyResult& result() { return result_; }

 private:
  void Damaged(const std::string& key, const std::string& entry, const Error& error) {
    result_.damaged.push_back({.key = key, .entry = entry, .reason = error.message()});
  }
  void CheckProfile(const std::string& key, const std::string& entry, std::string_view bytes) {
    Result<profile::Profile> decoded = profile::DecodePprof(bytes);
    if (!decoded) Damaged(key, entry, decoded.error());
  }
  void CheckBundle(const std::string& key, std::string_view bytes) {
    const RangeReader read = ReaderOf(bytes);
    Result<BundleIndex> index = ReadBundleIndex(bytes.size(), read);
    if (!index) return Damaged(key, "", index.error());
    for (const BadEntry& bad : index->bad_entries) {
      result_.damaged.push_back({.key = key, .entry = bad.name, .reason = bad.reason});
    }
    result_.entries += index->entries.size() + index->bad_entries.size();
    for (const BundleEntry& entry : index->entries) {
      Result<std::string> data = ReadBundleEntry(entry, read);
      if (!data) {
        Damaged(key, entry.name, data.error());
      } else {
        CheckTimed(key, entry, *data, ReadBundleTimes(entry, read));
      }
    }
  }
  void CheckTimed(const std::string& key, const BundleEntry& entry, std::string_view pprof,
                  const Result<std::string>& times) {
    if (!times) return Damaged(key, TimesEntryName(entry.name), times.error());
    const Result<profile::TimedProfile> decoded = profile::DecodeTimed(pprof, *times);
    if (!decoded) Damaged(key, entry.name, decoded.error());
  }

  const ObjectStore& store_;
  VerifyResult result_;
};

}  // namespace

Result<VerifyResult> VerifyStore(const ObjectStore& store, const VerifyLimits& limits) {
  std::vector<StoredObject> objects;
  const WalkRange range{.kinds = kProfileKinds | static_cast<unsigned>(ObjectKind::kRollUp)};
  RETURN_IF_ERROR(WalkObjects(store, range, [&](const StoredObject& object) {
    objects.push_back(object);
    return OkStatus();
  }));
  std::ranges::sort(objects, [](const StoredObject& a, const StoredObject& b) {
    return std::tie(b.start_s, a.key) < std::tie(a.start_s, b.key);
  });
  Verifier verifier(store);
  for (const StoredObject& object : objects) {
    VerifyResult& result = verifier.result();
    bool first = result.objects == 0;
    if (result.objects >= limits.max_objects ||
        (!first && result.bytes + object.size > limits.max_bytes)) {
      ++result.not_checked;
      continue;
    }
    RETURN_IF_ERROR(verifier.Check(object));
  }
  return std::move(verifier.result());
}

}  // namespace firetower::store
