// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cstring>

#include "base/clock.h"
#include "daemon/capture/perf_event.h"
#include "floor_ring.skel.h"
#include "tests/bench/bpf/contender.h"
#include "tests/bench/bpf/floor/floor_ring.h"

namespace firetower::bench {
namespace {

class FloorRing : public Contender {
 public:
  explicit FloorRing(const Load& load) : load_(load) {}
  ~FloorRing() override {
    links_.clear();
    ring_buffer__free(ring_);
    floor_ring_bpf__destroy(skeleton_);
  }

  Status Open() {
    skeleton_ = floor_ring_bpf__open_and_load();
    if (skeleton_ == nullptr) return ErrnoError("load floor-ring");
    ring_ = ring_buffer__new(bpf_map__fd(skeleton_->maps.floor_ring), OnRecord, this, nullptr);
    if (ring_ == nullptr) return ErrnoError("map floor-ring's ring");
    return OkStatus();
  }

  Status Attach(const std::vector<int>& cpus, uint32_t frequency_hz) override {
    for (int cpu : cpus) {
      ASSIGN_OR_RETURN(UniqueFd event, daemon::OpenCpuClock(cpu, kNsPerSecond / frequency_hz));
      bpf_link* link = bpf_program__attach_perf_event(skeleton_->progs.floor_sample, event.get());
      if (link == nullptr) return ErrnoError("attach floor-ring");
      event.release();  // The link closes it.
      links_.emplace_back(link);
    }
    return OkStatus();
  }
  void Detach(const std::vector<int>&) override { links_.clear(); }
  void Drain() override { ring_buffer__consume(ring_); }

  RunTime run_time() const override {
    bpf_prog_info info{};
    uint32_t size = sizeof(info);
    bpf_obj_get_info_by_fd(bpf_program__fd(skeleton_->progs.floor_sample), &info, &size);
    return {info.run_time_ns, info.run_cnt};
  }
  Seen seen() const override { return seen_; }

 private:
  struct LinkDeleter {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  };

  static int OnRecord(void* self, void* data, size_t) noexcept {
    auto& floor = *static_cast<FloorRing*>(self);
    floor_record head;
    std::memcpy(&head, data, sizeof(head));
    ++floor.seen_.samples;
    if (head.tgid_tid >> 32 != floor.load_.pid) return 0;
    ++floor.seen_.of_load;
    floor.seen_.of_load_at_depth += head.user_bytes / 8 >= floor.load_.frames;
    return 0;
  }

  Load load_;
  floor_ring_bpf* skeleton_ = nullptr;
  ring_buffer* ring_ = nullptr;
  std::vector<std::unique_ptr<bpf_link, LinkDeleter>> links_;
  Seen seen_;
};

}  // namespace

Result<std::unique_ptr<Contender>> LoadFloorRing(const Load& load) {
  auto floor = std::make_unique<FloorRing>(load);
  RETURN_IF_ERROR(floor->Open());
  return std::unique_ptr<Contender>(std::move(floor));
}

}  // namespace firetower::bench
