// SPDX-License-Identifier: Apache-2.0
#include "query/top/process_sums.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/hash.h"
#include "profile/top/own_frame.h"
#include "profile/top/process_name.h"

namespace firetower::query {
namespace {

// The cost of a map's node beside its texts: links and colour, the allocator's header, numbers.
constexpr uint64_t kNodeBytes = 96;

uint64_t BytesOf(const std::vector<std::string>& functions) {
  uint64_t bytes = kNodeBytes;
  for (const std::string& name : functions) bytes += sizeof(name) + name.size();
  return bytes;
}

uint64_t BytesOf(const std::pair<ContainerKey, std::string>& process) {
  const auto& [namespace_name, pod, container] = process.first;
  return kNodeBytes + sizeof(process) + namespace_name.size() + pod.size() + container.size() +
         process.second.size();
}

int64_t Median(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The functions of one profile's stacks.
class StackReader {
 public:
  explicit StackReader(const profile::Profile& profile) : own_(profile) {
    for (uint32_t i = 0; i < profile.location_count(); ++i) {
      std::vector<std::string>& names = names_.emplace_back();
      const profile::Location location = profile.location(i);
      const size_t lines = std::max<size_t>(location.lines.size(), 1);
      for (size_t line = lines; line-- > 0;) names.push_back(profile.FrameName(location, line));
    }
  }

  // Calls `visit` with each function of a sample, from the outermost to its own.
  template <typename Visit>
  void ForEach(const profile::Sample& sample, const Visit& visit) const {
    const std::optional<profile::OwnFrames::Place> own = own_.Of(sample);
    if (!own) return;
    for (size_t i = sample.locations.size(); i-- > own->location;) {
      const std::vector<std::string>& names = names_[sample.locations[i]];
      const size_t inner = i == own->location ? own->line : 0;
      for (size_t line = 0; line + inner < names.size(); ++line) visit(names[line]);
    }
  }

 private:
  const profile::OwnFrames own_;
  std::vector<std::vector<std::string>> names_;  // of each location, the outermost line first
};

}  // namespace

ProcessSums::Sum* ProcessSums::SumOf(Key key) {
  const auto at = sums_.find(key);
  if (at != sums_.end()) return &at->second;
  if (is_recounting_) return nullptr;
  bytes_ += BytesOf(key);
  Sum& sum = sums_[std::move(key)];
  sum.lost = max_hidden_;
  return &sum;
}

void ProcessSums::Add(const profile::Profile& profile, uint32_t value_index,
                      const ContainerKey& container) {
  const StackReader reader(profile);
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const profile::Sample sample = profile.sample(i);
    const int64_t value = sample.values[value_index];
    total_ = profile::SaturatingAdd(total_, value);
    const std::string_view key = profile::LabelText(profile, sample, label_);
    if (key.empty() && !counts_nameless_) continue;
    Sum* sum = SumOf({container, std::string(key)});
    if (sum == nullptr) continue;
    sum->value = profile::SaturatingAdd(sum->value, value);
    sum->samples = profile::SaturatingAdd(sum->samples, sample.values[0]);
    uint64_t hash = kHashSeed;
    reader.ForEach(sample, [&](const std::string& name) { hash = HashText(name, hash); });
    const bool is_new = !sum->stacks.contains(hash);
    if (is_new && is_recounting_) continue;
    Stack& stack = sum->stacks[hash];
    stack.value = profile::SaturatingAdd(stack.value, value);
    if (!is_new) continue;
    reader.ForEach(sample, [&](const std::string& name) { stack.functions.push_back(name); });
    bytes_ += BytesOf(stack.functions);
  }
}

void ProcessSums::Prune() {
  if (is_recounting_) return;
  const uint64_t wanted = bytes_ / 2;
  has_dropped_ = true;
  DropStacks();
  constexpr size_t kFewProcesses = 16;
  while (bytes_ > wanted && sums_.size() > kFewProcesses) DropProcesses();
}

void ProcessSums::DropStacks() {
  std::vector<int64_t> values;
  for (const auto& [key, sum] : sums_) {
    for (const auto& [hash, stack] : sum.stacks) values.push_back(stack.value);
  }
  if (values.empty()) return;
  const int64_t limit = Median(values);
  for (auto& [key, sum] : sums_) {
    std::erase_if(sum.stacks, [&](const auto& one) {
      if (one.second.value > limit) return false;
      bytes_ -= BytesOf(one.second.functions);
      return true;
    });
  }
}

void ProcessSums::DropProcesses() {
  std::vector<int64_t> mosts;
  for (const auto& [key, sum] : sums_) mosts.push_back(profile::SaturatingAdd(sum.value, sum.lost));
  const int64_t limit = Median(mosts);
  std::erase_if(sums_, [&](const auto& one) {
    const auto& [key, sum] = one;
    if (profile::SaturatingAdd(sum.value, sum.lost) > limit) return false;
    bytes_ -= BytesOf(key);
    for (const auto& stack : sum.stacks) bytes_ -= BytesOf(stack.second.functions);
    return true;
  });
  max_hidden_ = std::max(max_hidden_, limit);
}

void ProcessSums::Recount() {
  is_recounting_ = true;
  total_ = 0;
  for (auto& [key, sum] : sums_) {
    sum.value = sum.samples = 0;
    for (auto& [hash, stack] : sum.stacks) stack.value = 0;
  }
}

std::vector<TopProcess> ProcessSums::Top(size_t k) const {
  std::vector<std::pair<const Key*, const Sum*>> order;
  for (const auto& [key, sum] : sums_) order.emplace_back(&key, &sum);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return std::tie(b.second->value, *a.first) < std::tie(a.second->value, *b.first);
  });
  if (order.size() > k) order.resize(k);
  std::vector<TopProcess> rows;
  for (const auto& [key, sum] : order) rows.push_back(Row(*key, *sum));
  return rows;
}

TopProcess ProcessSums::Row(const Key& key, const Sum& sum) const {
  TopProcess row;
  std::tie(row.namespace_name, row.pod, row.container) = key.first;
  row.process = key.second;
  row.value = sum.value;
  row.samples = sum.samples;
  if (total_ > 0)
    row.share_percent = 100 * static_cast<double>(sum.value) / static_cast<double>(total_);
  const Stack* hottest = nullptr;
  for (const auto& [hash, stack] : sum.stacks) {
    if (hottest == nullptr || stack.value > hottest->value) hottest = &stack;
  }
  if (hottest == nullptr || sum.value <= 0) return row;
  row.hottest_stack = hottest->functions;
  row.hottest_percent = 100 * static_cast<double>(hottest->value) / static_cast<double>(sum.value);
  return row;
}

}  // namespace firetower::query
