// SPDX-License-Identifier: Apache-2.0
// Profile: stacks with values, in the shape of pprof's profile.proto, interned and immutable.
//
// Everything is addressed by a dense 0-based index into its table: strings, mappings, functions,
// locations, samples. A ProfileBuilder (profile/builder.h) makes a profile; codecs read and write
// it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/container/growing_array.h"
#include "profile/table/pool.h"
#include "profile/table/stack_table.h"
#include "profile/table/stack_view.h"

namespace firetower::profile {

inline constexpr uint32_t kNoMapping = std::numeric_limits<uint32_t>::max();

// The quantity that a value counts, and its unit: {"cpu", "nanoseconds"}.
struct ValueType {
  std::string type = {};
  std::string unit = {};
  bool operator==(const ValueType&) const = default;
};

// The fields that a profile has once.
struct Meta {
  std::vector<ValueType> sample_types =
      {};                                // by convention samples/count first, the main value last
  std::string default_sample_type = {};  // empty: the last one
  ValueType period_type = {};
  int64_t period = 0;      // in period_type's unit, between two samples
  int64_t time_nanos = 0;  // start, Unix time
  int64_t duration_nanos = 0;
  std::vector<std::string> comments = {};  // for humans, never for machines
  std::string doc_url = {};
  std::string drop_frames = {};  // of pprof, see profile/select/prune.h; carried along
  std::string keep_frames = {};
  bool operator==(const Meta&) const = default;
};

// Returns the index of the value called `type`, or of the default value if `type` is empty; nothing
// if there is no such value.
std::optional<uint32_t> ValueIndexOf(const Meta& meta, std::string_view type);

// Fields named *_id or of type StringId are indices into the string table; 0 is the empty string.
using StringId = uint32_t;

struct Mapping {
  enum Flags : uint64_t {
    kHasFunctions = 1,
    kHasFilenames = 2,
    kHasLineNumbers = 4,
    kHasInlineFrames = 8,
  };
  uint64_t memory_start = 0;
  uint64_t memory_limit = 0;
  uint64_t file_offset = 0;
  StringId filename = 0;
  StringId build_id = 0;
  uint64_t flags = 0;
  bool has_functions() const { return (flags & kHasFunctions) != 0; }
};

struct Function {
  StringId name = 0;
  StringId system_name = 0;
  StringId filename = 0;
  uint32_t reserved = 0;  // keeps the bytes of equal functions equal
  int64_t start_line = 0;
};

struct Line {
  uint32_t function = 0;  // index of a Function
  uint32_t column = 0;
  int64_t line = 0;
};

// Either a string label (string_value) or a number label with its unit.
struct Label {
  StringId key = 0;
  StringId string_value = 0;
  int64_t number = 0;
  StringId unit = 0;
  uint32_t is_number = 0;
};

struct Location {
  uint32_t mapping = kNoMapping;
  uint64_t address = 0;
  bool is_folded = false;
  std::span<const Line> lines = {};  // innermost inlined function first; empty: not named
};

struct Sample {
  StackView locations = {};              // leaf first
  std::span<const int64_t> values = {};  // one per sample type
  std::span<const Label> labels = {};    // ordered by key string id; a key may repeat
};

// A location in the form that a profile stores.
struct LocationRecord {
  uint64_t address = 0;
  uint32_t mapping = kNoMapping;
  uint32_t lines = 0;  // of the profile, an id
  uint64_t is_folded = 0;
};

class Profile {
 public:
  Profile();

  const Meta& meta() const { return meta_; }
  // Sets comments that are known only after the profile was built. Must be called before the
  // profile is shared.
  void SetComments(std::vector<std::string> comments) { meta_.comments = std::move(comments); }
  const std::vector<ValueType>& sample_types() const { return meta_.sample_types; }

  uint32_t sample_count() const { return static_cast<uint32_t>(samples_.size()); }
  uint32_t location_count() const { return static_cast<uint32_t>(locations_.size()); }
  uint32_t function_count() const { return static_cast<uint32_t>(functions_.size()); }
  uint32_t mapping_count() const { return static_cast<uint32_t>(mappings_.size()); }
  uint32_t string_count() const { return strings_.size(); }

  // Indices must be below their count.
  Sample sample(uint32_t index) const;
  Location location(uint32_t index) const;
  const Function& function(uint32_t index) const { return functions_[index]; }
  const Mapping& mapping(uint32_t index) const { return mappings_[index]; }
  std::string_view string(StringId id) const {
    std::span<const char> text = strings_.Get(id);
    return {text.data(), text.size()};
  }

  // Returns the index of the default value: default_sample_type, else the last one.
  uint32_t DefaultValueIndex() const;
  // Returns the index of the sample type called `type`, or sample_types().size().
  uint32_t FindValueIndex(std::string_view type) const;
  // Returns the sum of one value over all samples; saturates.
  int64_t Total(uint32_t value_index) const;

  // Returns the name of a frame for people: the function, else `[module]+0xoffset`, else the
  // address. `line` is an index into location.lines and is ignored when there are none.
  std::string FrameName(const Location& location, size_t line) const;
  // Tells whether a frame is the kernel's: an address in the upper half, or a mapping called
  // [kernel…].
  bool IsKernel(const Location& location) const;

  // The memory that the profile holds, roughly.
  size_t bytes() const;

 private:
  friend class ProfileBuilder;

  struct SampleRecord {
    uint32_t stack = 0;   // id in stacks_
    uint32_t labels = 0;  // id in labels_
  };

  Meta meta_;
  Pool<char> strings_;
  GrowingArray<Mapping> mappings_;
  GrowingArray<Function> functions_;
  Pool<Line> lines_;
  GrowingArray<LocationRecord> locations_;
  StackPool stacks_;
  Pool<Label> labels_;
  GrowingArray<SampleRecord> samples_;
  GrowingArray<int64_t> values_;  // sample_count() * sample_types().size()
};

// Returns a + b, held at the ends of the range instead of wrapping.
int64_t SaturatingAdd(int64_t a, int64_t b);

}  // namespace firetower::profile
