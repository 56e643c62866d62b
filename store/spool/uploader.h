// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/thread.h"
#include "store/spool/spool.h"
#include "store/store.h"

namespace firetower::store {

struct UploaderOptions {
  // The longest random delay for objects that enter an empty spool or exist at the start, because
  // all nodes of a cluster end their windows at the same moment.
  int64_t spread_ns = 0;
  // After a refusal the next try waits for a random part of a time that doubles between these two.
  int64_t first_retry_ns = kNsPerSecond;
  int64_t last_retry_ns = 60 * kNsPerSecond;
  // At the end the current upload is cancelled; the remaining objects are uploaded for this time,
  // without pauses, until the store refuses.
  int64_t finish_ns = 20 * kNsPerSecond;
};

// The `upload` thread: uploads spooled objects, the oldest first, one at a time. An object leaves
// the spool only after the store has accepted it; after a kill in between, the same bytes are
// uploaded again under the same name.
//
// A refused object is skipped until all others had their turn. It stays in the spool, because
// somebody may remove the obstacle. It is dropped and counted only if the store calls it invalid,
// accepts another one, and calls it invalid again. Objects that this disk damaged are dropped and
// counted too.
class Uploader {
 public:
  // Called on the upload thread after each try.
  using OnPut = std::function<void(const Status& put, int64_t duration_ns)>;

  // Borrows all references, which must outlive this.
  Uploader(Spool& spool, ObjectStore& store, const Clock& clock, const UploaderOptions& options,
           OnPut on_put)
      : spool_(spool),
        store_(store),
        clock_(clock),
        options_(options),
        on_put_(std::move(on_put)) {}
  ~Uploader() { Finish(); }

  void Start();
  // Reports that an object was spooled. Any thread.
  void Notify() { thread_.Notify(); }
  // Uploads while there is time; the rest stays in the spool.
  void Finish();

 private:
  void Run(std::stop_token stop, WakeFd& wake);
  std::optional<std::string> OldestNotSkipped() const;
  // Returns false when the store refused.
  bool UploadNext(const CallLimits& limits);
  void SkipForNow(const std::string& key, const Error& error);
  Status Upload(const std::string& key, const CallLimits& limits);
  // Logs whether the store can be listed, before the first upload, so that a wrong bucket or key is
  // reported at the start. Uploads are tried in any case.
  void TellCheck(const std::stop_token& stop);
  // Log a refusal once, until the store's answer changes or it accepts uploads again.
  void TellRefused(const std::string& key, const Error& error);
  void TellTaken(const std::string& key);
  void UploadRest();

  Spool& spool_;
  ObjectStore& store_;
  const Clock& clock_;
  const UploaderOptions options_;
  const OnPut on_put_;
  // Keys of the spool, both.
  std::set<std::string> skipped_;            // refused since all had their turn
  std::map<std::string, uint64_t> invalid_;  // so many were taken when the store said so
  uint64_t taken_ = 0;
  // The last logged state of the store, and of each key that is not skipped yet. A key that alone
  // is refused is not logged again whenever others are accepted. Empty: the store accepts uploads.
  std::string told_;
  std::map<std::string, std::string> told_of_;
  int tries_ = 0;  // of one object in a row, for which the store was away
  NamedThread thread_;
};

}  // namespace firetower::store
