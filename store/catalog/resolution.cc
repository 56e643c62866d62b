// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/resolution.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/clock.h"

namespace firetower::store {
namespace {

// An entry, as far as the choice goes by it.
struct Candidate {
  size_t index = 0;
  int64_t start_s = 0;
  int64_t seconds = 0;
  int64_t samples = 0;
  bool rolled_up = false;
  bool chosen = true;

  bool Holds(const Candidate& other) const {
    return other.start_s >= start_s && other.start_s + other.seconds <= start_s + seconds;
  }
};

// Chooses among the candidates of one container and type, one run and one retention class.
void ChooseAmong(std::vector<Candidate>& candidates, int64_t from_ns, int64_t to_ns) {
  std::ranges::stable_sort(candidates, std::greater(), &Candidate::seconds);
  for (Candidate& one : candidates) {
    if (!one.rolled_up || !one.chosen) continue;
    // Windows by their start: one may end in the next interval.
    const auto is_inside = [&](const Candidate& other) {
      return !other.rolled_up && other.start_s >= one.start_s &&
             other.start_s < one.start_s + one.seconds;
    };
    int64_t known = 0;
    for (const Candidate& other : candidates) {
      if (is_inside(other)) known += other.samples;
    }
    one.chosen = one.start_s * kNsPerSecond >= from_ns &&
                 (one.start_s + one.seconds) * kNsPerSecond <= to_ns && one.samples >= known;
    if (!one.chosen) continue;
    for (Candidate& other : candidates) {
      if (&other != &one && (is_inside(other) || (other.rolled_up && one.Holds(other))))
        other.chosen = false;
    }
  }
}

}  // namespace

FoundEntries ChooseResolution(FoundEntries found, int64_t from_ns, int64_t to_ns) {
  using Text = std::string_view;  // of `found`
  using Identity = std::tuple<RetentionClass, Text, Text, Text, Text, Text, Text, Text, Text>;
  std::map<Identity, std::vector<Candidate>> groups;
  for (size_t i = 0; i < found.size(); ++i) {
    const BundleKey& key = found[i]->key;
    const CatalogRow& row = found[i]->one.entry.row;
    groups[Identity(key.retention, key.cluster, key.node, key.run, row.namespace_name, row.pod,
                    row.container, row.container_id, row.type)]
        .push_back({i, key.start_s, key.seconds, row.samples, key.rolled_up});
  }
  std::vector<bool> left_out(found.size());
  for (auto& [identity, candidates] : groups) {
    ChooseAmong(candidates, from_ns, to_ns);
    for (const Candidate& one : candidates) left_out[one.index] = !one.chosen;
  }
  size_t kept = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!left_out[i]) std::swap(found[kept++], found[i]);
  }
  found.resize(kept);
  return found;
}

}  // namespace firetower::store
