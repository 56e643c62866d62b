// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/rounds/round_builder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "daemon/capture/sideband_record.h"

namespace firetower::daemon {
namespace {

// The kind is in the same byte of every record head.
constexpr size_t kKindOffset = offsetof(ft_sample, kind);

template <typename Event>
void CopyWithText(const Event& event, const Round& from, std::vector<Event>& list, Round& to) {
  Event copy = event;
  copy.text_begin = static_cast<uint32_t>(to.text.size());
  to.text += from.Text(event.text_begin, event.text_size);
  list.push_back(copy);
}

int64_t TimeOf(const ft_sample& sample) { return static_cast<int64_t>(sample.time_ns); }
int64_t TimeOf(const ft_wait& wait) { return TimeOf(wait.sample); }
template <typename Event>
int64_t TimeOf(const Event& event) {
  return event.time_ns;
}

}  // namespace

// Stable: two events of one task in one nanosecond stay in their ring's order. std::stable_sort
// would allocate in every round.
template <typename Event>
size_t RoundBuilder::SortAndSplit(std::vector<Event>& events, std::vector<Event>& scratch,
                                  int64_t horizon_ns) {
  auto earlier = [](const Event& a, const Event& b) { return TimeOf(a) < TimeOf(b); };
  if (!std::is_sorted(events.begin(), events.end(), earlier)) {
    order_.clear();
    for (uint32_t i = 0; i < events.size(); ++i) order_.emplace_back(TimeOf(events[i]), i);
    std::sort(order_.begin(), order_.end());
    scratch.clear();
    for (auto [time_ns, place] : order_) scratch.push_back(events[place]);
    events.swap(scratch);
  }
  auto split =
      std::upper_bound(events.begin(), events.end(), horizon_ns,
                       [](int64_t horizon, const Event& event) { return horizon < TimeOf(event); });
  return static_cast<size_t>(split - events.begin());
}

void RoundBuilder::Begin(Round& round) {
  round_ = &round;
  std::swap(*round_, left_);
  left_.Clear();
}

void RoundBuilder::OnRecord(std::span<const std::byte> record) noexcept {
  if (record.size() < sizeof(ft_sample)) {
    ++round_->bad_records;
    return;
  }
  switch (static_cast<uint8_t>(record[kKindOffset])) {
    case FT_KIND_SAMPLE: {
      ft_sample& sample = round_->samples.emplace_back();
      std::memcpy(&sample, record.data(), sizeof(sample));
      break;
    }
    case FT_KIND_WAIT:
      AppendWait(record);
      break;
    case FT_KIND_COLD:
      AppendCold(record);
      break;
    case FT_KIND_STACK:
      AppendStack(record);
      break;
    case FT_KIND_TRACE: {
      ft_trace& trace = round_->traces.emplace_back();
      std::memcpy(&trace, record.data(), sizeof(trace));
      break;
    }
    case FT_KIND_FREED: {
      ft_freed& freed = round_->freed.emplace_back();
      std::memcpy(&freed, record.data(), sizeof(freed));
      break;
    }
    case FT_KIND_FUNCTION:
      round_->functions.insert(round_->functions.end(), record.begin(), record.end());
      round_->function_ends.push_back(static_cast<uint32_t>(round_->functions.size()));
      break;
    case FT_KIND_CGROUP:
      AppendCgroup(record);
      break;
    default:
      ++round_->bad_records;
  }
}

void RoundBuilder::AppendWait(std::span<const std::byte> record) {
  ft_wait wait;
  if (record.size() < sizeof(wait)) {
    ++round_->bad_records;
    return;
  }
  std::memcpy(&wait, record.data(), sizeof(wait));
  // The reader divides by the value.
  if (wait.sample.value == 0 || wait.runqueue_ns > wait.sample.value) {
    ++round_->bad_records;
    return;
  }
  round_->waits.push_back(wait);
}

void RoundBuilder::AppendStack(std::span<const std::byte> record) {
  ft_stack head;
  std::memcpy(&head, record.data(), sizeof(head));
  size_t frames = size_t{head.kernel_frames} + head.user_frames;
  if (record.size() < sizeof(head) + frames * sizeof(uint64_t)) {
    ++round_->bad_records;
    return;
  }
  size_t words = sizeof(head) / sizeof(uint64_t) + frames;
  size_t begin = round_->bodies.size();
  round_->body_begins.push_back(static_cast<uint32_t>(begin));
  round_->bodies.resize(begin + words);
  std::memcpy(round_->bodies.data() + begin, record.data(), words * sizeof(uint64_t));
}

void RoundBuilder::AppendCold(std::span<const std::byte> record) {
  constexpr size_t kHeadBytes = sizeof(ft_cold);
  // If there are more than a sample can number, the reader has not run for minutes.
  if (record.size() < kHeadBytes || round_->cold.size() > std::numeric_limits<uint16_t>::max()) {
    ++round_->bad_records;
    return;
  }
  ft_cold head;
  std::memcpy(&head, record.data(), kHeadBytes);
  if (head.stack_bytes > record.size() - kHeadBytes) {
    ++round_->bad_records;
    return;
  }
  ft_sample& sample = round_->samples.emplace_back(head.sample);
  sample.cold = static_cast<uint16_t>(round_->cold.size());
  ColdStack& stack = round_->cold.emplace_back();
  stack.ip = head.ip;
  stack.sp = head.sp;
  stack.bp = head.bp;
  stack.returned = head.returned != 0;
  stack.stack_start = head.stack_start;
  stack.entry = head.entry;
  std::copy(std::begin(head.registers), std::end(head.registers), stack.registers.begin());
  std::copy(std::begin(head.absent), std::end(head.absent), stack.absent.begin());
  stack.begin = static_cast<uint32_t>(round_->cold_bytes.size());
  stack.size = head.stack_bytes;
  auto bytes = record.subspan(kHeadBytes, head.stack_bytes);
  round_->cold_bytes.insert(round_->cold_bytes.end(), bytes.begin(), bytes.end());
}

void RoundBuilder::AppendCgroup(std::span<const std::byte> record) {
  ft_cgroup_event head;
  std::memcpy(&head, record.data(), sizeof(head));
  if (record.size() < sizeof(head) + head.path_bytes) {
    ++round_->bad_records;
    return;
  }
  CgroupEvent& event = round_->cgroup_events.emplace_back();
  event.time_ns = static_cast<int64_t>(head.time_ns);
  event.cgroup_id = head.cgroup_id;
  event.change = head.change;
  event.path_cut = head.path_cut != 0;
  event.text_begin = static_cast<uint32_t>(round_->text.size());
  event.text_size = head.path_bytes;
  round_->text.append(reinterpret_cast<const char*>(record.data()) + sizeof(head), head.path_bytes);
}

void RoundBuilder::OnSideband(std::span<const std::byte> record) {
  if (!AppendSidebandRecord(record, *round_)) ++round_->bad_records;
}

void RoundBuilder::Finish(int64_t horizon_ns) {
  Round& round = *round_;
  round.horizon_ns = horizon_ns;
  size_t samples = SortAndSplit(round.samples, scratch_.samples, horizon_ns);
  left_.samples.assign(round.samples.begin() + static_cast<ptrdiff_t>(samples),
                       round.samples.end());
  round.samples.resize(samples);
  for (ft_sample& sample : left_.samples) {
    if (sample.kind != FT_KIND_COLD) continue;
    ColdStack stack = round.cold[sample.cold];
    std::span<const std::byte> bytes = round.Stack(stack);
    stack.begin = static_cast<uint32_t>(left_.cold_bytes.size());
    left_.cold_bytes.insert(left_.cold_bytes.end(), bytes.begin(), bytes.end());
    sample.cold = static_cast<uint16_t>(left_.cold.size());
    left_.cold.push_back(stack);
  }
  const size_t waits = SortAndSplit(round.waits, scratch_.waits, horizon_ns);
  left_.waits.assign(round.waits.begin() + static_cast<ptrdiff_t>(waits), round.waits.end());
  round.waits.resize(waits);
  size_t sideband = SortAndSplit(round.sideband, scratch_.sideband, horizon_ns);
  for (size_t i = sideband; i < round.sideband.size(); ++i) {
    CopyWithText(round.sideband[i], round, left_.sideband, left_);
  }
  round.sideband.resize(sideband);
  size_t cgroups = SortAndSplit(round.cgroup_events, scratch_.cgroup_events, horizon_ns);
  for (size_t i = cgroups; i < round.cgroup_events.size(); ++i) {
    CopyWithText(round.cgroup_events[i], round, left_.cgroup_events, left_);
  }
  round.cgroup_events.resize(cgroups);
  round_ = nullptr;
}

bool RoundBuilder::IsEmpty(const Round& round) {
  return round.samples.empty() && round.waits.empty() && round.sideband.empty() &&
         round.cgroup_events.empty() && round.body_begins.empty() && round.traces.empty() &&
         round.function_ends.empty() && round.lost_sideband == 0 && round.bad_records == 0 &&
         !round.reopened;
}

}  // namespace firetower::daemon
