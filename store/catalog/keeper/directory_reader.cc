// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/directory_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace firetower::store {

DirectoryReader::~DirectoryReader() {
  Drop();
  for (NamedThread& thread : threads_) thread.RequestStop();
}

void DirectoryReader::Ask(ObjectInfo bundle) {
  CHECK(!is_full());
  ++held_;
  if (threads_.size() < std::min(held_, kAtOnce)) {
    threads_.emplace_back("bundles",
                          [this](const std::stop_token& stop, WakeFd& /*wake*/) { Run(stop); });
  }
  {
    const std::lock_guard lock(mutex_);
    reads_.push_back({.bundle = std::move(bundle)});
  }
  asked_.notify_one();
}

DirectoryReader::Directory DirectoryReader::Take() {
  CHECK(!empty());
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return reads_.front().done; });
  Read first = std::move(reads_.front());
  reads_.pop_front();
  --begun_;
  --held_;
  lock.unlock();
  if (first.too_large)
    first.index = ReadBundleIndex(first.bundle.size, [&](uint64_t offset, uint64_t length) {
      return store_.GetRange(first.bundle.key, offset, length);
    });
  return {.bundle = std::move(first.bundle), .index = std::move(first.index)};
}

void DirectoryReader::Drop() {
  std::unique_lock lock(mutex_);
  reads_.resize(begun_);
  done_.wait(lock, [this] {
    return std::ranges::all_of(reads_, [](const Read& read) { return read.done; });
  });
  reads_.clear();
  begun_ = 0;
  held_ = 0;
}

void DirectoryReader::Run(const std::stop_token& stop) noexcept {
  std::unique_lock lock(mutex_);
  while (asked_.wait(lock, stop, [this] { return begun_ < reads_.size(); })) {
    Read& read = reads_[begun_++];
    lock.unlock();
    ReadOne(read);
    lock.lock();
    read.done = true;
    done_.notify_one();
  }
}

void DirectoryReader::ReadOne(Read& read) const {
  read.index = ReadBundleIndex(
      read.bundle.size, [&](uint64_t offset, uint64_t length) -> Result<std::string> {
        read.too_large = length > kMaxRangeBytes;
        if (read.too_large) return Error(ErrorCode::kExhausted, "too large for one of several");
        return store_.GetRange(read.bundle.key, offset, length);
      });
}

}  // namespace firetower::store
