// SPDX-License-Identifier: Apache-2.0
#include "store/spool/both_stores.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace firetower::store {
namespace {

// Asks the second store when the first has nothing: an object only moves in that direction.
template <typename Ask>
auto AskBoth(const ObjectStore& first, const ObjectStore& second, Ask ask) {
  auto answer = ask(first);
  if (answer || answer.error().code() != ErrorCode::kNotFound) return answer;
  return ask(second);
}

// The two, limited, and both as one.
struct LimitedPair {
  std::unique_ptr<const ObjectStore> first;
  std::unique_ptr<const ObjectStore> second;
};
class LimitedBoth final : private LimitedPair, public BothStores {
 public:
  explicit LimitedBoth(LimitedPair pair)
      : LimitedPair(std::move(pair)), BothStores(*first, *second) {}
};

Error ReadOnly() { return {ErrorCode::kUnsupported, "the union of two stores is read-only"}; }

}  // namespace

Result<std::string> BothStores::Get(std::string_view key, uint64_t max_bytes) const {
  return AskBoth(first_, second_,
                 [&](const ObjectStore& store) { return store.Get(key, max_bytes); });
}

Result<std::string> BothStores::GetRange(std::string_view key, uint64_t offset,
                                         uint64_t length) const {
  return AskBoth(first_, second_,
                 [&](const ObjectStore& store) { return store.GetRange(key, offset, length); });
}

Result<ObjectTail> BothStores::GetTail(std::string_view key, uint64_t length) const {
  return AskBoth(first_, second_,
                 [&](const ObjectStore& store) { return store.GetTail(key, length); });
}

Result<uint64_t> BothStores::Size(std::string_view key) const {
  return AskBoth(first_, second_, [&](const ObjectStore& store) { return store.Size(key); });
}

Result<std::vector<ObjectInfo>> BothStores::List(std::string_view prefix,
                                                 std::string_view start_after, size_t limit) const {
  ASSIGN_OR_RETURN(std::vector<ObjectInfo> first, first_.List(prefix, start_after, limit));
  ASSIGN_OR_RETURN(std::vector<ObjectInfo> second, second_.List(prefix, start_after, limit));
  std::vector<ObjectInfo> all;
  std::ranges::set_union(first, second, std::back_inserter(all), {}, &ObjectInfo::key,
                         &ObjectInfo::key);
  if (all.size() > limit) all.resize(limit);
  return all;
}

Result<std::vector<std::string>> BothStores::ListFolders(std::string_view prefix) const {
  ASSIGN_OR_RETURN(std::vector<std::string> first, first_.ListFolders(prefix));
  ASSIGN_OR_RETURN(std::vector<std::string> second, second_.ListFolders(prefix));
  std::vector<std::string> all;
  std::ranges::set_union(first, second, std::back_inserter(all));
  return all;
}

Status BothStores::Put(std::string_view, std::string_view) { return ReadOnly(); }
Status BothStores::PutFrom(std::string_view, const ObjectSource&) { return ReadOnly(); }
Status BothStores::Delete(std::string_view) { return ReadOnly(); }

Status BothStores::Check() const {
  RETURN_IF_ERROR(first_.Check());
  return second_.Check();
}

std::unique_ptr<ObjectStore> BothStores::DoLimited(CallLimits limits) {
  LimitedPair pair{first_.Limited(limits), second_.Limited(std::move(limits))};
  return std::make_unique<LimitedBoth>(std::move(pair));
}

}  // namespace firetower::store
