// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/store_probe.h"

#include <fmt/core.h>

#include <algorithm>
#include <random>

#include "base/clock.h"
#include "store/verify.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kCheckNs = 5 * kNsPerSecond;
constexpr std::string_view kRefused = "it did not take the profiles that were written last";
constexpr std::string_view kProbeKey = "v1/.probe";

// Random: a file system that compresses finds room for zeros on a full disk.
std::string ProbeBytes() {
  std::minstd_rand random;
  std::string bytes(kStoreProbeBytes, '\0');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random() >> 8); });
  return bytes;
}

}  // namespace

StoreFacts ProbeStore(store::ObjectStore& store, bool put_failed) {
  StoreFacts facts;
  facts.url = store.Describe();
  Result<store::VerifyResult> verified = store::VerifyStore(store);
  if (!verified) {
    facts.error = verified.error().message();
    return facts;
  }
  for (const store::DamagedObject& damaged : verified->damaged) {
    facts.damaged.push_back(fmt::format("{}{}{}: {}", damaged.key, damaged.entry.empty() ? "" : " ",
                                        damaged.entry, damaged.reason));
  }
  Status written = store.Put(kProbeKey, ProbeBytes());
  if (written) written = store.Delete(kProbeKey);
  if (!written) {
    facts.error = written.error().message();
  } else if (put_failed) {
    facts.error = kRefused;
  }
  return facts;
}

StoreFacts ProbeStore(StoreSide& side, bool put_failed) {
  if (store::ObjectStore* folder = side.folder()) return ProbeStore(*folder, put_failed);
  StoreFacts facts;
  facts.url = side.Describe();
  if (const Status reached = side.Check(kCheckNs); !reached) {
    facts.error = reached.error().message();
  } else if (put_failed) {
    facts.error = kRefused;
  }
  facts.skew_s = side.clock_skew_ns() / kNsPerSecond;
  return facts;
}

}  // namespace firetower::daemon
