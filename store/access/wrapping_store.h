// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"

namespace firetower::store {

enum class StoreOperation : uint8_t {
  kPut,
  kGet,
  kGetRange,
  kGetTail,
  kSize,
  kList,
  kListFolders,
  kDelete,
  kAbortUploads,
  kCheck,
};

// Base of stores that wrap another one, which must outlive them. Each call goes through
//
//   template <typename Call>
//   auto Around(StoreOperation operation, uint64_t written, Call call) const -> decltype(call());
//
// of `Wrapper`, which calls call() or returns its own result. `written`: the number of bytes that
// are put.
template <typename Wrapper>
class WrappingStore : public ObjectStore {
 public:
  using ObjectStore::Get;

  Status Put(std::string_view key, std::string_view bytes) override {
    return Pass(StoreOperation::kPut, bytes.size(), [&] { return store_.Put(key, bytes); });
  }
  Status PutFrom(std::string_view key, const ObjectSource& source) override {
    return Pass(StoreOperation::kPut, source.size(), [&] { return store_.PutFrom(key, source); });
  }
  Result<std::string> Get(std::string_view key, uint64_t max_bytes) const override {
    return Pass(StoreOperation::kGet, 0, [&] { return store_.Get(key, max_bytes); });
  }
  Result<std::string> GetRange(std::string_view key, uint64_t offset,
                               uint64_t length) const override {
    return Pass(StoreOperation::kGetRange, 0, [&] { return store_.GetRange(key, offset, length); });
  }
  Result<ObjectTail> GetTail(std::string_view key, uint64_t length) const override {
    return Pass(StoreOperation::kGetTail, 0, [&] { return store_.GetTail(key, length); });
  }
  Result<uint64_t> Size(std::string_view key) const override {
    return Pass(StoreOperation::kSize, 0, [&] { return store_.Size(key); });
  }
  Result<std::vector<ObjectInfo>> List(std::string_view prefix, std::string_view start_after,
                                       size_t limit) const override {
    return Pass(StoreOperation::kList, 0, [&] { return store_.List(prefix, start_after, limit); });
  }
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override {
    return Pass(StoreOperation::kListFolders, 0, [&] { return store_.ListFolders(prefix); });
  }
  Status Delete(std::string_view key) override {
    return Pass(StoreOperation::kDelete, 0, [&] { return store_.Delete(key); });
  }
  Result<uint64_t> AbortUploads(std::string_view prefix, int64_t before_s) override {
    return Pass(StoreOperation::kAbortUploads, 0,
                [&] { return store_.AbortUploads(prefix, before_s); });
  }
  Status Check() const override {
    return Pass(StoreOperation::kCheck, 0, [&] { return store_.Check(); });
  }
  int64_t ClockSkewNs() const override { return store_.ClockSkewNs(); }
  std::string Describe() const override { return store_.Describe(); }

 protected:
  explicit WrappingStore(ObjectStore& store) : store_(store) {}
  ObjectStore& wrapped() const { return store_; }

 private:
  template <typename Call>
  auto Pass(StoreOperation operation, uint64_t written, Call call) const {
    return static_cast<const Wrapper&>(*this).Around(operation, written, std::move(call));
  }

  ObjectStore& store_;
};

}  // namespace firetower::store
