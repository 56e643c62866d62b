// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/resolver.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/log.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kScanEveryNs = kNsPerSecond;        // reading the tree again for a stray id
constexpr int64_t kSweepEveryNs = 60 * kNsPerSecond;  // forgetting the dead

std::shared_ptr<const Container> UnknownContainer() {
  auto container = std::make_shared<Container>();
  container->labels = {"-", "-", "unknown"};
  container->root_path = "?";
  return container;
}

}  // namespace

Amount AmountOf(const ft_sample& sample) {
  if (sample.type != FT_TYPE_MEMORY) return {.count = 1, .value = sample.value, .runqueue_ns = 0};
  const uint64_t every = sample.value & FT_ALLOC_EVERY_MOST;
  return {.count = every, .value = (sample.value >> 16) * every, .runqueue_ns = 0};
}

Resolver::Resolver(ModuleRegistry& modules, ProcessTable& processes, CgroupTree& cgroups,
                   Unwinder& unwinder, ResolverPeers& peers, const Clock& clock, LabelChoice labels,
                   size_t stack_words)
    : modules_(modules),
      processes_(processes),
      cgroups_(cgroups),
      unwinder_(unwinder),
      cold_(unwinder, processes, clock),
      peers_(peers),
      clock_(clock),
      label_choice_(labels),
      stacks_(stack_words),
      tasks_(processes, peers),
      frames_(modules, processes, functions_, unwinder, peers),
      unknown_(UnknownContainer()),
      own_pid_(static_cast<uint32_t>(::getpid())) {
  unknown_node_.container = unknown_;
  unknown_node_.path = "?";
  SetSelection(SelectEverything(97));
}

void Resolver::SetSelection(std::shared_ptr<const Selection> selection) {
  selection_ = std::move(selection);
  notes_newest_ = selection_->Samples(FT_TYPE_LOCK);
  if (!notes_newest_) newest_.Clear();
  ++selection_version_;
  GateAll();
}

void Resolver::DecideTasksAnew() {
  tasks_.SetVersion(++tasks_version_);
  peers_.SetTasksVersion(tasks_version_);
}

void Resolver::GateAll() {
  cgroups_.ForEach([&](const CgroupNode& node) {
    if (node.removed_ns != 0) return;
    peers_.SetGate(node.id, DecisionsOf(node), node.container->InContainer(), false);
  });
  // The kernel side's verdicts on threads come from the container's earlier filter.
  if (std::exchange(tasks_stale_, false)) DecideTasksAnew();
}

const Decisions& Resolver::DecisionsOf(const CgroupNode& node) {
  Known& known = decisions_[node.container.get()];
  if (known.version == selection_version_) return known.decisions;
  known.version = selection_version_;
  for (Type type = 0; type < FT_TYPE_COUNT; ++type) {
    Decision decision = selection_->Decide(*node.container, type);
    Decision& before = known.decisions[type];
    tasks_stale_ |= !TaskFilter::Same(before.filter.get(), decision.filter.get());
    before = std::move(decision);
  }
  return known.decisions;
}

bool Resolver::Process(const Round& round) {
  if (std::exchange(at_.slice_ended, false)) {
    TakeFirst(round);
  } else {
    BeginRound(round);
  }
  TakeFreed(round);
  for (;; ++at_.sideband) {
    const SidebandEvent* event =
        at_.sideband < round.sideband.size() ? &round.sideband[at_.sideband] : nullptr;
    const int64_t time_ns = event != nullptr ? event->time_ns : std::numeric_limits<int64_t>::max();
    for (; at_.cgroup < round.cgroup_events.size(); ++at_.cgroup) {
      const CgroupEvent& cgroup = round.cgroup_events[at_.cgroup];
      if (cgroup.time_ns > time_ns) break;
      if (!TakeSamples(round, cgroup.time_ns)) return true;
      OnCgroup(cgroup, round.Text(cgroup.text_begin, cgroup.text_size));
    }
    if (!TakeSamples(round, time_ns)) return true;
    if (event == nullptr) break;
    processes_.Apply(*event, round.Text(event->text_begin, event->text_size));
    tasks_.Apply(*event);
  }
  EndRound(round);
  return false;
}

void Resolver::TakeFreed(const Round& round) {
  for (; at_.freed < round.freed.size(); ++at_.freed) {
    const ft_freed& freed = round.freed[at_.freed];
    if (static_cast<int64_t>(freed.time_ns) >= slice_end_ns_) break;
    builder_.slice().freed.push_back(freed);
  }
}

void Resolver::TakeFirst(const Round& round) {
  const bool has_sample = at_.sample < round.samples.size();
  const bool has_wait = at_.wait < round.waits.size();
  if (has_wait &&
      (!has_sample || round.waits[at_.wait].sample.time_ns < round.samples[at_.sample].time_ns)) {
    OnWait(round.waits[at_.wait++]);
  } else if (has_sample) {
    OnSample(round.samples[at_.sample++], round);
  }
}

bool Resolver::TakeSamples(const Round& round, int64_t before_ns) {
  auto sample = round.samples.begin() + static_cast<ptrdiff_t>(at_.sample);
  for (; sample != round.samples.end(); ++sample) {
    const auto time_ns = static_cast<int64_t>(sample->time_ns);
    if (time_ns >= before_ns) break;
    if (time_ns >= slice_end_ns_) {
      at_.slice_ended = true;
      break;
    }
    OnSample(*sample, round);
  }
  at_.sample = static_cast<size_t>(sample - round.samples.begin());
  for (; at_.wait < round.waits.size(); ++at_.wait) {
    const ft_wait& wait = round.waits[at_.wait];
    const auto time_ns = static_cast<int64_t>(wait.sample.time_ns);
    if (time_ns >= before_ns) break;
    if (time_ns >= slice_end_ns_) {
      at_.slice_ended = true;
      break;
    }
    OnWait(wait);
  }
  return !at_.slice_ended;
}

void Resolver::BeginRound(const Round& round) {
  at_ = {};
  if (round.reopened) {
    processes_.Rescan();
    DecideTasksAnew();
  }
  stacks_.Add(round);
  traces_.BeginRound(round.traces);
  functions_.BeginEpoch(stacks_.epoch());
  for (uint32_t begin = 0; const uint32_t end : round.function_ends) {
    if (!functions_.Add(std::span(round.functions).subspan(begin, end - begin))) ++bad_records_;
    begin = end;
  }
  bad_records_ += round.bad_records;
}

void Resolver::EndRound(const Round& round) {
  if (round.lost_sideband > 0) {
    processes_.InvalidateAll();
    tasks_lossy_ = true;
  }
  std::vector<ft_freed>& freed = builder_.slice().freed;
  freed.insert(freed.end(), round.freed.begin() + static_cast<ptrdiff_t>(at_.freed),
               round.freed.end());
  processes_.EndRound();
  unwinder_.EndRound();
  cold_.Retry();
  TakeFinished();
}

void Resolver::TakeTable(LoadedTable table) {
  unwinder_.Take(std::move(table));
  cold_.Retry();
  TakeFinished();
}

void Resolver::OnCgroup(const CgroupEvent& event, std::string_view path) {
  switch (event.change) {
    case FT_CGROUP_MKDIR:
    case FT_CGROUP_RENAME: {
      if (event.path_cut) {
        scan_wanted_ = true;  // The mounted tree has the whole path.
        return;
      }
      if (event.change == FT_CGROUP_RENAME) decisions_.clear();  // Its container is another one.
      cgroups_.Add(event.cgroup_id, path);
      if (selection_->everything()) return;
      const CgroupNode* node = cgroups_.Find(event.cgroup_id);
      if (node == nullptr) return;
      peers_.SetGate(node->id, DecisionsOf(*node), node->container->InContainer(), true);
      return;
    }
    case FT_CGROUP_OOM_KILL:
      if (const CgroupNode* node = cgroups_.Find(event.cgroup_id)) {
        peers_.OnOomKill(node->container, event.time_ns);
      }
      return;
    case FT_CGROUP_RMDIR:
      OnRemoved(event.cgroup_id, clock_.MonotonicNs());
      return;
    default:
      return;
  }
}

void Resolver::OnRemoved(uint64_t cgroup_id, int64_t now_ns) {
  // The kernel side did so itself; but a verdict for all cgroups may have been on its way.
  peers_.RemoveGate(cgroup_id);
  const CgroupNode* node = cgroups_.Find(cgroup_id);
  if (node == nullptr || node->removed_ns != 0) return;
  if (node->path == node->container->root_path) builder_.slice().gone.push_back(node->container);
  cgroups_.Remove(cgroup_id, now_ns);
}

uint8_t Resolver::Resolve(const StackStore::Body& body, ::firetower::daemon::Process& process,
                          StackParts parts) {
  return frames_.Resolve(stacks_.Addresses(body), body.kernel_frames, body.stop, process,
                         body.identity, parts);
}

uint32_t Resolver::StackOf(const ft_sample& sample, StackParts parts, uint8_t* stop) {
  StackStore::Body* body = stacks_.Find(sample.stack_hash);
  if (body == nullptr) {
    *stop = kStopStackLost;
    return builder_.AddStack({}, kStopStackLost);
  }
  NoteKernelCode(sample.tgid, body->kernel_frames);
  ::firetower::daemon::Process& process = processes_.Get(sample.tgid);
  // Within execve the count of execs is the old image's, and the mappings are the new one's.
  if (body->stop != FT_STOP_EXEC) processes_.Identify(process, body->identity);
  // The kernel side had no table for some of its code, and no copy of a wait's stack to go on with.
  if (sample.kind == FT_KIND_WAIT && body->stop != FT_STOP_ROOT && body->stop != FT_STOP_NO_USER)
    unwinder_.Meet(process, body->identity);
  if (body->slice_serial == builder_.serial() && body->parts == parts &&
      body->mapping_generation == process.generation) {
    *stop = builder_.slice().stacks[body->slice_stack].stop;
    return body->slice_stack;
  }
  *stop = Resolve(*body, process, parts);
  body->slice_stack = builder_.AddStack(frames_.frames(), *stop);
  body->slice_serial = builder_.serial();
  body->parts = parts;
  body->mapping_generation = process.generation;
  return body->slice_stack;
}

void Resolver::TakeFunctions(Slice& slice) {
  functions_.TakeNew(slice.functions);
  functions_.TakeGone(slice.functions_gone);
}

void Resolver::NoteKernelCode(uint32_t tgid, uint32_t kernel_frames) {
  if (kernel_frames > 0 && tgid != own_pid_) builder_.slice().kernel_code = true;
}

void Resolver::SetTrace(const ft_trace_ids& ids, TaskLabel& label) const {
  if (label_choice_.trace) label.trace = {ids.trace[0], ids.trace[1], ids.span};
}

TaskLabel Resolver::LabelOf(const ft_sample& sample) {
  TaskLabel label;
  if (label_choice_.comm || label_choice_.thread) {
    ::firetower::daemon::Process& process = processes_.Get(sample.tgid);
    if (label_choice_.comm) label.comm = process.comm;
    if (label_choice_.thread) label.thread = processes_.ThreadComm(process, sample.tid);
  }
  if (label_choice_.cpu) label.cpu = sample.cpu;
  if (const ft_trace_ids* trace = traces_.Find(sample)) SetTrace(*trace, label);
  return label;
}

TaskLabel Resolver::LabelOf(const Event& event) {
  TaskLabel label = LabelOf(event.sample);
  if (event.trace != nullptr) SetTrace(*event.trace, label);
  if (!IsWait(event.sample.type)) return label;
  label.state = event.state;
  if (label_choice_.comm) label.waker = event.waker;
  if (event.sample.type != FT_TYPE_LOCK) return label;
  label.futex = event.lock.use;
  label.holder = event.lock.holder;
  return label;
}

void Resolver::AddSample(const CgroupNode& node, Type type, uint32_t stack, uint32_t label,
                         const Amount& amount, const Taken& taken, uint8_t stop) {
  uint32_t container =
      builder_.AddContainer(node.container, type, [&] { return DecisionsOf(node)[type]; });
  const uint32_t row = builder_.AddSample(container, stack, label, amount);
  Slice& slice = builder_.slice();
  const Decision& decision = slice.containers[container].decision;
  const bool is_recorded = decision.record_ns > 0;
  if (is_recorded || (decision.to_store && label_choice_.times)) {
    if (slice.timed.size() < Slice::kMaxTimed) {
      slice.timed.push_back({taken.time_ns, row, amount});
    } else if (is_recorded) {
      ++slice.untimed;
    }
  }
  if (decision.in_use)
    slice.allocated.push_back(
        {{static_cast<uint64_t>(taken.time_ns), taken.tid}, taken.pid, row, amount});
  ++slice.stops[stop < kStopCount ? stop : kStopNoMapping];
  if (type != FT_TYPE_CPU) return;
  if (node.container == unknown_) {
    ++slice.attribution.unknown;
  } else if (node.container->InContainer()) {
    ++slice.attribution.container;
  } else {
    ++slice.attribution.host;
  }
}

void Resolver::OnSample(const ft_sample& sample, const Round& round) {
  if (sample.kind == FT_KIND_COLD && sample.cold < round.cold.size()) {
    if (const StackStore::Body* body = stacks_.Find(sample.stack_hash)) {
      const CgroupNode* node = cgroups_.Find(sample.cgroup_id);
      const bool decided = node != nullptr && !selection_->everything();
      if (!decided || Wants(DecisionsOf(*node), sample)) OnCold(sample, *body, round);
      return;
    }
  }
  if (notes_newest_) newest_.Note(sample);
  Take({sample, AmountOf(sample)});
}

void Resolver::Take(const Event& event) {
  const ft_sample& sample = event.sample;
  const CgroupNode* node = cgroups_.Find(sample.cgroup_id);
  if (node == nullptr) {
    Defer(event);
    return;
  }
  // The sample was taken before the verdict reached the kernel, or below an undecided parent.
  StackParts parts = StackParts::kUserAndKernel;
  if (!selection_->everything()) {
    const Decisions& decisions = DecisionsOf(*node);
    if (!Wants(decisions, sample)) return;
    parts = decisions[sample.type].stacks;
  }
  uint8_t stop = 0;
  uint32_t stack = StackOf(sample, parts, &stop);
  TaskLabel label = LabelOf(event);
  if (event.lock.holder_stack != 0) label.holder_stack = HolderStack(event.lock);
  AddSample(*node, sample.type, stack, builder_.AddLabel(label), event.amount, TakenAt(sample),
            stop);
}

bool Resolver::Wants(const Decisions& decisions, const ft_sample& sample) {
  bool wanted = decisions[sample.type].sampled;
  if (wanted && decisions[sample.type].filter) {
    const StackStore::Body* body = stacks_.Find(sample.stack_hash);
    wanted = tasks_.Wants(decisions, sample,
                          body == nullptr ? std::nullopt : std::optional(body->identity));
  }
  if (!wanted) ++not_selected_;
  return wanted;
}

void Resolver::ScanCgroups(int64_t now_ns) {
  if (now_ns < next_scan_ns_) return;
  next_scan_ns_ = now_ns + kScanEveryNs;
  scan_wanted_ = false;
  uint64_t untold = peers_.UnreportedCgroups();
  Status scanned = cgroups_.Scan();
  if (!scanned) LOG(kWarn, "cgroups not read", {{"error", scanned.error().message()}});
  decisions_.clear();  // A cgroup may have become another container's.
  if (untold != untold_cgroups_) {
    untold_cgroups_ = untold;
    for (uint64_t id : cgroups_.Missing()) OnRemoved(id, now_ns);
  }
  if (!selection_->everything()) GateAll();
}

void Resolver::Tick(bool last) {
  int64_t now = clock_.MonotonicNs();
  cold_.Retry(last);
  TakeFinished();
  // A name that was lost may have made another verdict; once a tick, or losses would make more.
  if (std::exchange(tasks_lossy_, false)) DecideTasksAnew();
  bool untold = peers_.UnreportedCgroups() != untold_cgroups_;
  if (scan_wanted_ || untold || !pending_.empty()) ScanCgroups(now);
  // Removes the settled ones; the others keep their order.
  std::erase_if(pending_, [&](const Pending& pending) {
    const CgroupNode* node = cgroups_.Find(pending.cgroup_id);
    if (node == nullptr) {
      bool expired = last || pending.since_ns + kPendingNs <= now;
      if (expired) AddPending(pending, unknown_node_, StackParts::kUserAndKernel);
      return expired;
    }
    const Decision& decision = DecisionsOf(*node)[pending.type];
    if (Wants(decision, pending)) AddPending(pending, *node, decision.stacks);
    return true;
  });
  if (now >= next_sweep_ns_) {
    next_sweep_ns_ = now + kSweepEveryNs;
    for (uint64_t id : cgroups_.Sweep(now)) peers_.RemoveGate(id);
    processes_.Sweep();
    unwinder_.Sweep();
    decisions_.clear();  // Containers come and go; the rest is decided again in no time.
  }
}

}  // namespace firetower::daemon
