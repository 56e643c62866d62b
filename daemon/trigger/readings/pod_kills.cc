// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/readings/pod_kills.h"

#include "daemon/trigger/readings/kernel_text.h"

namespace firetower::daemon {

void PodKills::Look(const std::vector<KillMember*>& members, int64_t moment_ns) {
  if (const CounterFile::Text text = events_.Read()) {
    if (const std::optional<uint64_t> count = FindCount(text.text, "oom_kill")) {
      const uint64_t before = counted_.value_or(*count);
      reported_ += *count >= before ? *count - before : *count;
      counted_ = count;
    }
  }
  KillMember* went = nullptr;
  for (KillMember* member : members) {
    const ContainerReader::Kills& kills = member->reader->ReadKills(moment_ns);
    explained_ += kills.count - member->seen;
    member->seen = kills.count;
    if (kills.missing != NoReading::kGone) {
      member->gone_since_ns.reset();
      member->closed = false;
      continue;
    }
    if (!member->gone_since_ns) member->gone_since_ns = moment_ns;
    if (!member->closed && moment_ns - *member->gone_since_ns <= kWaitNs) went = member;
  }
  if (reported_ <= explained_) {
    unexplained_since_ns_.reset();
    return;
  }
  if (!unexplained_since_ns_) unexplained_since_ns_ = moment_ns;
  if (went != nullptr) {
    went->assigned += reported_ - explained_;
    went->closed = true;
    explained_ = reported_;
  } else if (moment_ns - *unexplained_since_ns_ >= kWaitNs) {
    explained_ = reported_;
  }
}

}  // namespace firetower::daemon
