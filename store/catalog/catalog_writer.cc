// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/catalog_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text/hex.h"
#include "profile/codec/gzip.h"
#include "store/catalog/catalog_format.h"
#include "store/key.h"

namespace firetower::store {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kGzipLevel = 6;
// Size of a block of JSON lines before compression: some hundred rows, so that a query for
// one workload reads a few kilobytes; the index of first rows takes about a hundredth of the
// file.
constexpr size_t kBlockBytes = 64 << 10;

int64_t EndSeconds(const CatalogRow& row) {
  return (row.end_ns() + kNsPerSecond - 1) / kNsPerSecond;
}

}  // namespace

void CatalogWriter::Add(const CatalogEntry& one) {
  const CatalogRow& row = one.entry.row;
  std::string line = CatalogLineOf(one);
  if (line == last_line_) return;
  std::string place = PlaceOf(row);
  if (header_.rows == 0 || place != last_place_) {
    const uint64_t pod = HashText(ToValidUtf8(row.pod));
    if (pods_.empty() || pods_.back() != pod) pods_.push_back(pod);
    last_place_ = std::move(place);
  }
  if (lines_.empty()) blocks_.push_back({file_.size(), last_place_});
  lines_ += line;
  last_line_ = std::move(line);
  ++header_.rows;
  const Result<BundleKey> key = ParseBundleKey(one.bundle);
  if (key && !key->rolled_up) header_.last_end_s = std::max(header_.last_end_s, EndSeconds(row));
  if (lines_.size() >= kBlockBytes) EndBlock();
}

void CatalogWriter::EndBlock() {
  if (!lines_.empty()) file_ += profile::GzipCompress(lines_, kGzipLevel);
  lines_.clear();
}

std::string CatalogWriter::PodFilter() const {
  std::string filter((pods_.size() * kFilterBitsPerPod + 7) / 8, '\0');
  for (const uint64_t pod : pods_) {
    ForEachProbe(pod, filter.size() * 8, [&](uint64_t bit) {
      filter[bit / 8] = static_cast<char>(filter[bit / 8] | (1 << (bit % 8)));
    });
  }
  return filter;
}

std::string CatalogWriter::Finish() && {
  EndBlock();
  Json index;
  index["format"] = kCatalogFormat;
  index["start"] = header_.start_s;
  index["seconds"] = header_.seconds;
  index["shard"] = header_.shard;
  index["shards"] = header_.shards;
  index["rows"] = header_.rows;
  index["last_end"] = header_.last_end_s;
  index["replaces"] = header_.replaces;
  index["unreadable"] = Json::array();
  for (const Unreadable& one : header_.unreadable) {
    index["unreadable"].push_back(
        {{"bundle", one.bundle}, {"entry", one.entry}, {"reason", one.reason}});
  }
  index["offsets"] = Json::array();
  index["firsts"] = Json::array();
  for (const CatalogFile::Block& block : blocks_) {
    index["offsets"].push_back(block.offset);
    index["firsts"].push_back(block.first);
  }
  index["pods"] = ToHex(PodFilter());
  const uint64_t index_offset = file_.size();
  file_ += profile::GzipCompress(index.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n",
                                 kGzipLevel);
  file_ += CatalogLocator(index_offset);
  return std::move(file_);
}

std::string EncodeCatalog(CatalogHeader header, std::vector<CatalogEntry> entries) {
  std::ranges::sort(entries, ComesBefore);
  CatalogWriter writer(std::move(header));
  for (const CatalogEntry& one : entries) writer.Add(one);
  return std::move(writer).Finish();
}

}  // namespace firetower::store
