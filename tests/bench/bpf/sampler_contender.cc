// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>
#include <sys/stat.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <unordered_map>

#include "base/clock.h"
#include "base/file.h"
#include "bpf/abi/record.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/unwind/load_table.h"
#include "daemon/unwind/module_file.h"
#include "daemon/unwind/unwinder.h"
#include "tests/bench/bpf/contender.h"

namespace firetower::bench {
namespace {

constexpr std::string_view kProgram = "ft_sample_cpu";
// Cgroups of a node with some containers.
constexpr uint64_t kOtherCgroups = 300;

// The id of this process's cgroup, which the load has inherited: the inode of its folder.
Result<uint64_t> OwnCgroup(const daemon::ChosenHierarchy& hierarchy) {
  ASSIGN_OR_RETURN(std::string text, ReadFile("/proc/self/cgroup"));
  std::istringstream lines(text);
  std::string prefix = std::to_string(hierarchy.hierarchy_id) + ":";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prefix)) continue;
    std::string path = hierarchy.mount + line.substr(line.find(':', prefix.size()) + 1);
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return ErrnoError(path);
    return found.st_ino;
  }
  return Error(ErrorCode::kNotFound, "no line of hierarchy " + prefix + " in /proc/self/cgroup");
}

// A descriptor of this process that holds the sampler's program; the product does not show it.
int FindProgram() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone).string().find("bpf-prog") ==
        std::string::npos) {
      continue;
    }
    std::string number = entry.path().filename();
    int fd = -1;
    std::from_chars(number.data(), number.data() + number.size(), fd);
    bpf_prog_info info{};
    uint32_t size = sizeof(info);
    if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.name == kProgram) return fd;
  }
  return -1;
}

// Read at once, where the daemon has a thread for it.
class Tables : public daemon::TableRequests {
 public:
  explicit Tables(WalkBy walk_by) : read_(walk_by == WalkBy::kTables) {}
  bool WantTable(uint32_t module_id, const std::shared_ptr<const daemon::Module>& module,
                 const daemon::Process& process, const daemon::ProcessMapping& mapping) override {
    daemon::LoadedTable& loaded = ready.emplace_back();
    loaded.module = module_id;
    loaded.outcome = daemon::LoadedTable::Outcome::kNone;
    if (!read_) return true;
    auto source = OpenModuleFile("/proc", daemon::MappedModule(module, process, mapping));
    if (!source) return true;
    if (auto table = daemon::LoadUnwindTable(*source); table && !table->empty()) {
      loaded.outcome = daemon::LoadedTable::Outcome::kTable;
      loaded.table = *std::move(table);
    }
    return true;
  }
  std::vector<daemon::LoadedTable> ready;

 private:
  bool read_;
};

class SamplerContender : public Contender, private daemon::BpfSampler::Sink {
 public:
  SamplerContender(const Load& load, std::unique_ptr<daemon::BpfSampler> sampler, int program,
                   WalkBy walk_by)
      : load_(load),
        sampler_(std::move(sampler)),
        program_(program),
        tables_(walk_by),
        unwinder_(sampler_->unwind_memory(), processes_, modules_, tables_, Clock::System(), {}) {}

  Status Attach(const std::vector<int>& cpus, uint32_t frequency_hz) override {
    sampler_->SetEpoch(++epoch_);
    RETURN_IF_ERROR(sampler_->SetFrequency(frequency_hz));
    for (int cpu : cpus) RETURN_IF_ERROR(sampler_->AttachCpu(cpu));
    return OkStatus();
  }
  void Detach(const std::vector<int>& cpus) override {
    for (int cpu : cpus) sampler_->DetachCpu(cpu);
  }
  void Drain() override {
    sampler_->Drain(*this);
    if (identity_ != 0) unwinder_.Meet(processes_.Get(load_.pid), std::exchange(identity_, 0));
    for (daemon::LoadedTable& table : std::exchange(tables_.ready, {})) {
      unwinder_.Take(std::move(table));
    }
  }

  RunTime run_time() const override {
    bpf_prog_info info{};
    uint32_t size = sizeof(info);
    bpf_obj_get_info_by_fd(program_, &info, &size);
    return {info.run_time_ns, info.run_cnt};
  }
  Seen seen() const override { return seen_; }

 private:
  void OnRecord(std::span<const std::byte> record) noexcept override {
    ft_sample sample;
    std::memcpy(&sample, record.data(), sizeof(sample));
    if (sample.kind == FT_KIND_STACK) {
      ft_stack head;
      std::memcpy(&head, record.data(), sizeof(head));
      frames_[head.stack_hash] = head.user_frames;
      if (head.tgid == load_.pid && head.stop == FT_STOP_COLD) {
        identity_ = ft_identity(head.start_ns, head.exec_id);
      }
    }
    // The body of a cold one ends where user space goes on: it counts as not whole.
    if (sample.kind != FT_KIND_SAMPLE && sample.kind != FT_KIND_COLD) return;
    ++seen_.samples;
    if (sample.tgid != load_.pid) return;
    seen_.of_load_at_root += sample.stop == FT_STOP_ROOT;
    ++seen_.of_load;
    auto found = frames_.find(sample.stack_hash);
    seen_.of_load_at_depth += found != frames_.end() && found->second >= load_.frames;
  }

  Load load_;
  std::unique_ptr<daemon::BpfSampler> sampler_;
  int program_;
  uint32_t epoch_ = 0;
  uint32_t identity_ = 0;  // of the load, while the kernel side waits for its mappings
  daemon::ModuleRegistry modules_;
  daemon::ProcessTable processes_{modules_, daemon::ProcFs("/proc"), Clock::System()};
  Tables tables_;
  daemon::Unwinder unwinder_;
  std::unordered_map<uint64_t, uint16_t> frames_;
  Seen seen_;
};

}  // namespace

Result<std::unique_ptr<Contender>> LoadSampler(const Load& load,
                                               const daemon::ChosenHierarchy& hierarchy,
                                               WalkBy walk_by) {
  daemon::SamplerOptions options;
  options.hierarchy = hierarchy;
  ASSIGN_OR_RETURN(std::unique_ptr<daemon::BpfSampler> sampler, daemon::BpfSampler::Load(options));
  const ft_verdicts all{{{FT_VERDICT_YES, FT_VERDICT_YES, 0, 0, FT_KEEP_ALL, 1}}};
  sampler->SetFallback(all);
  ASSIGN_OR_RETURN(uint64_t own, OwnCgroup(hierarchy));
  RETURN_IF_ERROR(sampler->SetVerdicts(own, all));
  for (uint64_t i = 1; i <= kOtherCgroups; ++i) {
    RETURN_IF_ERROR(sampler->SetVerdicts(own + i, all));
  }
  int program = FindProgram();
  if (program < 0) return Error(ErrorCode::kNotFound, "no program ft_sample_cpu in this process");
  return std::unique_ptr<Contender>(
      std::make_unique<SamplerContender>(load, std::move(sampler), program, walk_by));
}

}  // namespace firetower::bench
