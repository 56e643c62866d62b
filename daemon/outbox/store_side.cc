// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/store_side.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "store/dir_store.h"
#include "store/spool/drain.h"

namespace firetower::daemon {
namespace {

// The time per minute for which new windows wait while objects are moved out of a spool.
constexpr int64_t kMoveNs = kNsPerSecond;

// Below a store's folder there are profiles, or were.
bool HoldsProfiles(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::is_directory(folder + "/v1", ignored);
}

}  // namespace

Result<std::unique_ptr<StoreSide>> StoreSide::Open(const StoreSideOptions& options,
                                                   const Clock& clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<store::ObjectStore> store, store::OpenStore(options.url));
  std::unique_ptr<StoreSide> side(new StoreSide(options, clock, std::move(store)));
  if (options.url.starts_with("file://")) {
    side->readable_.emplace(*side->store_);
    side->OpenLeftoverSpool();
    return side;
  }
  ASSIGN_OR_RETURN(side->spool_,
                   store::Spool::Open(options.spool_folder, options.spool_bytes, clock));
  side->spooled_ = std::make_unique<store::SpooledStore>(
      *side->spool_, *side->store_, [side = side.get()] { side->uploader_->Notify(); });
  const store::ObjectStore& spool = side->spool_->all();
  side->readable_.emplace(options.serve_others ? *side->spooled_ : spool);
  side->OpenFormerFolder();
  return side;
}

void StoreSide::OpenLeftoverSpool() {
  if (options_.spool_folder.empty()) return;
  Result<std::unique_ptr<store::Spool>> left =
      store::Spool::OpenLeftover(options_.spool_folder, clock_);
  if (!left) {
    LOG(kWarn, "spooled objects for another store stay in the spool",
        {{"spool", options_.spool_folder}, {"why", left.error().message()}});
    return;
  }
  left_ = *std::move(left);
  if (!left_) return;
  const store::SpoolFigures figures = left_->figures();
  LOG(kInfo, "spooled objects for another store are moved into this one",
      {{"spool", options_.spool_folder},
       {"store", Describe()},
       {"objects", figures.objects},
       {"bytes", figures.bytes}});
}

void StoreSide::MoveLeftover() {
  if (!left_ || !left_->Oldest()) return;
  const Result<uint64_t> moved =
      store::DrainSpool(*left_, *store_, clock_, clock_.MonotonicNs() + kMoveNs);
  if (!moved) {
    if (const std::optional<uint64_t> tries = not_moved_.OnRefused(moved.error()))
      LOG(kError, "not moved from the spool, tried again every minute",
          {{"spool", options_.spool_folder},
           {"tries", *tries},
           {"error", moved.error().message()}});
    return;
  }
  (void)not_moved_.OnTaken();  // the line below tells it
  LOG(kInfo, "moved from the spool",
      {{"objects", *moved}, {"left", left_->figures().objects}, {"store", Describe()}});
}

void StoreSide::OpenFormerFolder() {
  if (options_.former_folder.empty() || !HoldsProfiles(options_.former_folder)) return;
  Result<std::unique_ptr<store::DirStore>> former = store::DirStore::Open(options_.former_folder);
  if (!former) {
    LOG(kWarn, "profiles in the former store folder stay on the node: delete them there",
        {{"folder", options_.former_folder}, {"why", former.error().message()}});
    return;
  }
  former_ = *std::move(former);
  LOG(kInfo, "profiles in the former store folder stay on the node until they expire",
      {{"folder", options_.former_folder},
       {"short_seconds", options_.retention.short_seconds},
       {"standard_seconds", options_.retention.standard_seconds},
       {"long_seconds", options_.retention.long_seconds}});
}

void StoreSide::SweepFormerFolder() {
  if (!former_) return;
  store::SweepFigures swept;
  const Status result = store::SweepByAge(*former_, options_.retention, clock_, swept);
  if (result) {
    (void)not_swept_.OnTaken();  // the line below tells it
  } else if (const std::optional<uint64_t> tries = not_swept_.OnRefused(result.error())) {
    LOG(kWarn,
        "expired profiles in the former store folder are not deleted, tried again every minute",
        {{"folder", options_.former_folder},
         {"tries", *tries},
         {"error", result.error().message()}});
  }
  if (swept.deleted_objects > 0) {
    LOG(kInfo, "retention in the former store folder",
        {{"folder", options_.former_folder},
         {"deleted", swept.deleted_objects},
         {"bytes", swept.deleted_bytes}});
  }
  if (!HoldsProfiles(options_.former_folder)) former_.reset();
}

ObjectSink& StoreSide::Connect(StoreObserver& observer) {
  health_.ForwardTo(observer);
  std::function<void()> every_minute;
  if (spool_) {
    uploader_ = std::make_unique<store::Uploader>(
        *spool_, *store_, clock_,
        store::UploaderOptions{.spread_ns = options_.spread_ns, .finish_ns = options_.finish_ns},
        [this](const Status& put, int64_t duration_ns) {
          health_.OnStoreOperation("put", put, duration_ns);
        });
    rollups_.emplace(spool_->all(), *spooled_, clock_, options_.cluster, options_.node);
    every_minute = [this] {
      rollups_->Look();
      SweepFormerFolder();
    };
  } else {
    sweep_.emplace(*store_, health_, clock_, options_.retention);
    // Moves first, so that expired objects are deleted at once.
    every_minute = [this] {
      MoveLeftover();
      sweep_->Run();
    };
  }
  store::ObjectStore& to = spooled_ ? *spooled_ : *store_;
  outbox_ = std::make_unique<Outbox>(to, spool_ ? "spool" : "put", health_, clock_,
                                     std::move(every_minute));
  return *outbox_;
}

void StoreSide::Start() {
  if (uploader_) uploader_->Start();
  outbox_->Start();
}

void StoreSide::Finish() {
  if (outbox_) outbox_->Finish();
  if (uploader_) uploader_->Finish();
}

Status StoreSide::Check(int64_t timeout_ns) const {
  const std::unique_ptr<const store::ObjectStore> limited =
      std::as_const(*store_).Limited({.deadline_ns = clock_.MonotonicNs() + timeout_ns});
  return limited->Check();
}

std::optional<store::SpoolFigures> StoreSide::spool_figures() const {
  if (spool_) return spool_->figures();
  if (left_) return left_->figures();
  return std::nullopt;
}

}  // namespace firetower::daemon
