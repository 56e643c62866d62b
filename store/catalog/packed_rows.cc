// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/packed_rows.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/text/hex.h"

namespace firetower::store {
namespace {

constexpr std::array kContainerTexts = {&CatalogRow::namespace_name, &CatalogRow::pod,
                                        &CatalogRow::container,      &CatalogRow::pod_uid,
                                        &CatalogRow::container_id,   &CatalogRow::workload,
                                        &CatalogRow::service_name,   &CatalogRow::node,
                                        &CatalogRow::type,           &CatalogRow::unit};

void AppendWide(int64_t value, std::vector<uint32_t>& out) {
  out.push_back(static_cast<uint32_t>(value));
  out.push_back(static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32));
}

int64_t Wide(std::span<const uint32_t> words) {
  return static_cast<int64_t>(uint64_t{words[1]} << 32 | words[0]);
}

// Container and build ids are most of all bytes: hexadecimal digits are kept as what they stand
// for.
constexpr char kHex = '\x01';
constexpr char kPlain = '\x02';  // before a text that begins with one of the two
constexpr size_t kLeastHex = 16;

std::string Shortened(std::string_view text) {
  const bool is_long = text.size() >= kLeastHex;
  if (const std::optional<std::string> bytes = is_long ? FromHex(text) : std::nullopt)
    return std::string(1, kHex).append(*bytes);
  const bool is_marked = !text.empty() && (text[0] == kHex || text[0] == kPlain);
  return is_marked ? std::string(1, kPlain).append(text) : std::string(text);
}

std::string Restored(std::string_view bytes) {
  if (bytes.empty() || (bytes[0] != kHex && bytes[0] != kPlain)) return std::string(bytes);
  if (bytes[0] == kPlain) return std::string(bytes.substr(1));
  return ToHex(bytes.substr(1));
}

}  // namespace

uint32_t PackedRows::Intern(std::string_view text) {
  const std::string shortened = Shortened(text);
  return texts_.Intern({shortened.data(), shortened.size()});
}

std::string PackedRows::Text(uint32_t id) const {
  const std::span<const char> bytes = texts_.pool().Get(id);
  return Restored({bytes.data(), bytes.size()});
}

// The entry's name where it is not BundleEntryName's, the capture's id, what others hold too, the
// number of policies, and the policies and build ids.
uint32_t PackedRows::PackRest(const CatalogEntry& one) {
  const CatalogRow& row = one.entry.row;
  const bool is_usual = one.entry.name == BundleEntryName(row);
  std::vector<uint32_t> words = {is_usual ? 0u : Intern(one.entry.name) + 1, Intern(row.capture)};
  AppendWide(row.also_samples, words);
  AppendWide(row.also_value, words);
  words.push_back(static_cast<uint32_t>(row.policies.size()));
  for (const std::string& policy : row.policies) words.push_back(Intern(policy));
  for (const std::string& build_id : row.build_ids) words.push_back(Intern(build_id));
  return rests_.Intern(std::span<const uint32_t>(words));
}

void PackedRows::UnpackRest(uint32_t rest, CatalogEntry& one) const {
  const std::span<const uint32_t> words = rests_.pool().Get(rest);
  CatalogRow& row = one.entry.row;
  row.capture = Text(words[1]);
  row.also_samples = Wide(words.subspan(2));
  row.also_value = Wide(words.subspan(4));
  const size_t policies = words[6];
  for (size_t i = 7; i < words.size(); ++i)
    (i - 7 < policies ? row.policies : row.build_ids).push_back(Text(words[i]));
  one.entry.name = words[0] == 0 ? BundleEntryName(row) : Text(words[0] - 1);
}

PackedRows::Row PackedRows::Pack(const CatalogEntry& one) {
  const BundleEntry& entry = one.entry;
  std::array<uint32_t, kContainerTexts.size()> texts;
  for (size_t i = 0; i < texts.size(); ++i) texts[i] = Intern(entry.row.*kContainerTexts[i]);
  return {.bundle = Intern(one.bundle),
          .container = containers_.Intern(std::span<const uint32_t>(texts)),
          .rest = PackRest(one),
          .crc32 = entry.crc32,
          .header_offset = static_cast<uint32_t>(entry.header_offset),
          .end_offset = static_cast<uint32_t>(entry.end_offset),
          .size = static_cast<uint32_t>(entry.size),
          .duration_ms = static_cast<uint32_t>(entry.row.duration_ns / kNsPerMs),
          .start_ms = entry.row.start_ns / kNsPerMs,
          .samples = entry.row.samples,
          .value = entry.row.value};
}

CatalogRow PackedRows::ContainerOf(const Row& packed) const {
  const std::span<const uint32_t> texts = containers_.pool().Get(packed.container);
  CatalogRow row;
  for (size_t i = 0; i < kContainerTexts.size(); ++i) row.*kContainerTexts[i] = Text(texts[i]);
  return row;
}

CatalogEntry PackedRows::Unpack(const Row& packed) const {
  CatalogEntry one;
  one.bundle = Text(packed.bundle);
  BundleEntry& entry = one.entry;
  entry.crc32 = packed.crc32;
  entry.header_offset = packed.header_offset;
  entry.end_offset = packed.end_offset;
  entry.size = packed.size;
  entry.row = ContainerOf(packed);
  entry.row.start_ns = packed.start_ms * kNsPerMs;
  entry.row.duration_ns = packed.duration_ms * kNsPerMs;
  entry.row.samples = packed.samples;
  entry.row.value = packed.value;
  UnpackRest(packed.rest, one);
  return one;
}

std::vector<uint32_t> PackedRows::InOrder(const Rows& rows, uint32_t shards) const {
  // Containers are compared once, and not again for each of their rows.
  using Order = std::tuple<uint32_t, std::string, std::string, std::string>;
  std::vector<bool> seen(containers_.size());
  std::vector<std::pair<Order, uint32_t>> ordered;
  for (const Row& row : rows) {
    if (seen[row.container]) continue;
    seen[row.container] = true;
    const CatalogRow container = ContainerOf(row);
    const uint32_t shard = ShardOf(container.namespace_name, container.workload, shards);
    ordered.push_back(
        {Order(shard, PlaceOf(container), container.container, container.type), row.container});
  }
  std::ranges::sort(ordered);
  std::vector<uint32_t> rank(containers_.size());
  for (uint32_t i = 0; i < ordered.size(); ++i) {
    // A restarted container is another one with the same order.
    const bool same = i > 0 && ordered[i - 1].first == ordered[i].first;
    rank[ordered[i].second] = same ? rank[ordered[i - 1].second] : i;
  }
  std::vector<uint32_t> indices(rows.size());
  std::iota(indices.begin(), indices.end(), 0u);
  const auto bundle_of = [&](const Row& row) {
    const std::span<const char> text = texts_.pool().Get(row.bundle);
    return std::string_view(text.data(), text.size());
  };
  std::ranges::sort(indices, [&](uint32_t left, uint32_t right) {
    const Row &a = rows[left], &b = rows[right];
    if (rank[a.container] != rank[b.container]) return rank[a.container] < rank[b.container];
    if (a.start_ms != b.start_ms) return a.start_ms < b.start_ms;
    if (a.bundle != b.bundle) return bundle_of(a) < bundle_of(b);
    return a.header_offset < b.header_offset;
  });
  return indices;
}

void PackedRows::Adopt(const PackedRows& from, Rows& rows) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> texts(from.texts_.size(), kNone);
  std::vector<uint32_t> containers(from.containers_.size(), kNone);
  std::vector<uint32_t> rests(from.rests_.size(), kNone);
  const auto text = [&](uint32_t id) {
    if (texts[id] == kNone) texts[id] = texts_.Intern(from.texts_.pool().Get(id));
    return texts[id];
  };
  std::vector<uint32_t> words;
  for (Row& row : rows) {
    row.bundle = text(row.bundle);
    uint32_t& container = containers[row.container];
    if (container == kNone) {
      words.clear();
      for (const uint32_t id : from.containers_.pool().Get(row.container))
        words.push_back(text(id));
      container = containers_.Intern(std::span<const uint32_t>(words));
    }
    row.container = container;
    uint32_t& rest = rests[row.rest];
    if (rest == kNone) {
      const std::span<const uint32_t> old = from.rests_.pool().Get(row.rest);
      words.assign(old.begin(), old.end());
      if (words[0] != 0) words[0] = text(words[0] - 1) + 1;
      words[1] = text(words[1]);
      for (size_t i = 7; i < words.size(); ++i) words[i] = text(words[i]);
      rest = rests_.Intern(std::span<const uint32_t>(words));
    }
    row.rest = rest;
  }
}

}  // namespace firetower::store
