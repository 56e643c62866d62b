// SPDX-License-Identifier: Apache-2.0
// The cost of queries over catalogs; catalog_bench.py combines these commands:
//   generate STORE HOURS NODES WORKLOADS    bundles and roll-ups of a cluster
//   rows STORE NODES                        an hour's catalogs of five minutes of a cluster, of
//                                           which only the asked workload's nodes have bundles
//   merge-hour STORE                        those into one
//   rebuild STORE HOURS                     as the hub's leader does
//   delete-catalogs STORE
//   ask STORE WORKLOAD FROM TO OUT [local]  minutes from the beginning; with a folder, the entries
//                                           of the answer go there instead
//   merge OUT FILE…                         of local files
// Each prints one line of JSON.
#include <fmt/core.h>
#include <sys/resource.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "profile/merge.h"
#include "profile/pprof.h"
#include "store/access/metered_store.h"
#include "store/catalog/catalog_index.h"
#include "store/catalog/keeper/catalog_keeper.h"
#include "store/catalog/keeper/catalog_merge.h"
#include "store/find.h"
#include "store/query.h"
#include "store/store.h"
#include "tests/bench/pairs.h"
#include "tests/bench/store/generated_cluster.h"

namespace firetower::bench {
namespace {

using store::ObjectStore;

constexpr int64_t kBegin = 1'763'701'200;  // 2025-11-21 05:00:00 UTC

// A store and its requests by kind, as an S3 store would have them.
class CountedStore {
 public:
  explicit CountedStore(ObjectStore& store) : store_(store) {}

  ObjectStore& store() { return store_; }
  uint64_t gets() const {
    return Sum({Kind::kGet, Kind::kGetRange, Kind::kGetTail, Kind::kSize}).calls;
  }
  uint64_t read_bytes() const { return Sum({Kind::kGet, Kind::kGetRange, Kind::kGetTail}).bytes; }
  uint64_t lists() const { return Sum({Kind::kList, Kind::kListFolders}).calls; }
  uint64_t puts() const { return Sum({Kind::kPut}).calls; }
  uint64_t written_bytes() const { return Sum({Kind::kPut}).bytes; }

 private:
  using Kind = store::StoreOperation;

  store::OperationCount Sum(std::initializer_list<Kind> kinds) const {
    store::OperationCount sum;
    for (const Kind kind : kinds) {
      const store::OperationCount one = store_.Count(kind);
      sum.calls += one.calls;
      sum.bytes += one.bytes;
    }
    return sum;
  }

  store::MeteredStore store_;
};

// From its making on.
class Meter {
 public:
  Meter() : begin_ms_(CpuMs()) {}
  std::string Json() const {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return fmt::format(R"("cpu_ms":{:.2f},"peak_kib":{})", CpuMs() - begin_ms_, usage.ru_maxrss);
  }

 private:
  static double CpuMs() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
    };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
  }
  const double begin_ms_;
};

template <typename T>
T Expect(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "catalog_bench: {}\n", result.error().message());
    std::exit(1);
  }
  return *std::move(result);
}

void Expect(const Status& status) {
  if (status) return;
  fmt::print(stderr, "catalog_bench: {}\n", status.error().message());
  std::exit(1);
}

std::unique_ptr<ObjectStore> Open(const std::string& url) { return Expect(store::OpenStore(url)); }

int Generate(const std::string& url, int64_t hours, uint32_t nodes, uint32_t workloads) {
  const std::unique_ptr<ObjectStore> opened = Open(url);
  CountedStore counted(*opened);
  GeneratedCluster cluster(nodes, workloads);
  const Meter meter;
  for (const int64_t seconds : {60, 600, 3600}) {
    for (int64_t at = kBegin; at < kBegin + hours * 3600; at += seconds) {
      for (uint32_t node = 0; node < nodes; ++node) {
        const std::string key = Expect(store::BuildKey(cluster.KeyOf(node, at, seconds)));
        Expect(counted.store().Put(key, cluster.Bundle(node, at, seconds)));
      }
    }
  }
  fmt::print("{{\"bundles\":{},\"bytes\":{},{}}}\n", counted.puts(), counted.written_bytes(),
             meter.Json());
  return 0;
}

// An index such as a bundle of these rows would have.
store::BundleIndex IndexOf(std::vector<store::CatalogRow> rows, uint32_t node) {
  store::BundleIndex index;
  uint64_t offset = 0;
  for (store::CatalogRow& row : rows) {
    const auto salt = static_cast<uint64_t>(row.start_ns / kNsPerSecond) * 2654435761u + node;
    row.samples = 500 + static_cast<int64_t>(salt % 977);
    row.value = row.samples * 10'101'010;
    store::BundleEntry entry;
    entry.name = store::BundleEntryName(row);
    entry.crc32 = static_cast<uint32_t>(salt * 0x9e3779b97f4a7c15ull >> 32);
    entry.size = 20'000 + salt % 10'007;
    entry.header_offset = offset;
    entry.end_offset = offset + entry.size + 30 + entry.name.size();
    offset = entry.end_offset;
    entry.row = std::move(row);
    index.entries.push_back(std::move(entry));
  }
  return index;
}

// The short form has few workloads, because making their profiles takes most of the time.
uint32_t AskedWorkload() { return Pick(17u, 1u); }
uint32_t WorkloadsANode() { return Pick(10u, 1u); }

int WriteRows(const std::string& url, uint32_t nodes) {
  const std::unique_ptr<ObjectStore> opened = Open(url);
  CountedStore counted(*opened);
  // 30 containers a node, or three.
  GeneratedCluster cluster(nodes, nodes * WorkloadsANode());
  const Meter meter;
  // How much they would be: nothing is written before its time.
  store::RecentRows recent({.max_bytes = size_t{1} << 30});
  store::KeeperFigures figures;
  store::IntervalKeeper intervals(counted.store(), recent, figures);
  size_t most_bytes = 0;
  uint64_t rows = 0;
  const auto is_asked = [&](uint32_t node) {
    for (uint32_t i = 0; i < GeneratedCluster::kReplicas; ++i) {
      if (cluster.NodeOf(AskedWorkload(), i) == node) return true;
    }
    return false;
  };
  const auto add = [&](uint32_t node, int64_t at, int64_t seconds) {
    const std::string key = Expect(store::BuildKey(cluster.KeyOf(node, at, seconds)));
    if (is_asked(node)) {
      Expect(opened->Put(key, cluster.Bundle(node, at, seconds)));
      Expect(recent.Add(key, Expect(store::ReadBundleIndex(*opened, key))));
    } else {
      Expect(recent.Add(key, IndexOf(cluster.RowsOf(node, at, seconds), node)));
    }
  };
  for (const int64_t length : {300, 600, 3600}) {
    const int64_t step = length == 300 ? 60 : length;
    for (int64_t begin = kBegin; begin < kBegin + 3600; begin += length) {
      for (int64_t at = begin; at < begin + length; at += step) {
        for (uint32_t node = 0; node < nodes; ++node) add(node, at, step);
      }
      most_bytes = std::max(most_bytes, recent.bytes());
      rows += recent.rows();
      const store::CatalogInterval interval{store::RetentionClass::kStandard, "bench", begin,
                                            length};
      Expect(intervals.Write(interval, length == 3600));
    }
  }
  fmt::print("{{\"rows\":{},\"recent_bytes\":{},\"catalogs\":{},\"bytes\":{},{}}}\n", rows,
             most_bytes, counted.puts(), counted.written_bytes(), meter.Json());
  return 0;
}

int MergeHour(const std::string& url) {
  const std::unique_ptr<ObjectStore> opened = Open(url);
  CountedStore counted(*opened);
  const Meter meter;
  const auto listing = Expect(store::CatalogListing::Read(
      counted.store(), store::RetentionClass::kStandard, "bench", kBegin, kBegin + 3600));
  std::vector<store::ListedCatalog> inputs;
  for (const store::ListedCatalog& one : listing.all()) {
    if (one.parsed.part == store::CatalogPart::kBundles) continue;
    if (one.parsed.part == store::CatalogPart::kRows && one.parsed.seconds == 3600) continue;
    inputs.push_back(one);
  }
  std::vector<std::string> damaged;
  Expect(store::MergeCatalogs(
      counted.store(), {store::RetentionClass::kStandard, "bench", kBegin, 3600}, inputs, damaged));
  // The hub deletes the merged catalogs after an hour; this does it at once.
  for (const store::ListedCatalog& one : inputs) Expect(opened->Delete(one.key));
  fmt::print("{{\"inputs\":{},\"catalogs\":{},\"bytes\":{},\"read_bytes\":{},{}}}\n", inputs.size(),
             counted.puts(), counted.written_bytes(), counted.read_bytes(), meter.Json());
  return 0;
}

int Rebuild(const std::string& url, int64_t hours) {
  const std::unique_ptr<ObjectStore> opened = Open(url);
  CountedStore counted(*opened);
  const Meter meter;
  const FakeClock clock(0, (kBegin + hours * 3600 + 601) * kNsPerSecond);
  store::RecentRows recent;
  store::CatalogKeeper keeper(counted.store(), recent, clock);
  Expect(keeper.Rebuild(kBegin, kBegin + hours * 3600));
  fmt::print(
      "{{\"bundles\":{},\"gets\":{},\"read_bytes\":{},\"lists\":{},\"puts\":{},"
      "\"written_bytes\":{},{}}}\n",
      keeper.figures().bundles_read, counted.gets(), counted.read_bytes(), counted.lists(),
      counted.puts(), counted.written_bytes(), meter.Json());
  return 0;
}

int DeleteCatalogs(const std::string& url) {
  const std::unique_ptr<ObjectStore> opened = Open(url);
  const auto listing = Expect(store::CatalogListing::Read(*opened, store::RetentionClass::kStandard,
                                                          "bench", 0, store::kMaxStartSeconds));
  for (const store::ListedCatalog& one : listing.all()) Expect(opened->Delete(one.key));
  fmt::print("{{\"deleted\":{}}}\n", listing.all().size());
  return 0;
}

store::Query QueryOf(uint32_t workload, int64_t from_minute, int64_t to_minute) {
  const std::string selector =
      fmt::format("{{namespace=\"{}\",workload=\"{}\"}}", GeneratedCluster::NamespaceOf(workload),
                  GeneratedCluster::WorkloadName(workload));
  store::Query query;
  query.type = Expect(profile::ParseProfileType("cpu"));
  query.selector = Expect(profile::Selector::Parse(selector));
  query.from_ns = (kBegin + 60 * from_minute) * kNsPerSecond;
  query.to_ns = (kBegin + 60 * to_minute) * kNsPerSecond;
  return query;
}

int CopyEntries(const ObjectStore& store, const store::CatalogIndex& index,
                const store::Query& query, const std::string& folder) {
  uint64_t count = 0;
  uint64_t bytes = 0;
  store::SkippedList skipped;
  Expect(index.Find(query, {}, store::Resolution::kCoarsest, &skipped,
                    [&](const store::FoundProfile& found) -> Status {
                      ASSIGN_OR_RETURN(const std::string entry, found.Read(store));
                      bytes += entry.size();
                      return WriteFileAtomic(fmt::format("{}/{:06}.pb.gz", folder, count++), entry);
                    }));
  fmt::print("{{\"profiles\":{},\"entry_bytes\":{}}}\n", count, bytes);
  return 0;
}

int Ask(const std::string& url, const store::Query& query, const std::string& out,
        const std::string& folder) {
  const std::unique_ptr<ObjectStore> opened = Open(url);
  CountedStore counted(*opened);
  const store::CatalogIndex index(counted.store(), nullptr, {.cluster = "bench"});
  // Puts the client into the state of a hub that has answered before: its region and connection are
  // known.
  Expect(opened->Check());
  if (!folder.empty()) return CopyEntries(counted.store(), index, query, folder);
  std::string lines;
  // The second time the indexes are held.
  for (int i = 0; i < 2; ++i) {
    const uint64_t gets = counted.gets(), read_bytes = counted.read_bytes(),
                   lists = counted.lists();
    const Meter meter;
    store::MergeResult merged = Expect(store::MergeProfiles({counted.store(), &index}, query));
    const std::string bytes = profile::EncodePprof(merged.profile);
    lines +=
        fmt::format(R"({}{{"profiles":{},"skipped":{},"gets":{},"read_bytes":{},"lists":{},{}}})",
                    i == 0 ? "" : ",", merged.profiles, merged.skipped.total, counted.gets() - gets,
                    counted.read_bytes() - read_bytes, counted.lists() - lists, meter.Json());
    Expect(WriteFileAtomic(out, bytes));
  }
  fmt::print("[{}]\n", lines);
  return 0;
}

int MergeFiles(const std::string& out, const std::vector<std::string>& files) {
  const Meter meter;
  profile::Merger merger;
  uint64_t read_bytes = 0;
  for (const std::string& file : files) {
    const std::string bytes = Expect(ReadFile(file));
    read_bytes += bytes.size();
    Expect(merger.AddPprof(bytes));
  }
  const std::string bytes = profile::EncodePprof(std::move(merger).Finish());
  fmt::print("{{\"profiles\":{},\"read_bytes\":{},{}}}\n", files.size(), read_bytes, meter.Json());
  Expect(WriteFileAtomic(out, bytes));
  return 0;
}

int Main(const std::vector<std::string>& args) {
  const std::string verb = args.empty() ? "" : args[0];
  const auto number = [&](size_t i) { return std::stoll(args[i]); };
  const auto count = [&](size_t i) { return static_cast<uint32_t>(number(i)); };
  if (verb == "generate" && args.size() == 5)
    return Generate(args[1], number(2), count(3), count(4));
  if (verb == "rows" && args.size() == 3) return WriteRows(args[1], count(2));
  if (verb == "merge-hour" && args.size() == 2) return MergeHour(args[1]);
  if (verb == "rebuild" && args.size() == 3) return Rebuild(args[1], number(2));
  if (verb == "delete-catalogs" && args.size() == 2) return DeleteCatalogs(args[1]);
  if (verb == "ask" && (args.size() == 6 || args.size() == 7)) {
    return Ask(args[1], QueryOf(count(2), number(3), number(4)), args[5],
               args.size() == 7 ? args[6] : "");
  }
  if (verb == "merge" && args.size() > 2)
    return MergeFiles(args[1], {args.begin() + 2, args.end()});
  fmt::print(stderr, "catalog_bench: see the head of catalog_bench.cc\n");
  return 2;
}

}  // namespace
}  // namespace firetower::bench

int main(int argc, char** argv) {
  return firetower::bench::Main(std::vector<std::string>(argv + 1, argv + argc));
}
