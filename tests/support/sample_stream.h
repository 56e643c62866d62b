// SPDX-License-Identifier: Apache-2.0
// The sample ring's records of a busy node over one slice, made once and played again and again:
// each turn has the same samples of the same stacks at later times. The first turn of an epoch
// sends the bodies.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "daemon/capture/rounds/round_builder.h"
#include "tests/support/raw_records.h"
#include "tests/support/rounds.h"

namespace firetower::testing {

class SampleStream {
 public:
  struct Shape {
    uint32_t containers = 20;
    uint32_t processes = 60;
    uint32_t stacks = 600;
    uint32_t user_frames = 19;
    uint32_t kernel_frames = 9;  // every third stack was taken in the kernel
    uint32_t rounds = 100;       // of 50 ms: a slice of five seconds
    uint32_t samples_a_round = 80;
  };
  static constexpr int64_t kRoundNs = 50'000'000;
  static constexpr uint64_t kCodeBegin = 0x400000, kCodeBytes = 0x200000;
  static constexpr uint32_t kFirstPid = 1000;
  static constexpr uint64_t kFirstCgroup = 5000;

  explicit SampleStream(const Shape& shape) : shape_(shape) {
    std::mt19937 random(20261121);  // NOLINT(cert-msc51-cpp)
    for (uint32_t i = 0; i < shape.stacks; ++i) bodies_.push_back(MakeBody(i, random));
    // Few stacks are hot and most are rare, as in programs: the square spreads them so.
    std::uniform_real_distribution<double> uniform(0, 1);
    for (uint32_t round = 0; round < shape.rounds; ++round) {
      std::vector<ft_sample> samples;
      for (uint32_t i = 0; i < shape.samples_a_round; ++i) {
        double u = uniform(random);
        samples.push_back(MakeSample(round, i, static_cast<uint32_t>(u * u * shape.stacks)));
      }
      // Two CPUs that submit at once do so in either order.
      for (uint32_t i = 0; i + 1 < samples.size(); i += 10) std::swap(samples[i], samples[i + 1]);
      rounds_.push_back(std::move(samples));
    }
  }

  const Shape& shape() const { return shape_; }
  uint64_t samples_a_turn() const { return uint64_t{shape_.rounds} * shape_.samples_a_round; }
  int64_t turn_ns() const { return int64_t{shape_.rounds} * kRoundNs; }

  // The processes and the one binary that all of them map.
  void AddProcesses(daemon::Round& round, int64_t time_ns) const {
    for (uint32_t i = 0; i < shape_.processes; ++i) {
      uint32_t pid = kFirstPid + i;
      AddTask(round, time_ns, daemon::SidebandKind::kFork, pid, 1);
      AddTask(round, time_ns, daemon::SidebandKind::kExec, pid, 0, "worker");
      AddMap(round, time_ns, {pid, kCodeBegin, kCodeBytes, 0, "/usr/bin/worker"});
    }
  }
  static std::string PathOf(uint32_t container) {
    std::string id = std::to_string(container);
    return "/docker/" + std::string(64 - id.size(), 'a') + id;
  }

  // Plays round `index` of a turn that begins at `begin_ns` into `round`. Allocates nothing.
  void Play(uint32_t index, int64_t begin_ns, uint32_t epoch, bool with_bodies,
            daemon::RoundBuilder& builder, daemon::Round& round) {
    builder.Begin(round);
    if (with_bodies && index == 0) {
      for (uint32_t i = 0; i < bodies_.size(); ++i) {
        ft_stack head;
        std::memcpy(&head, bodies_[i].data(), sizeof(head));
        head.epoch = epoch;
        head.stack_hash = HashOf(i, epoch);
        std::memcpy(bodies_[i].data(), &head, sizeof(head));
        builder.OnRecord(bodies_[i]);
      }
    }
    for (ft_sample sample : rounds_[index]) {
      sample.time_ns += static_cast<uint64_t>(begin_ns);
      sample.stack_hash = HashOf(static_cast<uint32_t>(sample.stack_hash), epoch);
      builder.OnRecord(std::as_bytes(std::span(&sample, 1)));
    }
    builder.Finish(std::numeric_limits<int64_t>::max());
  }

 private:
  // Well mixed, as the kernel side's are.
  static uint64_t HashOf(uint32_t stack, uint32_t epoch) {
    uint64_t hash = (uint64_t{epoch} << 32 | (stack + 1)) * 0xff51afd7ed558ccdull;
    return hash ^ hash >> 29;
  }
  uint32_t PidOf(uint32_t stack) const { return kFirstPid + stack % shape_.processes; }

  Bytes MakeBody(uint32_t stack, std::mt19937& random) const {
    std::vector<uint64_t> kernel, user;
    if (stack % 3 == 0) {
      for (uint32_t i = 0; i < shape_.kernel_frames; ++i) {
        kernel.push_back(0xffffffff81000000 + random() % 0x800000);
      }
    }
    for (uint32_t i = 0; i < shape_.user_frames; ++i) {
      user.push_back(kCodeBegin + 16 + random() % (kCodeBytes - 16));
    }
    ft_stack head{};
    head.tgid = PidOf(stack);
    return RingStack(head, kernel, user);
  }
  ft_sample MakeSample(uint32_t round, uint32_t place, uint32_t stack) const {
    int64_t time_ns = round * kRoundNs + place * (kRoundNs / shape_.samples_a_round);
    ft_sample sample = SampleOf(time_ns, stack, kFirstCgroup + stack % shape_.containers,
                                PidOf(stack), 10'309'278);
    sample.cpu = static_cast<uint16_t>(place % 4);
    return sample;
  }

  Shape shape_;
  std::vector<Bytes> bodies_;
  std::vector<std::vector<ft_sample>> rounds_;
};

}  // namespace firetower::testing
