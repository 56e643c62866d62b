// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "profile/table/interner.h"
#include "profile/table/pool.h"
#include "profile/table/stack_view.h"

namespace firetower::profile {

// The stacks of a profile. They are its largest part, and few profiles have more locations than two
// bytes can number.
struct StackPool {
  Pool<uint16_t> narrow;
  Pool<uint32_t> wide;  // empty unless narrow is
  bool is_wide = false;

  StackView Get(uint32_t id) const {
    return is_wide ? StackView(wide.Get(id)) : StackView(narrow.Get(id));
  }
  size_t bytes() const { return narrow.bytes() + wide.bytes(); }
};

// Gives equal stacks the same id. Ids stay the same when a location comes that needs four bytes.
class StackTable {
 public:
  uint32_t Intern(std::span<const uint32_t> ids) {
    if (!is_wide_) {
      if (Narrow(ids, scratch_)) return narrow_.Intern(scratch_);
      Widen();
    }
    return wide_.Intern(ids);
  }
  // Returns IdSet::kNone when it was never interned.
  uint32_t Find(std::span<const uint32_t> ids) const {
    if (is_wide_) return wide_.Find(ids);
    std::vector<uint16_t> narrow;
    return Narrow(ids, narrow) ? narrow_.Find(narrow) : IdSet::kNone;
  }

  size_t bytes() const { return narrow_.bytes() + wide_.bytes(); }
  StackPool TakePool() && {
    return {.narrow = std::move(narrow_).TakePool(),
            .wide = std::move(wide_).TakePool(),
            .is_wide = is_wide_};
  }
  // Reserves memory for stacks with `frames` frames in total and ids below `locations`.
  void Reserve(size_t stacks, size_t frames, size_t locations) {
    if (locations > kNarrowIds) Widen();
    if (is_wide_) {
      wide_.Reserve(stacks, frames);
    } else {
      narrow_.Reserve(stacks, frames);
    }
  }

 private:
  static constexpr size_t kNarrowIds = size_t{std::numeric_limits<uint16_t>::max()} + 1;

  static bool Narrow(std::span<const uint32_t> ids, std::vector<uint16_t>& narrow) {
    narrow.resize(ids.size());
    uint32_t bits = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      bits |= ids[i];
      narrow[i] = static_cast<uint16_t>(ids[i]);
    }
    return bits < kNarrowIds;
  }
  void Widen() {
    if (is_wide_) return;
    is_wide_ = true;
    const Pool<uint16_t> narrow = std::move(narrow_).TakePool();
    narrow_ = {};
    std::vector<uint32_t> ids;
    for (uint32_t stack = 0; stack < narrow.size(); ++stack) {
      const std::span<const uint16_t> from = narrow.Get(stack);
      ids.assign(from.begin(), from.end());
      wide_.Intern(ids);
    }
  }

  Interner<uint16_t> narrow_;
  Interner<uint32_t> wide_;
  std::vector<uint16_t> scratch_;
  bool is_wide_ = false;
};

}  // namespace firetower::profile
