// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/catalog_merge.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "store/catalog/catalog_cache.h"
#include "store/catalog/catalog_set.h"
#include "store/catalog/keeper/catalog_cursor.h"

namespace firetower::store {
namespace {

struct Input {
  const ListedCatalog* catalog;
  CatalogFile file;
};

class Merging {
 public:
  Merging(ObjectStore& store, const CatalogInterval& hour, std::vector<std::string>& damaged)
      : store_(store), damaged_(damaged) {
    set_.interval = hour;
  }

  Status Open(std::span<const ListedCatalog> catalogs) {
    uint64_t rows = 0;
    for (const ListedCatalog& one : catalogs) {
      Result<CatalogFile> file = CatalogFile::Open(one.size, ReaderOf(store_, one.key));
      if (!file) return Failed(one.key, file.error());
      rows += file->header().rows;
      const std::vector<Unreadable>& unreadable = file->header().unreadable;
      set_.unreadable.insert(set_.unreadable.end(), unreadable.begin(), unreadable.end());
      parts_ = std::max(parts_, one.parsed.shards);
      inputs_.push_back({&one, *std::move(file)});
    }
    set_.unreadable = Bounded(std::move(set_.unreadable));
    set_.shards = std::max(ShardsFor(rows), parts_);
    return OkStatus();
  }

  // Shards part, part + parts, part + 2 parts…: what part 0 of `parts` of an input becomes.
  Status MergePart(uint32_t part) {
    std::deque<CatalogCursor> cursors;
    std::vector<std::string> replaces;
    for (const Input& input : inputs_) {
      const CatalogKey& key = input.catalog->parsed;
      if (key.shard != part % key.shards) continue;
      cursors.emplace_back(store_, *input.catalog, input.file, part, parts_);
      replaces.push_back(input.catalog->key);
    }
    ShardWriters writers(set_, part, parts_, std::move(replaces));
    const auto is_later = [](const CatalogCursor* a, const CatalogCursor* b) {
      return b->IsBefore(*a);
    };
    std::vector<CatalogCursor*> heap;  // the first row on top
    for (CatalogCursor& cursor : cursors) RETURN_IF_ERROR(Push(cursor, heap, is_later));
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, is_later);
      CatalogCursor& first = *heap.back();
      heap.pop_back();
      writers.Add(first.entry());
      RETURN_IF_ERROR(Push(first, heap, is_later));
    }
    return std::move(writers).Store(store_);
  }
  uint32_t parts() const { return parts_; }

 private:
  // With its next row, if it has one.
  template <typename IsLater>
  Status Push(CatalogCursor& cursor, std::vector<CatalogCursor*>& heap, const IsLater& is_later) {
    const Result<bool> more = cursor.Next();
    if (!more) return Failed(cursor.key(), more.error());
    if (!*more) return OkStatus();
    heap.push_back(&cursor);
    std::ranges::push_heap(heap, is_later);
    return OkStatus();
  }

  Error Failed(const std::string& key, const Error& error) {
    if (error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported)
      damaged_.push_back(key);
    return error;
  }

  ObjectStore& store_;
  std::vector<std::string>& damaged_;
  CatalogSet set_;
  std::deque<Input> inputs_;
  uint32_t parts_ = 1;  // as many as the input with the most shards has
};

}  // namespace

Status MergeCatalogs(ObjectStore& store, const CatalogInterval& hour,
                     std::span<const ListedCatalog> catalogs, std::vector<std::string>& damaged) {
  Merging merging(store, hour, damaged);
  RETURN_IF_ERROR(merging.Open(catalogs));
  for (uint32_t part = 0; part < merging.parts(); ++part) RETURN_IF_ERROR(merging.MergePart(part));
  return OkStatus();
}

}  // namespace firetower::store
