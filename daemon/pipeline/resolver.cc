// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/resolver.h"

#include <unistd.h>

#include <algorithm>
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
      unknown_(UnknownContainer()),
      own_pid_(static_cast<uint32_t>(::getpid())) {
  unknown_node_.container = unknown_;
  unknown_node_.path = "?";
  SetSelection(SelectEverything(97));
}

void Resolver::SetSelection(std::shared_ptr<const Selection> selection) {
  selection_ = std::move(selection);
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
    peers_.SetGate(node.id, DecisionOf(node), node.container->InContainer(), false);
  });
  // The kernel side's verdicts on threads come from the container's earlier filter.
  if (std::exchange(tasks_stale_, false)) DecideTasksAnew();
}

const Decision& Resolver::DecisionOf(const CgroupNode& node) {
  Known& known = decisions_[node.container.get()];
  if (known.version != selection_version_) {
    known.version = selection_version_;
    Decision decision = selection_->Decide(*node.container);
    if (!TaskFilter::Same(known.decision.filter.get(), decision.filter.get())) {
      tasks_stale_ = true;
    }
    known.decision = std::move(decision);
  }
  return known.decision;
}

std::optional<int64_t> Resolver::Process(const Round& round) {
  if (std::exchange(at_.slice_ended, false)) {
    OnSample(round.samples[at_.sample++], round);
  } else {
    BeginRound(round);
  }
  for (;; ++at_.sideband) {
    const SidebandEvent* event =
        at_.sideband < round.sideband.size() ? &round.sideband[at_.sideband] : nullptr;
    const int64_t time_ns = event != nullptr ? event->time_ns : std::numeric_limits<int64_t>::max();
    for (; at_.cgroup < round.cgroup_events.size(); ++at_.cgroup) {
      const CgroupEvent& cgroup = round.cgroup_events[at_.cgroup];
      if (cgroup.time_ns > time_ns) break;
      if (!TakeSamples(round, cgroup.time_ns))
        return static_cast<int64_t>(round.samples[at_.sample].time_ns);
      OnCgroup(cgroup, round.Text(cgroup.text_begin, cgroup.text_size));
    }
    if (!TakeSamples(round, time_ns))
      return static_cast<int64_t>(round.samples[at_.sample].time_ns);
    if (event == nullptr) break;
    processes_.Apply(*event, round.Text(event->text_begin, event->text_size));
    tasks_.Apply(*event);
  }
  EndRound(round);
  return std::nullopt;
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
  return !at_.slice_ended;
}

void Resolver::BeginRound(const Round& round) {
  at_ = {};
  if (round.reopened) {
    processes_.Rescan();
    DecideTasksAnew();
  }
  stacks_.Add(round);
  bad_records_ += round.bad_records;
}

void Resolver::EndRound(const Round& round) {
  if (round.lost_sideband > 0) {
    processes_.InvalidateAll();
    tasks_lossy_ = true;
  }
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
      peers_.SetGate(node->id, DecisionOf(*node), node->container->InContainer(), true);
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

bool Resolver::ResolveUser(uint64_t address, const std::vector<ProcessMapping>& mappings,
                           uint32_t pid, const ::firetower::daemon::Process* process) {
  const ProcessMapping* mapping = FindMapping(mappings, address);
  if (mapping == nullptr) return false;
  Frame frame;
  frame.module = processes_.NamesOf(*mapping, process);
  const std::shared_ptr<const Module>& module = modules_.Get(frame.module);
  switch (module->kind) {
    case ModuleKind::kFile:
    case ModuleKind::kVdso:
      frame.offset = address - mapping->start + mapping->file_offset;
      break;
    default:
      frame.offset = address;
      frame.pid = pid;
  }
  if (module->symbols.load(std::memory_order_relaxed) == Module::kWanted &&
      module->kind == ModuleKind::kFile && process != nullptr) {
    peers_.WantSymbols(module, *process, *mapping);
  }
  if (frames_.empty() || frames_.back().module != frame.module) {
    unwinder_.Touch(mapping->module);
    if (process != nullptr) {
      module->NoteSeen(process->pid, process->parent, mapping->start, mapping->end);
    }
  }
  frames_.push_back(frame);
  return true;
}

uint8_t Resolver::ResolveUserPart(std::span<const uint64_t> addresses, uint8_t stop,
                                  const std::vector<ProcessMapping>& mappings, uint32_t pid,
                                  ::firetower::daemon::Process* process) {
  const std::vector<ProcessMapping>* known = &mappings;
  for (size_t i = 0; i < addresses.size(); ++i) {
    // The innermost user address is where the task ran or left for the kernel; the others are
    // return addresses, and the call lies before them.
    uint64_t address = addresses[i] - (i > 0 ? 1 : 0);
    if (ResolveUser(address, *known, pid, process)) continue;
    if (i > 0) return kStopNoMapping;  // Not a return address after all: what follows is chance.
    if (process != nullptr && processes_.Refresh(*process)) {
      known = process->mappings.get();
      if (ResolveUser(address, *known, pid, process)) continue;
    }
    frames_.push_back({ModuleRegistry::kUnknown, 0, address});
  }
  return stop;
}

uint8_t Resolver::Resolve(const StackStore::Body& body, ::firetower::daemon::Process& process,
                          StackParts parts) {
  frames_.clear();
  std::span<const uint64_t> addresses = stacks_.Addresses(body);
  for (size_t i = 0; i < body.kernel_frames && parts != StackParts::kUser; ++i) {
    frames_.push_back({ModuleRegistry::kKernel, 0, addresses[i] - (i > 0 ? 1 : 0)});
  }
  if (parts == StackParts::kKernel) return FT_STOP_NO_USER;
  return ResolveUserPart(addresses.subspan(body.kernel_frames), body.stop, *process.mappings,
                         process.pid, &process);
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
  if (body->slice_serial == builder_.serial() && body->parts == parts &&
      body->mapping_generation == process.generation) {
    *stop = builder_.slice().stacks[body->slice_stack].stop;
    return body->slice_stack;
  }
  *stop = Resolve(*body, process, parts);
  body->slice_stack = builder_.AddStack(frames_, *stop);
  body->slice_serial = builder_.serial();
  body->parts = parts;
  body->mapping_generation = process.generation;
  return body->slice_stack;
}

void Resolver::NoteKernelCode(uint32_t tgid, uint32_t kernel_frames) {
  if (kernel_frames > 0 && tgid != own_pid_) builder_.slice().kernel_code = true;
}

TaskLabel Resolver::LabelOf(const ft_sample& sample) {
  TaskLabel label;
  if (label_choice_.comm || label_choice_.thread) {
    ::firetower::daemon::Process& process = processes_.Get(sample.tgid);
    if (label_choice_.comm) label.comm = process.comm;
    if (label_choice_.thread) label.thread = processes_.ThreadComm(process, sample.tid);
  }
  if (label_choice_.cpu) label.cpu = sample.cpu;
  return label;
}

void Resolver::AddSample(const CgroupNode& node, uint32_t stack, uint32_t label, uint64_t value,
                         int64_t time_ns, uint8_t stop) {
  uint32_t container = builder_.AddContainer(node.container, [&] { return DecisionOf(node); });
  const uint32_t row = builder_.AddSample(container, stack, label, FT_TYPE_CPU, value);
  Slice& slice = builder_.slice();
  if (slice.containers[container].decision.record_ns > 0) {
    if (slice.timed.size() < Slice::kMaxTimed) {
      slice.timed.push_back({time_ns, row, static_cast<uint32_t>(value)});
    } else {
      ++slice.untimed;
    }
  }
  ++slice.stops[stop < kStopCount ? stop : kStopNoMapping];
  if (node.container == unknown_) {
    ++slice.attribution.unknown;
  } else if (node.container->InContainer()) {
    ++slice.attribution.container;
  } else {
    ++slice.attribution.host;
  }
}

void Resolver::OnCold(const ft_sample& sample, const StackStore::Body& body, const Round& round) {
  ::firetower::daemon::Process& process = processes_.Get(sample.tgid);
  FinishedStack start;
  start.sample = sample;
  start.label = LabelOf(sample);
  if (cgroups_.Find(sample.cgroup_id) == nullptr) start.facts = FactsOf(sample);
  std::span<const uint64_t> addresses = stacks_.Addresses(body);
  start.addresses.assign(addresses.begin(), addresses.end());
  start.kernel_frames = body.kernel_frames;
  start.space = unwinder_.Meet(process, body.identity);
  start.mappings = process.mappings;
  const ColdStack& cold = round.cold[sample.cold];
  cold_.Add(std::move(start), cold, round.Stack(cold));
  TakeFinished();
}

void Resolver::TakeFinished() {
  for (FinishedStack& stack : cold_.finished()) {
    frames_.clear();
    NoteKernelCode(stack.sample.tgid, stack.kernel_frames);
    for (size_t i = 0; i < stack.kernel_frames; ++i) {
      frames_.push_back({ModuleRegistry::kKernel, 0, stack.addresses[i] - (i > 0 ? 1 : 0)});
    }
    Pending pending;
    pending.cgroup_id = stack.sample.cgroup_id;
    pending.since_ns = clock_.MonotonicNs();
    pending.time_ns = static_cast<int64_t>(stack.sample.time_ns);
    pending.value = stack.sample.value;
    pending.cpu = stack.sample.cpu;
    pending.label = stack.label;
    pending.kernel_frames = static_cast<uint8_t>(stack.kernel_frames);
    pending.stop = ResolveUserPart(std::span(stack.addresses).subspan(stack.kernel_frames),
                                   stack.stop, *stack.mappings, stack.sample.tgid,
                                   processes_.FindAlive(stack.sample.tgid));
    pending.frames = frames_;
    const bool settled = !stack.facts;
    if (stack.facts) pending.facts = *std::move(stack.facts);
    const CgroupNode* node = cgroups_.Find(stack.sample.cgroup_id);
    if (node == nullptr) {
      Defer(std::move(pending));
      continue;
    }
    const Decision& decision = DecisionOf(*node);
    if (settled ? decision.sampled : Wants(decision, pending)) {
      AddPending(pending, *node, decision.stacks);
    } else if (settled) {
      ++not_selected_;
    }
  }
  cold_.finished().clear();
}

void Resolver::OnSample(const ft_sample& sample, const Round& round) {
  const CgroupNode* node = cgroups_.Find(sample.cgroup_id);
  // The sample was taken before the verdict reached the kernel, or below an undecided parent.
  StackParts parts = StackParts::kUserAndKernel;
  if (node != nullptr && !selection_->everything()) {
    const Decision& decision = DecisionOf(*node);
    if (!Wants(decision, sample)) return;
    parts = decision.stacks;
  }
  if (sample.kind == FT_KIND_COLD && sample.cold < round.cold.size()) {
    if (const StackStore::Body* body = stacks_.Find(sample.stack_hash)) {
      OnCold(sample, *body, round);
      return;
    }
  }
  if (node == nullptr) {
    Defer(sample);
    return;
  }
  uint8_t stop = 0;
  uint32_t stack = StackOf(sample, parts, &stop);
  AddSample(*node, stack, builder_.AddLabel(LabelOf(sample)), sample.value,
            static_cast<int64_t>(sample.time_ns), stop);
}

bool Resolver::Wants(const Decision& decision, const ft_sample& sample) {
  bool wanted = decision.sampled;
  if (wanted && decision.filter) {
    const StackStore::Body* body = stacks_.Find(sample.stack_hash);
    wanted = tasks_.Wants(decision.filter, sample,
                          body == nullptr ? std::nullopt : std::optional(body->identity));
  }
  if (!wanted) ++not_selected_;
  return wanted;
}

bool Resolver::Wants(const Decision& decision, const Pending& pending) {
  const bool wanted = decision.sampled &&
                      (!decision.filter || decision.filter->Accepts(
                                               decision.filter->Match(pending.facts), pending.cpu));
  if (!wanted) ++not_selected_;
  return wanted;
}

TaskFacts Resolver::FactsOf(const ft_sample& sample) {
  if (!selection_->filters()) return {};
  const StackStore::Body* body = stacks_.Find(sample.stack_hash);
  return tasks_.FactsOf(sample.tgid, sample.tid,
                        body == nullptr ? std::nullopt : std::optional(body->identity), true);
}

void Resolver::Defer(const ft_sample& sample) {
  Pending pending;
  pending.cpu = sample.cpu;
  pending.facts = FactsOf(sample);
  pending.cgroup_id = sample.cgroup_id;
  pending.since_ns = clock_.MonotonicNs();
  pending.time_ns = static_cast<int64_t>(sample.time_ns);
  pending.value = sample.value;
  pending.label = LabelOf(sample);
  StackStore::Body* body = stacks_.Find(sample.stack_hash);
  if (body != nullptr) {
    pending.stop = Resolve(*body, processes_.Get(sample.tgid), StackParts::kUserAndKernel);
    pending.kernel_frames = body->kernel_frames;
    pending.frames = frames_;
  } else {
    pending.stop = kStopStackLost;
  }
  Defer(std::move(pending));
}

void Resolver::Defer(Pending pending) {
  if (pending_.size() >= kMaxPending) {  // The bound is reached: this one is unknown at once.
    AddPending(pending, unknown_node_, StackParts::kUserAndKernel);
    return;
  }
  ++builder_.slice().attribution.pending;
  pending_.push_back(std::move(pending));
}

void Resolver::AddPending(const Pending& pending, const CgroupNode& node, StackParts parts) {
  std::span<const Frame> frames = pending.frames;
  uint8_t stop = pending.stop;
  if (stop != kStopStackLost && parts == StackParts::kUser) {
    frames = frames.subspan(pending.kernel_frames);
  } else if (stop != kStopStackLost && parts == StackParts::kKernel) {
    frames = frames.first(pending.kernel_frames);
    stop = FT_STOP_NO_USER;
  }
  AddSample(node, builder_.AddStack(frames, stop), builder_.AddLabel(pending.label), pending.value,
            pending.time_ns, stop);
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
    const Decision& decision = DecisionOf(*node);
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
