// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "base/container/flat_map.h"
#include "daemon/pipeline/slice.h"

namespace firetower::daemon {

// Adds samples up into a slice: equal stacks and equal rows become one. Owned by the resolve
// thread. Allocates nothing once its tables are large enough for the machine's variety.
class SliceBuilder {
 public:
  SliceBuilder() : slice_(std::make_unique<Slice>()) {}

  // Returns the index of the stack in this slice.
  uint32_t AddStack(std::span<const Frame> frames, uint8_t stop);
  uint32_t AddLabel(const TaskLabel& label);
  // Calls `decide` only when that type of the container is new in the slice.
  template <typename Decide>
  uint32_t AddContainer(const std::shared_ptr<const Container>& container, Type type,
                        Decide decide) {
    bool inserted = false;
    // An object's address is a multiple of 8: the type finds room in it.
    static_assert(FT_TYPE_COUNT <= alignof(Container) && alignof(Container) == 8);
    uint32_t& index =
        container_ids_.Insert(reinterpret_cast<uint64_t>(container.get()) | type, &inserted);
    if (inserted) {
      index = static_cast<uint32_t>(slice_->containers.size());
      slice_->containers.push_back({container, decide(), type});
    }
    return index;
  }
  // Returns the index of the sample's row.
  uint32_t AddSample(uint32_t container, uint32_t stack, uint32_t label, const Amount& amount);

  Slice& slice() { return *slice_; }
  // Changes with every slice, so that values cached for another slice are invalid.
  uint32_t serial() const { return serial_; }

  // Moves the slice out; `next` (cleared) or a new one replaces it.
  std::unique_ptr<Slice> Take(std::unique_ptr<Slice> next);

 private:
  std::unique_ptr<Slice> slice_;
  FlatMap<uint32_t> stack_ids_;
  FlatMap<uint32_t> label_ids_;
  FlatMap<uint32_t> row_ids_;
  FlatMap<uint32_t> container_ids_;
  uint32_t serial_ = 1;
};

}  // namespace firetower::daemon
