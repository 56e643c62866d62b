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
  // Longest random delay of objects that come into an empty spool or are there at the start,
  // because all nodes of a cluster end their windows at the same moment.
  int64_t spread_ns = 0;
  // After a refusal the next try comes after a random part of a time that doubles between these.
  int64_t first_retry_ns = kNsPerSecond;
  int64_t last_retry_ns = 60 * kNsPerSecond;
  // At the end an upload under way is broken off, and what is left is uploaded for as long, without
  // waiting in between, until the store refuses.
  int64_t finish_ns = 20 * kNsPerSecond;
};

// The `upload` thread: takes what is spooled to the store, the oldest first, one at a time, until
// the store has taken it. An object leaves the spool only then; a kill in between uploads the same
// bytes under the same name once more.
//
// What the store refuses is passed over until the rest has had its turn. It waits in the spool
// like any other, for somebody to change what is in the way; only one that the store calls invalid,
// takes another, and calls invalid again, is dropped and counted. So is what this disk damaged.
class Uploader {
 public:
  // On its thread, of each try.
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
  // Something was spooled. Any thread.
  void Notify() { thread_.Notify(); }
  // Uploads what is left while there is time; what then is left stays in the spool.
  void Finish();

 private:
  void Run(std::stop_token stop, WakeFd& wake);
  std::optional<std::string> OldestNotSkipped() const;
  // False when the store refused.
  bool UploadNext(const CallLimits& limits);
  void SkipForNow(const std::string& key, const Error& error);
  Status Upload(const std::string& key, const CallLimits& limits);
  // Logs whether the store can be listed, before anything is uploaded: a wrong bucket or key is
  // told of at the start. Uploads are tried all the same.
  void TellCheck(const std::stop_token& stop);
  // Log a refusal once, until the store says something else or takes uploads again.
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
  // Last state that was logged, for the store and for each key that is not passed yet. A key that
  // alone is refused is not logged again whenever others are taken. Empty: the store takes uploads.
  std::string told_;
  std::map<std::string, std::string> told_of_;
  int tries_ = 0;  // of one object in a row, for which the store was away
  NamedThread thread_;
};

}  // namespace firetower::store
