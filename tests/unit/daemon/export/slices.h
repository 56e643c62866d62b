// SPDX-License-Identifier: Apache-2.0
// Slices of containers with known functions, and the parts that name them.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/export/exporter.h"
#include "daemon/pipeline/slice_builder.h"
#include "symbolizer/symbol_table.h"

namespace firetower::daemon {

inline constexpr int64_t kWindowNs = 60 * kNsPerSecond;
inline constexpr int64_t kFirstWindowNs = 1'763'700'000 * kNsPerSecond;  // 2025-11-21 04:40:00 UTC

inline std::shared_ptr<const Container> ContainerCalled(const std::string& name) {
  auto container = std::make_shared<Container>();
  container->labels = {"-", "pod-1", name};
  container->path.pod_uid = "pod-1";
  container->path.container_id = name + "-id";
  container->root_path = "/kubepods/pod-1/" + name;
  return container;
}

// Looks at nothing.
class NoObserver : public ExportObserver {
 public:
  void OnSlice(const Slice&, std::span<const ContainerSlice>,
               std::span<const ContainerLabels>) override {}
};

// Slices that wait from the start; nothing comes after them.
class ListedSlices : public SliceSource {
 public:
  std::unique_ptr<Slice> TryPop() override {
    if (slices.empty()) return nullptr;
    std::unique_ptr<Slice> slice = std::move(slices.front());
    slices.pop_front();
    return slice;
  }
  void Recycle(std::unique_ptr<Slice>) override { ++recycled; }
  bool finished() const override { return true; }

  std::deque<std::unique_ptr<Slice>> slices;
  int recycled = 0;
};

// A source with the same frames for one range of code, and none elsewhere.
class FramesAt : public symbolizer::SourceFrames {
 public:
  FramesAt(uint64_t begin, uint64_t end, std::vector<symbolizer::SourceFrame> frames)
      : begin_(begin), end_(end), frames_(std::move(frames)) {}
  void Find(uint64_t elf_vaddr, std::vector<symbolizer::SourceFrame>& out) const override {
    if (elf_vaddr < begin_ || elf_vaddr >= end_) return;
    out.insert(out.end(), frames_.begin(), frames_.end());
  }
  size_t bytes() const override { return sizeof(*this); }

 private:
  uint64_t begin_;
  uint64_t end_;
  std::vector<symbolizer::SourceFrame> frames_;
};

// Modules 4 and on, each with the functions it is given; sixteen bytes of code a function.
class KnownCode {
 public:
  explicit KnownCode(symbolizer::SymbolCache& cache) : cache_(cache) {}

  uint32_t AddModule(const std::string& path, const std::vector<std::string>& functions) {
    uint32_t id = modules_.Intern({path, {}, 1, modules_.size()});
    if (!functions.empty()) Load(id, functions);
    return id;
  }
  // Loads symbols as the loader does, maybe only after the module's frames were seen for a while.
  void Load(uint32_t id, const std::vector<std::string>& functions,
            std::shared_ptr<const symbolizer::SourceFrames> source = nullptr) {
    std::vector<symbolizer::SymbolTable::Range> ranges;
    std::string names;
    for (uint32_t i = 0; i < functions.size(); ++i) {
      ranges.push_back({i * 16, 16, static_cast<uint32_t>(names.size()), i * 16});
      names += functions[i] + '\0';
    }
    std::vector<symbolizer::LoadSegment> segments = {{0, kVaddr, 0x10000, true}};
    auto table = std::make_shared<symbolizer::SymbolTable>(kVaddr, segments, ranges, names);
    table->Attach(std::move(source));
    cache_.Insert(modules_.Get(id)->cache_key, std::move(table));
  }
  // All modules, as the first slice tells them.
  void TellModules(Slice& slice) const {
    for (uint32_t id = 0; id < modules_.size(); ++id)
      slice.modules.push_back({id, modules_.Get(id)});
  }
  const Module& module(uint32_t id) const { return *modules_.Get(id); }

  static constexpr uint64_t kVaddr = 0x400000;

 private:
  symbolizer::SymbolCache& cache_;
  ModuleRegistry modules_;
};

inline Decision ToBoth(k8s::RetentionClass retention = k8s::RetentionClass::kStandard) {
  Decision decision;
  decision.sampled = true;
  decision.frequency_hz = 100;
  decision.retention = retention;
  return decision;
}

struct RowOf {
  std::shared_ptr<const Container> container;
  std::vector<Frame> frames = {};
  uint64_t count = 1;
  uint8_t stop = FT_STOP_ROOT;
  Decision decision = ToBoth();
  TaskLabel label = {};
  // Times of its samples, if the decision has them recorded: since the first window began.
  std::vector<int64_t> seconds = {};
  Type type = FT_TYPE_CPU;
};

inline std::unique_ptr<Slice> SliceOf(int64_t begin_ns, int64_t end_ns,
                                      const std::vector<RowOf>& rows, bool ends_window = false) {
  SliceBuilder builder;
  for (const RowOf& row : rows) {
    uint32_t container =
        builder.AddContainer(row.container, row.type, [&] { return row.decision; });
    uint32_t stack = builder.AddStack(row.frames, row.stop);
    constexpr Amount kOne{.count = 1, .value = 10'000'000, .runqueue_ns = 0};
    for (uint64_t i = 0; i < row.count; ++i) {
      const uint32_t index = builder.AddSample(container, stack, builder.AddLabel(row.label), kOne);
      if (i >= row.seconds.size()) continue;
      builder.slice().timed.push_back({row.seconds[i] * kNsPerSecond, index, kOne});
    }
    builder.slice().stops[row.stop] += row.count;
    builder.slice().attribution.container += row.count;
  }
  std::unique_ptr<Slice> slice = builder.Take(nullptr);
  slice->begin_ns = begin_ns - kFirstWindowNs;
  slice->end_ns = end_ns - kFirstWindowNs;
  slice->begin_wall_ns = begin_ns;
  slice->wall_offset_ns = kFirstWindowNs;
  slice->end_wall_ns = end_ns;
  slice->window_start_ns = begin_ns - begin_ns % kWindowNs;
  slice->ends_window = ends_window;
  return slice;
}

}  // namespace firetower::daemon
