// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/task_gate.h"

namespace firetower::daemon {
namespace {

std::optional<std::string> ValueOf(Result<std::string> read) {
  return read ? std::optional(*std::move(read)) : std::nullopt;
}

}  // namespace

void TaskGate::SetVersion(uint32_t version) {
  version_ = version;
  tasks_.clear();
  threads_.clear();
}

void TaskGate::Tell(uint32_t tid, const Known& known) {
  uint32_t left_out = 0;
  for (Type type = 0; type < FT_TYPE_COUNT; ++type)
    left_out |= (known.match[type] == 0 ? 1u : 0u) << type;
  peers_.SetTask({tid, known.identity, version_, left_out, 0, 0, 0});
}

void TaskGate::Remember(uint32_t tid, Known known) {
  Forget(tid);
  if (tasks_.size() >= kMaxTasks) {
    for (const auto& [other, its] : tasks_) peers_.ForgetTask(other);
    tasks_.clear();
    threads_.clear();
  }
  threads_[known.tgid].insert(tid);
  Tell(tid, tasks_.emplace(tid, std::move(known)).first->second);
}

bool TaskGate::SameFilters(const Known& known, const Decisions& decisions) {
  for (Type type = 0; type < FT_TYPE_COUNT; ++type) {
    if (!TaskFilter::Same(known.filters[type].get(), decisions[type].filter.get())) return false;
  }
  return true;
}

TaskGate::Known TaskGate::Match(const Decisions& decisions, const ft_sample& sample,
                                std::optional<uint32_t> identity) {
  Known known;
  known.tgid = sample.tgid;
  known.identity = identity.value_or(0);
  known.match.fill(~uint64_t{0});
  bool reads_process = false;
  for (const Decision& decision : decisions)
    reads_process |= decision.filter && decision.filter->reads_process();
  const TaskFacts facts = FactsOf(sample.tgid, sample.tid, identity, reads_process);
  for (Type type = 0; type < FT_TYPE_COUNT; ++type) {
    known.filters[type] = decisions[type].filter;
    const TaskFilter* filter = known.filters[type].get();
    if (filter != nullptr && filter->any_tasks()) known.match[type] = filter->Match(facts);
  }
  return known;
}

bool TaskGate::Wants(const Decisions& decisions, const ft_sample& sample,
                     std::optional<uint32_t> identity) {
  const TaskFilter& filter = *decisions[sample.type].filter;
  if (!filter.any_tasks()) return filter.Accepts(~uint64_t{0}, sample.cpu);
  auto known = tasks_.find(sample.tid);
  if (known != tasks_.end() && identity && SameFilters(known->second, decisions) &&
      known->second.tgid == sample.tgid && known->second.identity == *identity) {
    // One more sample of it came: another thread may have taken its place there.
    Tell(sample.tid, known->second);
    return filter.Accepts(known->second.match[sample.type], sample.cpu);
  }
  Known matched = Match(decisions, sample, identity);
  const uint64_t match = matched.match[sample.type];
  if (identity) Remember(sample.tid, std::move(matched));
  return filter.Accepts(match, sample.cpu);
}

TaskFacts TaskGate::FactsOf(uint32_t tgid, uint32_t tid, std::optional<uint32_t> identity,
                            bool reads_process) {
  Process& process = processes_.Get(tgid);
  TaskFacts facts;
  facts.pid = tgid;
  facts.comm = ToText(process.comm);
  facts.thread = ToText(processes_.ThreadComm(process, tid));
  if (!reads_process) return facts;
  auto image = images_.find(tgid);
  if (image == images_.end() || (identity && image->second.identity != *identity)) {
    if (images_.size() >= kMaxImages) images_.clear();
    const ProcFs& proc = processes_.proc();
    image = images_
                .insert_or_assign(tgid, Image{identity.value_or(0), ValueOf(proc.Executable(tgid)),
                                              ValueOf(proc.CommandLine(tgid))})
                .first;
  }
  facts.executable = image->second.executable;
  facts.command_line = image->second.command_line;
  return facts;
}

void TaskGate::Forget(uint32_t tid) {
  const auto known = tasks_.find(tid);
  if (known == tasks_.end()) return;
  const auto threads = threads_.find(known->second.tgid);
  threads->second.erase(tid);
  if (threads->second.empty()) threads_.erase(threads);
  tasks_.erase(known);
  peers_.ForgetTask(tid);
}

void TaskGate::ForgetProcess(uint32_t tgid) {
  const auto threads = threads_.find(tgid);
  if (threads == threads_.end()) return;
  for (const uint32_t tid : threads->second) {
    tasks_.erase(tid);
    peers_.ForgetTask(tid);
  }
  threads_.erase(threads);
}

void TaskGate::Apply(const SidebandEvent& event) {
  if (tasks_.empty() && images_.empty()) return;
  switch (event.kind) {
    case SidebandKind::kComm:
    case SidebandKind::kExec:
      // The main thread's name is its process's.
      if (event.tid == event.pid) {
        ForgetProcess(event.pid);
        images_.erase(event.pid);
      } else {
        Forget(event.tid);
      }
      return;
    case SidebandKind::kExit:
      Forget(event.tid);
      if (event.tid == event.pid) images_.erase(event.pid);
      return;
    case SidebandKind::kFork:
      // Its id may have been that of a thread whose last sample came behind its end.
      Forget(event.tid);
      return;
    case SidebandKind::kMmap:
      return;
  }
}

}  // namespace firetower::daemon
