// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bpf/abi/alloc.h"
#include "bpf/abi/record.h"
#include "daemon/pipeline/futex_use.h"
#include "daemon/policy/selection.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/process/module.h"
#include "daemon/process/process_table.h"
#include "daemon/runtimes/function_table.h"

namespace firetower::daemon {

// Reasons for incomplete stacks beyond those of the kernel side (enum ft_stop).
inline constexpr uint8_t kStopNoMapping = FT_STOP_COUNT;      // a caller outside of all code
inline constexpr uint8_t kStopStackLost = FT_STOP_COUNT + 1;  // its body never came
inline constexpr uint8_t kStopCount = FT_STOP_COUNT + 2;

// Returns "page", "frame_pointer", …; empty for a complete stack.
std::string_view StopReason(uint8_t stop);
// Returns "sleeping", "preempted", …; empty for what is no wait. `state` is an enum ft_wait_state.
std::string_view WaitStateName(uint8_t state);

// One normalized frame: a module and an offset in it. A caller's address is one byte before the
// return address, so that it lies in the call.
struct Frame {
  uint32_t module = ModuleRegistry::kUnknown;
  uint32_t pid = 0;  // kJit only: whose memory it is
  // File offset; kKernel, kJit, kUnknown: the address; kPython, kJava, kScript, kPhp, kRuby, kPerl:
  // the function's number << 32 | line.
  uint64_t offset = 0;

  bool operator==(const Frame&) const = default;
};

inline constexpr uint32_t kNoStack = ~uint32_t{0};

// The task that ran or waited, as far as samples identify it.
struct TaskLabel {
  Comm comm{};
  Comm thread{};
  int32_t cpu = -1;
  // The two of a wait:
  uint8_t state = FT_WAIT_STATES;  // enum ft_wait_state; FT_WAIT_STATES: no wait
  Comm waker{};                    // the name of the thread that ended it; empty: not known
  // Set for waits for locks (FT_TYPE_LOCK), as far as they are known:
  FutexUse futex = FutexUse::kNone;
  Comm holder{};                     // the name of the thread that had the lock; empty: not known
  uint32_t holder_stack = kNoStack;  // its newest one, in the slice
  // The trace id and the span id that it worked on, as W3C Trace Context has their bytes; zeros:
  // none that is known.
  std::array<uint64_t, 3> trace{};

  bool is_traced() const { return (trace[0] | trace[1]) != 0; }
  bool operator==(const TaskLabel&) const = default;
};

// The sum of samples with one stack.
struct Amount {
  uint64_t count = 0;        // samples, or waits
  uint64_t value = 0;        // nanoseconds of CPU time or of waiting, or events
  uint64_t runqueue_ns = 0;  // of a wait: the part that it waited for a CPU

  bool empty() const { return count == 0 && value == 0 && runqueue_ns == 0; }
  Amount& operator+=(const Amount& other) {
    count += other.count;
    value += other.value;
    runqueue_ns += other.runqueue_ns;
    return *this;
  }
};

// Names a sampled allocation: the time (monotonic) and the thread of its sample.
struct AllocationId {
  uint64_t time_ns = 0;
  uint32_t tid = 0;

  bool operator==(const AllocationId&) const = default;
};

// The samples of a few seconds of one window, normalized and added up: the unit that the resolve
// thread passes to the export thread. Slices are recycled, so that their memory is allocated once.
struct Slice {
  // The most entries of `timed`: 42 MB, or 5 s of 2,000 CPUs at 100 Hz.
  static constexpr size_t kMaxTimed = 1 << 20;

  struct Stack {
    uint32_t begin = 0;  // in frames, leaf first
    uint32_t size = 0;
    uint8_t stop = 0;
  };
  struct Row {
    uint32_t container = 0;  // index in containers
    uint32_t stack = 0;
    uint32_t label = 0;
    Amount amount;
  };
  // One sample of a container that is recorded, or stored with the times of its samples.
  struct Timed {
    int64_t time_ns = 0;  // monotonic
    uint32_t row = 0;
    Amount amount;
  };
  // An allocation that is followed until it is freed.
  struct Allocated {
    AllocationId id;
    uint32_t pid = 0;
    uint32_t row = 0;
    Amount amount;
  };
  // A container and a type of its profiles.
  struct ContainerEntry {
    std::shared_ptr<const Container> container;
    Decision decision;
    Type type = FT_TYPE_CPU;
  };
  struct Attribution {
    uint64_t container = 0;  // samples of CPU time
    uint64_t host = 0;
    uint64_t unknown = 0;
    uint64_t pending = 0;  // had to wait; they are counted again under their final reason
  };

  int64_t begin_ns = 0;  // monotonic
  int64_t end_ns = 0;
  int64_t begin_wall_ns = 0;
  int64_t end_wall_ns = 0;
  int64_t wall_offset_ns = 0;  // Unix time when the monotonic clock was 0, as of the slice's begin
  bool ends_window = false;
  int64_t window_start_ns = 0;  // wall clock, a multiple of the window
  std::vector<Frame> frames;
  std::vector<Stack> stacks;
  std::vector<Row> rows;
  std::vector<Timed> timed;  // in no order; what waited may be older than the slice
  std::vector<Allocated> allocated;
  std::vector<ft_freed> freed;  // also of allocations of earlier slices, or of later ones
  uint64_t untimed = 0;         // samples that are in no capture, for want of room there
  std::vector<TaskLabel> labels;
  std::vector<ContainerEntry> containers;
  // The modules of ids that are new since the last slice, or that now mean another file.
  std::vector<NumberedModule> modules;
  // Functions of interpreters that are new since the last slice, and the numbers of those that no
  // later slice has.
  std::vector<NumberedFunction> functions;
  std::vector<uint32_t> functions_gone;
  // Containers whose root cgroup was removed during the slice.
  std::vector<std::shared_ptr<const Container>> gone;
  Attribution attribution;
  std::array<uint64_t, kStopCount> stops{};  // samples of CPU time, by how their stack ended
  bool kernel_code = false;                  // some stack of another process than this one has it

  // Return the frames of a stack, leaf first: all, and from the innermost one of user space on.
  std::span<const Frame> FramesOf(uint32_t stack) const {
    return std::span(frames).subspan(stacks[stack].begin, stacks[stack].size);
  }
  std::span<const Frame> UserFrames(uint32_t stack) const;
  // Returns the Unix time of a moment of the monotonic clock.
  int64_t WallNs(int64_t monotonic_ns) const { return wall_offset_ns + monotonic_ns; }

  void Clear();
};

// Queue of finished slices for one reader.
class SliceSource {
 public:
  virtual ~SliceSource() = default;
  // Returns nullptr when no slice is ready.
  virtual std::unique_ptr<Slice> TryPop() = 0;
  // Gives a slice's memory back.
  virtual void Recycle(std::unique_ptr<Slice> slice) = 0;
  // Returns true if no further slice will come after those that are ready now.
  virtual bool finished() const = 0;
};

}  // namespace firetower::daemon
