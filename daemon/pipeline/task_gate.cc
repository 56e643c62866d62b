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
}

bool TaskGate::Wants(const std::shared_ptr<const TaskFilter>& filter, const ft_sample& sample,
                     std::optional<uint32_t> identity) {
  uint64_t match = ~uint64_t{0};
  if (filter->any_tasks()) {
    auto known = tasks_.find(sample.tid);
    if (known != tasks_.end() && identity &&
        TaskFilter::Same(known->second.filter.get(), filter.get()) &&
        known->second.tgid == sample.tgid && known->second.identity == *identity) {
      match = known->second.match;
    } else {
      match = filter->Match(FactsOf(sample.tgid, sample.tid, identity, filter->reads_process()));
      if (identity) {
        if (tasks_.size() >= kMaxTasks) tasks_.clear();
        tasks_[sample.tid] = {filter, sample.tgid, *identity, match};
        const uint32_t kind = match == 0 ? FT_VERDICT_NO : FT_VERDICT_YES;
        verdicts_.SetTask({sample.tid, *identity, version_, kind});
      }
    }
  }
  return filter->Accepts(match, sample.cpu);
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
  if (image == images_.end() || !identity || image->second.identity != *identity) {
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
  if (tasks_.erase(tid) > 0) verdicts_.ForgetTask(tid);
}

void TaskGate::ForgetProcess(uint32_t tgid) {
  std::erase_if(tasks_, [&](const auto& task) {
    if (task.second.tgid != tgid) return false;
    verdicts_.ForgetTask(task.first);
    return true;
  });
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
    case SidebandKind::kMmap:
      return;
  }
}

}  // namespace firetower::daemon
