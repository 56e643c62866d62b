// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/export/container_names.h"
#include "daemon/metrics/hotspot_tracker.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// Self times of containers under their names, for the metrics. While a container's name is awaited,
// its times are added up and held back; when the name arrives, all of them since the first sample
// are released.
//
// Owned by the export thread. Results are valid until the next Take. Bounds: beyond kMaxHeld,
// containers stop waiting; beyond kMaxHeldFunctions of a container, functions go to its `other`.
class NamedSelves {
 public:
  static constexpr size_t kMaxHeld = 1024;
  static constexpr size_t kMaxHeldFunctions = 128;

  // `names` must outlive this.
  explicit NamedSelves(ContainerNames& names) : names_(names) {}

  // Takes a slice. `selves` has one element for each container of the slice.
  void Take(const Slice& slice, std::span<const ContainerSlice> selves);

  // The containers to show. They refer to the `selves` of the last Take.
  std::span<const ContainerSlice> containers() const { return containers_; }
  // The labels whose series end.
  std::span<const ContainerLabels> gone() const { return gone_; }

 private:
  struct Self {
    int64_t value = 0;
    int64_t samples = 0;
  };
  struct Held {
    std::shared_ptr<const Container> container;
    HotspotKind kind = HotspotKind::kCpu;
    std::map<std::pair<std::string, std::string>, Self> functions;  // by function and binary
    int64_t total = 0;
    size_t top_functions = 0;
    bool gone = false;
    std::vector<FunctionSelf> released;  // views of `functions`
  };

  void TakeContainer(const Slice::ContainerEntry& entry, const ContainerSlice& self);
  void Hold(const Slice::ContainerEntry& entry, const ContainerSlice& self);
  void Release();
  void End(const std::shared_ptr<const Container>& container);
  void Show(const ContainerName& name, HotspotKind kind, std::span<const FunctionSelf> functions,
            int64_t total, size_t top_functions);

  ContainerNames& names_;
  std::map<std::pair<const Container*, HotspotKind>, std::unique_ptr<Held>> held_;
  std::vector<std::unique_ptr<Held>> released_;
  std::vector<ContainerSlice> containers_;
  std::vector<ContainerLabels> gone_;
};

}  // namespace firetower::daemon
