// SPDX-License-Identifier: Apache-2.0
// The resolver's samples that wait: for an unwind table, or for their container.
#include <algorithm>
#include <utility>

#include "daemon/pipeline/resolver.h"

namespace firetower::daemon {

void Resolver::OnCold(const ft_sample& sample, const StackStore::Body& body, const Round& round) {
  ::firetower::daemon::Process& process = processes_.Get(sample.tgid);
  FinishedStack start;
  start.sample = sample;
  start.label = LabelOf(sample);
  if (cgroups_.Find(sample.cgroup_id) == nullptr) start.facts = FactsOf(sample);
  std::span<const uint64_t> addresses = stacks_.Addresses(body);
  start.addresses.assign(addresses.begin(), addresses.end());
  start.kernel_frames = body.kernel_frames;
  start.identity = body.identity;
  start.space = unwinder_.Meet(process, body.identity);
  start.mappings = process.mappings;
  const ColdStack& cold = round.cold[sample.cold];
  cold_.Add(std::move(start), cold, round.Stack(cold));
  TakeFinished();
}

void Resolver::TakeFinished() {
  for (FinishedStack& stack : cold_.finished()) {
    NoteKernelCode(stack.sample.tgid, stack.kernel_frames);
    Pending pending;
    pending.cgroup_id = stack.sample.cgroup_id;
    pending.since_ns = clock_.MonotonicNs();
    pending.taken = TakenAt(stack.sample);
    pending.amount = AmountOf(stack.sample);
    pending.type = stack.sample.type;
    pending.cpu = stack.sample.cpu;
    pending.label = stack.label;
    pending.kernel_frames = static_cast<uint8_t>(stack.kernel_frames);
    pending.stop = frames_.Resolve(stack);
    pending.frames = frames_.frames();
    const bool settled = !stack.facts;
    if (stack.facts) pending.facts = *std::move(stack.facts);
    const CgroupNode* node = cgroups_.Find(stack.sample.cgroup_id);
    if (node == nullptr) {
      Defer(std::move(pending));
      continue;
    }
    const Decision& decision = DecisionsOf(*node)[pending.type];
    if (settled ? decision.sampled : Wants(decision, pending)) {
      AddPending(pending, *node, decision.stacks);
    } else if (settled) {
      ++not_selected_;
    }
  }
  cold_.finished().clear();
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

void Resolver::Defer(const Event& event) {
  const ft_sample& sample = event.sample;
  Pending pending;
  pending.type = sample.type;
  pending.cpu = sample.cpu;
  pending.facts = FactsOf(sample);
  pending.cgroup_id = sample.cgroup_id;
  pending.since_ns = clock_.MonotonicNs();
  pending.taken = TakenAt(sample);
  pending.amount = event.amount;
  pending.label = LabelOf(event);
  StackStore::Body* body = stacks_.Find(sample.stack_hash);
  if (body != nullptr) {
    pending.stop = Resolve(*body, processes_.Get(sample.tgid), StackParts::kUserAndKernel);
    pending.kernel_frames = body->kernel_frames;
    pending.frames = frames_.frames();
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
  AddSample(node, pending.type, builder_.AddStack(frames, stop), builder_.AddLabel(pending.label),
            pending.amount, pending.taken, stop);
}

}  // namespace firetower::daemon
