// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/store/generated_cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "profile/builder.h"
#include "profile/merge.h"
#include "profile/pprof.h"

namespace firetower::bench {
namespace {

constexpr uint32_t kFunctions = 1200;  // of a workload
constexpr uint32_t kBinaries = 8;
constexpr uint32_t kStacks = 4000;  // of a workload; a window has the hot ones and some others
constexpr uint32_t kPicks = 200;    // a window's samples
constexpr int64_t kPeriodNs = 10'101'010;

// Stacks of 10 to 40 functions that share their roots, leaf first.
std::vector<std::vector<uint32_t>> StacksOf(std::mt19937& random) {
  std::vector<std::vector<uint32_t>> stacks;
  std::vector<uint32_t> stack;
  for (uint32_t i = 0; i < kStacks; ++i) {
    const size_t keep = stack.empty() ? 0 : random() % std::min<size_t>(stack.size(), 20);
    stack.erase(stack.begin(), stack.end() - static_cast<ptrdiff_t>(keep));
    const size_t depth = 10 + random() % 31;
    while (stack.size() < depth)
      stack.insert(stack.begin(), static_cast<uint32_t>(random() % kFunctions));
    stacks.push_back(stack);
  }
  return stacks;
}

uint32_t AddFrame(profile::ProfileBuilder& builder, uint32_t workload, uint32_t function) {
  const uint32_t binary = function % kBinaries;
  const uint64_t start = 0x7f0000000000 + uint64_t{binary} * 0x1000000;
  const uint32_t mapping = builder.AddMapping(
      {.memory_start = start,
       .memory_limit = start + 0x1000000,
       .filename = builder.AddString(fmt::format("/usr/lib/lib{}-{}.so", workload, binary)),
       .build_id = builder.AddString(fmt::format("{:032x}{:08x}", workload, binary)),
       .flags = profile::Mapping::kHasFunctions});
  const std::string name = fmt::format(
      "service{}::module{}::Handler{}::Process(Request const&, int)", workload, binary, function);
  const profile::Line line{.function = builder.AddFunction(name, name, "")};
  return builder.AddLocation(mapping, start + uint64_t{function} * 0x40, {&line, 1});
}

// A running container's id is as good as random.
std::string ContainerId(uint64_t seed) {
  std::string id;
  for (int i = 0; i < 4; ++i) {
    seed += 0x9e3779b97f4a7c15ull;  // splitmix64
    uint64_t word = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    id += fmt::format("{:016x}", word ^ (word >> 31));
  }
  return id;
}

}  // namespace

GeneratedCluster::GeneratedCluster(uint32_t nodes, uint32_t workloads)
    : nodes_(nodes), workloads_(workloads), containers_(nodes) {
  for (uint32_t workload = 0; workload < workloads; ++workload) {
    for (uint32_t replica = 0; replica < kReplicas; ++replica)
      containers_[NodeOf(workload, replica)].push_back({workload, replica});
  }
}

std::string GeneratedCluster::NamespaceOf(uint32_t workload) {
  return fmt::format("team-{:03}", workload % 40);
}

std::string GeneratedCluster::WorkloadName(uint32_t workload) {
  return fmt::format("checkout-service-{:05}", workload);
}

store::BundleKey GeneratedCluster::KeyOf(uint32_t node, int64_t start_s, int64_t seconds) const {
  return {
      .cluster = "bench",
      .start_s = start_s,
      .seconds = seconds,
      .node = fmt::format("ip-10-20-{}-{}.eu-central-1.compute.internal", node / 250, node % 250),
      .run = "abcd1234",
      .rolled_up = seconds != kWindowSeconds};
}

std::vector<store::CatalogRow> GeneratedCluster::RowsOf(uint32_t node, int64_t start_s,
                                                        int64_t seconds) const {
  std::vector<store::CatalogRow> rows;
  for (const auto& [workload, replica] : containers_[node]) {
    store::CatalogRow row;
    row.namespace_name = NamespaceOf(workload);
    row.workload = WorkloadName(workload);
    row.pod = fmt::format("{}-7d9f8b6c5d-x{}k2p", row.workload, replica);
    row.container = "main";
    row.pod_uid = fmt::format("0b8e7a52-9c1d-4e6f-8a3b-{:010}{:02}", workload, replica);
    row.container_id = ContainerId(workload * kReplicas + replica);
    row.node = KeyOf(node, start_s, seconds).node;
    row.type = "cpu";
    row.start_ns = start_s * kNsPerSecond;
    row.duration_ns = seconds * kNsPerSecond;
    row.unit = "nanoseconds";
    row.policies = {"monitoring/everything"};
    for (uint32_t i = 0; i < kBinaries; ++i)
      row.build_ids.push_back(fmt::format("{:032x}{:08x}", workload, i));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string GeneratedCluster::Bundle(uint32_t node, int64_t start_s, int64_t seconds) {
  store::BundleWriter writer(start_s * kNsPerSecond);
  std::vector<store::CatalogRow> rows = RowsOf(node, start_s, seconds);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [workload, replica] = containers_[node][i];
    const Encoded& encoded = ProfileOf(workload, replica, start_s, seconds);
    rows[i].samples = encoded.samples;
    rows[i].value = encoded.value;
    CHECK(writer.Add(rows[i], encoded.bytes));
  }
  Result<std::string> bytes = std::move(writer).Finish();
  CHECK(bytes);
  return *std::move(bytes);
}

const GeneratedCluster::Encoded& GeneratedCluster::ProfileOf(uint32_t workload, uint32_t replica,
                                                             int64_t start_s, int64_t seconds) {
  const int64_t first = (start_s / kWindowSeconds + replica) % kDistinctWindows;
  const auto key = std::tuple(workload, static_cast<uint32_t>(first), seconds);
  const auto found = made_.find(key);
  if (found != made_.end()) return found->second;
  Encoded made = seconds == kWindowSeconds ? MakeWindow(workload, static_cast<uint32_t>(first))
                                           : MakeRollUp(workload, replica, start_s, seconds);
  return made_.emplace(key, std::move(made)).first->second;
}

GeneratedCluster::Encoded GeneratedCluster::MakeWindow(uint32_t workload, uint32_t number) const {
  profile::ProfileBuilder builder(
      profile::CpuMeta(99, 1'700'000'000'000'000'000, kWindowSeconds * kNsPerSecond));
  std::mt19937 shared(workload);
  const std::vector<std::vector<uint32_t>> stacks = StacksOf(shared);
  std::mt19937 own(workload * kDistinctWindows + number + 1'000'000);
  std::vector<uint32_t> frames;
  for (uint32_t i = 0; i < kPicks; ++i) {
    // Some stacks are hot: the cube of a uniform number is mostly small.
    const double uniform = static_cast<double>(own()) / 4294967296.0;
    const auto at = static_cast<size_t>(uniform * uniform * uniform * kStacks);
    const int64_t values[] = {1, kPeriodNs};
    frames.clear();
    for (const uint32_t function : stacks[at])
      frames.push_back(AddFrame(builder, workload, function));
    builder.AddSample(frames, values);
  }
  const profile::Profile made = std::move(builder).Build();
  Encoded encoded{profile::EncodePprof(made), made.Total(0), made.Total(1)};
  encoded.bytes.shrink_to_fit();
  return encoded;
}

GeneratedCluster::Encoded GeneratedCluster::MakeRollUp(uint32_t workload, uint32_t replica,
                                                       int64_t start_s, int64_t seconds) {
  const int64_t step = seconds == 3600 ? 600 : kWindowSeconds;
  profile::Merger merger;
  for (int64_t at = start_s; at < start_s + seconds; at += step) {
    const Encoded& part = ProfileOf(workload, replica, at, step);
    const Result<profile::Profile> decoded = profile::DecodePprof(part.bytes);
    CHECK(decoded);
    CHECK(merger.Add(*decoded));
  }
  const profile::Profile made = std::move(merger).Finish();
  Encoded encoded{profile::EncodePprof(made), made.Total(0), made.Total(1)};
  encoded.bytes.shrink_to_fit();
  return encoded;
}

}  // namespace firetower::bench
