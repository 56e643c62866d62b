// SPDX-License-Identifier: Apache-2.0
#include "store/spool/spool.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

#include "base/log.h"
#include "base/units.h"
#include "store/bundle.h"
#include "store/key.h"

namespace firetower::store {
namespace {

// Treats a file with a foreign name as the oldest, so that it never delays ours.
int64_t StartOf(std::string_view key) {
  if (const Result<BundleKey> bundle = ParseBundleKey(key)) return bundle->start_s;
  if (const Result<CaptureKey> capture = ParseCaptureKey(key)) return capture->start_s;
  return 0;
}

// Longer ones are made of it.
bool IsWorthACopy(std::string_view key) {
  const Result<BundleKey> bundle = ParseBundleKey(key);
  return bundle && bundle->seconds < kMaxWindowSeconds;
}

uint64_t ProfilesIn(std::string_view key, uint64_t bytes, const RangeReader& read) {
  if (!ParseBundleKey(key)) return 1;
  const Result<BundleIndex> index = ReadBundleIndex(bytes, read);
  return index ? index->entries.size() + index->bad_entries.size() : 1;
}

// Forgets the object even if the deletion fails, or it would be asked for again for ever.
void DeleteFrom(DirStore& folder, const std::string& key) {
  if (const Status deleted = folder.Delete(key); !deleted)
    LOG(kError, "spool: not deleted", {{"key", key}, {"error", deleted.error().message()}});
}

// Tells other processes that the folder is in use; kUnavailable where one of them has it.
Result<UniqueFd> LockOf(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return ErrnoError("spool " + folder);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return ErrnoError("spool " + folder);
  return Error(ErrorCode::kUnavailable,
               fmt::format("spool {}: another process has it open", folder));
}

bool IsDiskFull(const Error& error) {
  return error.sys_errno() == ENOSPC || error.sys_errno() == EDQUOT;
}

}  // namespace

class Spool::Change {
 public:
  explicit Change(Spool& spool) : spool_(spool), lock_(spool.mutex_) {}
  ~Change() {
    spool_.figures_.objects = spool_.waiting_.size();
    std::lock_guard shown(spool_.shown_mutex_);
    spool_.shown_ = spool_.figures_;
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  Spool& spool_;
  const std::lock_guard<std::mutex> lock_;
};

Result<std::unique_ptr<Spool>> Spool::Open(const std::string& folder, uint64_t max_bytes,
                                           const Clock& clock) {
  std::unique_ptr<DirStore> folders[2];
  for (const int i : {0, 1}) {
    Result<std::unique_ptr<DirStore>> opened =
        DirStore::Open(folder + (i == 0 ? "/pending" : "/copies"), DirAccess::kOwner);
    if (!opened) return std::move(opened).error().Context("spool");
    folders[i] = *std::move(opened);
  }
  std::unique_ptr<Spool> spool(
      new Spool(std::move(folders[0]), std::move(folders[1]), max_bytes, clock));
  // Spooling works without the lock too.
  if (Result<UniqueFd> lock = LockOf(folder)) spool->lock_ = *std::move(lock);
  const Change change(*spool);
  SpoolFigures& figures = spool->figures_;
  RETURN_IF_ERROR(spool->ReadFolder(*spool->pending_, spool->waiting_, figures.bytes));
  RETURN_IF_ERROR(spool->ReadFolder(*spool->copies_, spool->copied_, figures.copied_bytes));
  // The bound may be a smaller one now.
  while (spool->held_bytes() > max_bytes && spool->MakeRoom(spool->BoundReached())) {
  }
  return spool;
}

Result<std::unique_ptr<Spool>> Spool::OpenLeftover(const std::string& folder, const Clock& clock) {
  std::error_code error;
  const std::string pending = folder + "/pending";
  const bool empty = std::filesystem::is_empty(pending, error);
  const bool absent =
      error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (empty || absent) return std::unique_ptr<Spool>();
  if (error) return Error(ErrorCode::kPermission, fmt::format("{}: {}", pending, error.message()));
  // Before anything is opened in it: a living one's temporary files are not to be swept.
  { ASSIGN_OR_RETURN(const UniqueFd lock, LockOf(folder)); }
  ASSIGN_OR_RETURN(std::unique_ptr<Spool> spool,
                   Open(folder, std::numeric_limits<int64_t>::max(), clock));
  if (!spool->Oldest()) return std::unique_ptr<Spool>();
  return spool;
}

Status Spool::ReadFolder(const DirStore& folder, Objects& objects, uint64_t& bytes) {
  std::string after;
  for (;;) {
    ASSIGN_OR_RETURN(std::vector<ObjectInfo> page, folder.List("", after));
    for (const ObjectInfo& object : page) Note(object.key, object.size, objects, bytes);
    if (page.size() < ObjectStore::kMaxListed) return OkStatus();
    after = page.back().key;
  }
}

Status Spool::Add(std::string_view key, std::string_view bytes) {
  const Change change(*this);
  if (bytes.size() > max_bytes_) {
    return Error(ErrorCode::kInvalid, fmt::format("spool: {} has {} bytes, but the limit is {}",
                                                  key, bytes.size(), max_bytes_));
  }
  Forget(key, waiting_, figures_.bytes);  // the same once more
  while (held_bytes() + bytes.size() > max_bytes_ && MakeRoom(BoundReached())) {
  }
  Status put = pending_->Put(key, bytes);
  while (!put && IsDiskFull(put.error()) && MakeRoom(DiskFull(put.error())))
    put = pending_->Put(key, bytes);
  if (!put && IsDiskFull(put.error())) return DiskFull(put.error()).Context("spool");
  if (!put) return std::move(put.Context("spool"));
  Note(key, bytes.size(), waiting_, figures_.bytes);
  return OkStatus();
}

std::optional<std::string> Spool::Oldest() const {
  std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->first.second;
}

std::optional<std::string> Spool::After(std::string_view key) const {
  std::lock_guard lock(mutex_);
  const auto next = waiting_.upper_bound(Place(StartOf(key), key));
  if (next == waiting_.end()) return std::nullopt;
  return next->first.second;
}

void Spool::Drop(std::string_view key, const Error& why) {
  const Change change(*this);
  const auto found = waiting_.find(Place(StartOf(key), key));
  if (found != waiting_.end()) DropWaiting(found, why);
}

Status Spool::Stored(std::string_view key) {
  const Change change(*this);
  const auto found = waiting_.find(Place(StartOf(key), key));
  if (found == waiting_.end()) return OkStatus();
  const uint64_t size = found->second;
  // A full disk may have no room for the copy's folder: it goes without one.
  if (IsWorthACopy(key) && pending_->MoveTo(*copies_, key)) {
    Note(key, size, copied_, figures_.copied_bytes);
    DropOldCopies();
  } else {
    RETURN_IF_ERROR(pending_->Delete(key));
  }
  Forget(key, waiting_, figures_.bytes);
  return OkStatus();
}

Status Spool::Remove(std::string_view key) {
  const Change change(*this);
  RETURN_IF_ERROR(pending_->Delete(key));
  Forget(key, waiting_, figures_.bytes);
  RETURN_IF_ERROR(copies_->Delete(key));
  Forget(key, copied_, figures_.copied_bytes);
  return OkStatus();
}

SpoolFigures Spool::figures() const {
  std::lock_guard lock(shown_mutex_);
  return shown_;
}

void Spool::Note(std::string_view key, uint64_t size, Objects& objects, uint64_t& bytes) {
  if (objects.emplace(Place(StartOf(key), key), size).second) bytes += size;
}

void Spool::Forget(std::string_view key, Objects& objects, uint64_t& bytes) {
  const auto found = objects.find(Place(StartOf(key), key));
  if (found == objects.end()) return;
  bytes -= found->second;
  objects.erase(found);
}

void Spool::DropOldCopies() {
  const int64_t newest_s = copied_.rbegin()->first.first;
  while (copied_.begin()->first.first < newest_s - kCopySeconds)
    DropOldest(*copies_, copied_, figures_.copied_bytes);
}

Error Spool::BoundReached() const {
  return {ErrorCode::kExhausted, fmt::format("the spool is full: its limit is {} (--spool-bytes)",
                                             FormatBytes(static_cast<int64_t>(max_bytes_)))};
}

Error Spool::DiskFull(const Error& error) const {
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(pending_->root(), unknown);
  std::string text = "the disk of the spool is full: " + error.message();
  if (!unknown) text += fmt::format("; {} bytes are free there", space.available);
  return {error.code(), std::move(text), error.sys_errno()};
}

bool Spool::MakeRoom(const Error& why) {
  if (!copied_.empty()) {
    DropOldest(*copies_, copied_, figures_.copied_bytes);
    return true;
  }
  if (waiting_.empty()) return false;
  DropWaiting(waiting_.begin(), why);
  return true;
}

void Spool::DropOldest(DirStore& folder, Objects& objects, uint64_t& bytes) {
  const std::string key = objects.begin()->first.second;
  DeleteFrom(folder, key);
  Forget(key, objects, bytes);
}

void Spool::DropWaiting(Objects::const_iterator object, const Error& why) {
  const std::string key = object->first.second;
  const uint64_t profiles = ProfilesIn(key, object->second, [&](uint64_t offset, uint64_t length) {
    return pending_->GetRange(key, offset, length);
  });
  DeleteFrom(*pending_, key);
  Forget(key, waiting_, figures_.bytes);
  ++figures_.dropped_objects;
  figures_.dropped_profiles += profiles;
  figures_.drop_reason = why;
  figures_.dropped_at_ns = clock_.MonotonicNs();
  LOG(kError, "dropped from the spool",
      {{"key", key}, {"profiles", profiles}, {"why", why.message()}});
}

}  // namespace firetower::store
