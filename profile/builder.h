// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/container/cloned_ptr.h"
#include "base/container/growing_array.h"
#include "profile/profile.h"
#include "profile/table/id_set.h"
#include "profile/table/interner.h"
#include "profile/table/location_table.h"
#include "profile/table/record_interner.h"
#include "profile/table/stack_table.h"

namespace firetower::profile {

class CoarseSamples;

// Builds a Profile. Equal strings, mappings, functions, locations and samples become one; the
// values of equal samples (same stack, same labels) add up. Used by one thread.
//
//   ProfileBuilder b(CpuMeta(...));
//   uint32_t exe = b.AddMapping({.memory_start = 0x400000, ..., .filename = b.AddString("/app")});
//   uint32_t fn = b.AddFunction("Serve", "_Z5Servev", "");
//   Line line{.function = fn};
//   uint32_t leaf = b.AddLocation(exe, 0x401234, {&line, 1});
//   b.AddSample({{leaf, ...}}, {{1, 10309278}}, labels);
//   Profile p = std::move(b).Build();
class ProfileBuilder {
 public:
  // Bounds of a profile. Beyond a limit, samples are dropped and counted. With `coarsen` they are
  // kept with less detail instead: light stacks are cut at a frame `other`, frames with a name lose
  // their address and line, and rare labels are dropped. Sums stay exact. `coarsen` requires values
  // that are not negative.
  struct Limits {
    uint32_t max_samples = 1u << 22;
    size_t max_bytes = size_t{2} << 30;
    bool coarsen = false;
  };

  explicit ProfileBuilder(Meta meta);
  ProfileBuilder(Meta meta, Limits limits);
  ProfileBuilder(const ProfileBuilder& other);
  ProfileBuilder(ProfileBuilder&& other) noexcept;
  ProfileBuilder& operator=(const ProfileBuilder& other);
  ProfileBuilder& operator=(ProfileBuilder&& other) noexcept;
  ~ProfileBuilder();

  // The expected sizes, roughly, so that memory is reserved once instead of growing.
  struct Sizes {
    size_t strings = 0;
    size_t string_bytes = 0;
    size_t functions = 0;
    size_t locations = 0;
    size_t samples = 0;
    size_t frames = 0;  // of all stacks together
  };
  void Reserve(const Sizes& sizes);

  // May be changed until Build(). The number of sample types is fixed once there are samples.
  Meta& meta() { return meta_; }
  const Meta& meta() const { return meta_; }

  // Replaces bytes that are not UTF-8 by U+FFFD.
  StringId AddString(std::string_view text);
  // Tells whether a text is the one that replaces texts beyond a coarse profile's limit.
  bool IsCutText(StringId id) const { return cut_text_ != 0 && id == cut_text_; }
  // Returns a string. Valid until the next AddString.
  std::string_view string(StringId id) const;
  // String ids and indices that are passed in must come from this builder; others are a broken
  // invariant.
  uint32_t AddMapping(const Mapping& mapping);
  uint32_t AddFunction(std::string_view name, std::string_view system_name,
                       std::string_view filename, int64_t start_line = 0);
  uint32_t AddFunction(const Function& function);
  const Function& function(uint32_t index) const { return functions_.Get(index); }
  // Adds a location. `mapping` is an index from AddMapping or kNoMapping. `lines` begin with the
  // innermost and may be empty.
  uint32_t AddLocation(uint32_t mapping, uint64_t address, std::span<const Line> lines,
                       bool is_folded = false);

  // Adds a mapping or a location whose contents are not known yet. It never becomes one with an
  // equal entry, and may be set until Build().
  uint32_t AddOpenMapping(const Mapping& mapping);
  void SetMapping(uint32_t open_mapping, const Mapping& mapping);
  uint32_t AddOpenLocation();
  void SetLocation(uint32_t open_location, uint32_t mapping, uint64_t address,
                   std::span<const Line> lines);

  Label StringLabel(std::string_view key, std::string_view value);
  Label NumberLabel(std::string_view key, int64_t number, std::string_view unit);

  // Adds a sample: locations leaf first, one value per sample type (anything else is a broken
  // invariant). Several labels may have the same key; they keep their order. Returns false when a
  // limit was reached: the sample is dropped and counted.
  bool AddSample(std::span<const uint32_t> locations, std::span<const int64_t> values,
                 std::span<const Label> labels = {});

  uint32_t sample_count() const { return static_cast<uint32_t>(samples_.size()); }
  // Returns the index of the sample to which the last AddSample added. Must not be called for a
  // coarse profile, or after a sample was dropped.
  uint32_t last_sample() const { return last_sample_; }
  uint64_t dropped_samples() const { return dropped_samples_; }
  // The number of additions that left the range of int64 and were held at its end.
  uint64_t saturated_values() const { return saturated_values_; }
  size_t bytes() const;

  // Returns true once if samples were cut. Then the caller must add all samples again; only after
  // that does each stack that is left have its exact value.
  bool Recount();
  // Cuts a coarse profile down to its limit. Returns the largest share, from 0 to 1, that a stack
  // which was cut can have of any value; nothing if the profile is complete. Must be called after
  // all samples were added.
  std::optional<double> FitCoarse();
  // Returns the sum of the value `value_index` so far; saturates.
  int64_t Total(uint32_t value_index) const;

  Profile Build() &&;

 private:
  void CheckMapping(const Mapping& mapping) const;
  void CheckLocation(const Location& location) const;
  bool HasRoomFor(std::span<const uint32_t> locations) const;
  // Returns IdSet::kNone when there is no such sample.
  uint32_t FindSample(const Profile::SampleRecord& record) const;
  void AppendSample(const Profile::SampleRecord& record, std::span<const int64_t> values);
  // The next two are implemented in profile/tree/coarse_builder.cc. They return false when there
  // are negative values.
  bool BeginCoarse();
  bool AddCoarse(std::span<const uint32_t> locations, std::span<const int64_t> values);
  uint32_t CoarseLocation(uint32_t location);
  uint32_t InternCoarse(const Location& location);
  uint32_t InternModule(uint32_t mapping);
  uint32_t CoarseLabels();
  Profile BuildCoarse();

  Meta meta_;
  Limits limits_;
  uint32_t last_sample_ = 0;
  uint64_t dropped_samples_ = 0;
  uint64_t saturated_values_ = 0;
  Interner<char> strings_;
  RecordInterner<Mapping> mappings_;
  RecordInterner<Function> functions_;
  LocationTable locations_;
  StackTable stacks_;
  Interner<Label> labels_;
  GrowingArray<Profile::SampleRecord> samples_;
  // Nearly every stack comes with one set of labels only: this has the first sample of each stack,
  // and the set below has all others.
  GrowingArray<uint32_t> first_samples_;
  IdSet other_samples_;
  GrowingArray<int64_t> values_;
  std::vector<Label> label_scratch_;
  // The samples after the limit was reached, and the replacement of each location in them.
  ClonedPtr<CoarseSamples> coarse_;
  std::vector<uint32_t> coarse_locations_;
  StringId cut_text_ = 0;
  std::vector<uint32_t> coarse_stack_;
};

// Returns the Meta of a CPU profile by pprof's conventions: samples/count first, cpu/nanoseconds
// last and default, period cpu/nanoseconds = 1e9 / hertz.
Meta CpuMeta(int64_t hertz, int64_t time_nanos, int64_t duration_nanos);

}  // namespace firetower::profile
