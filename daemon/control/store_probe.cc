// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/store_probe.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <random>

#include "base/clock.h"
#include "store/verify.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kCheckNs = 5 * kNsPerSecond;
constexpr std::string_view kProbeKey = "v1/.probe";

// Random: a file system that compresses finds room for zeros on a full disk.
std::string ProbeBytes() {
  std::minstd_rand random;
  std::string bytes(kStoreProbeBytes, '\0');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random() >> 8); });
  return bytes;
}

TriesFacts FactsOf(const LastTries& tries, int64_t now_ns) {
  const auto ago = [now_ns](const std::optional<int64_t>& at_ns) -> std::optional<int64_t> {
    if (!at_ns) return std::nullopt;
    return (now_ns - *at_ns) / kNsPerSecond;
  };
  return {ago(tries.succeeded_ns), ago(tries.failed_ns), tries.error};
}

}  // namespace

StoreFacts ProbeStore(store::ObjectStore& store) {
  StoreFacts facts;
  facts.url = store.Describe();
  Result<store::VerifyResult> verified = store::VerifyStore(store);
  if (!verified) {
    facts.error = verified.error();
    return facts;
  }
  for (const store::DamagedObject& damaged : verified->damaged) {
    facts.damaged.push_back(fmt::format("{}{}{}: {}", damaged.key, damaged.entry.empty() ? "" : " ",
                                        damaged.entry, damaged.reason));
  }
  Status written = store.Put(kProbeKey, ProbeBytes());
  if (written) written = store.Delete(kProbeKey);
  if (!written) facts.error = written.error();
  return facts;
}

StoreFacts ProbeStore(StoreSide& side, const Clock& clock) {
  StoreFacts facts;
  if (store::ObjectStore* folder = side.folder()) {
    facts = ProbeStore(*folder);
  } else {
    facts.folder = false;
    facts.url = side.Describe();
    if (const Status listed = side.Check(kCheckNs); !listed) facts.error = listed.error();
    facts.skew_s = side.clock_skew_ns() / kNsPerSecond;
  }
  facts.spool = side.spool_folder();
  const int64_t now_ns = clock.MonotonicNs();
  facts.puts = FactsOf(side.health().puts(), now_ns);
  facts.spooled = FactsOf(side.health().spooled(), now_ns);
  if (const std::optional<store::SpoolFigures> spool = side.spool_figures()) {
    facts.dropped = {spool->dropped_profiles, (now_ns - spool->dropped_at_ns) / kNsPerSecond,
                     spool->drop_reason};
  }
  return facts;
}

}  // namespace firetower::daemon
