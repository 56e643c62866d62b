// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/rollup.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "profile/comments.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "profile/type.h"
#include "store/bundle.h"

namespace firetower::store {
namespace {

struct Source {
  const std::string* bundle;
  BundleEntry entry;
};

// Returns the fields that are equal for all profiles of one container and type.
auto IdentityOf(const CatalogRow& row) {
  return std::tie(row.namespace_name, row.pod, row.container, row.type, row.pod_uid,
                  row.container_id, row.workload, row.service_name, row.node, row.unit);
}

struct ByIdentity {
  bool operator()(const CatalogRow* a, const CatalogRow* b) const {
    return IdentityOf(*a) < IdentityOf(*b);
  }
};

void AddTo(std::vector<std::string>& texts, const std::vector<std::string>& more) {
  std::set<std::string> all(texts.begin(), texts.end());
  all.insert(more.begin(), more.end());
  texts.assign(all.begin(), all.end());
}

void AddTo(CatalogRow& sum, const CatalogRow& row) {
  const int64_t end_ns = std::max(sum.end_ns(), row.end_ns());
  sum.start_ns = std::min(sum.start_ns, row.start_ns);
  sum.duration_ns = end_ns - sum.start_ns;
  sum.samples += row.samples;
  sum.value += row.value;
  AddTo(sum.policies, row.policies);
  AddTo(sum.build_ids, row.build_ids);
}

class RollingUp {
 public:
  RollingUp(const ObjectStore& store, int64_t start_s, const RollUpLimits& limits)
      : store_(store), limits_(limits), writer_(start_s * kNsPerSecond) {}

  void ReadIndex(const std::string& bundle) {
    Result<BundleIndex> index = ReadBundleIndex(store_, bundle);
    if (!index) return result_.skipped.AddUnread(bundle, index.error());
    for (const BadEntry& bad : index->bad_entries)
      result_.skipped.AddDamaged(bundle, bad.name, bad.reason);
    for (BundleEntry& entry : index->entries) sources_.push_back({&bundle, std::move(entry)});
  }

  Result<RolledUp> Finish() && {
    std::map<const CatalogRow*, std::vector<const Source*>, ByIdentity> containers;
    for (const Source& source : sources_) containers[&source.entry.row].push_back(&source);
    for (const auto& [first, sources] : containers) RETURN_IF_ERROR(AddContainer(sources));
    if (writer_.entries() > 0) {
      ASSIGN_OR_RETURN(result_.bytes, std::move(writer_).Finish());
    }
    return std::move(result_);
  }

 private:
  Status AddSource(const Source& source, profile::Merger* merger) const {
    ASSIGN_OR_RETURN(const std::string bytes,
                     ReadBundleEntry(store_, *source.bundle, source.entry));
    return merger->AddPprof(bytes);
  }

  Status AddContainer(const std::vector<const Source*>& sources) {
    profile::Merger merger({.max_samples = 1u << 24, .max_bytes = limits_.max_profile_bytes});
    merger.LeaveOutLabels({std::string(profile::kTraceLabel), std::string(profile::kSpanLabel)});
    if (const auto type = profile::ParseProfileType(sources.front()->entry.row.type))
      merger.WidenTo(type->SampleTypes());
    const auto last = std::ranges::max_element(
        sources, {}, [](const Source* source) { return source->entry.row.end_ns(); });
    CatalogRow row;
    for (const Source* source : sources) {
      merger.LeaveOutLevels(source != *last);
      if (const Status added = AddSource(*source, &merger); !added) {
        result_.skipped.AddLacked(*source->bundle, source->entry.name, added.error().message());
        if (added.error().code() == ErrorCode::kExhausted) return OkStatus();
        continue;
      }
      if (merger.count() == 1)
        row = source->entry.row;
      else
        AddTo(row, source->entry.row);
    }
    if (merger.count() == 0) return OkStatus();
    result_.profiles += merger.count();
    return writer_.Add(row, profile::EncodePprof(std::move(merger).Finish()));
  }

  const ObjectStore& store_;
  const RollUpLimits limits_;
  BundleWriter writer_;
  std::vector<Source> sources_;
  RolledUp result_;
};

}  // namespace

Result<RolledUp> RollUp(const ObjectStore& store, std::span<const std::string> bundles,
                        int64_t start_s, const RollUpLimits& limits) {
  RollingUp rolling(store, start_s, limits);
  for (const std::string& bundle : bundles) rolling.ReadIndex(bundle);
  return std::move(rolling).Finish();
}

}  // namespace firetower::store
