// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/container/flat_map.h"
#include "daemon/export/container_names.h"
#include "daemon/export/frame_namer.h"
#include "daemon/export/lock_namer.h"
#include "daemon/pipeline/slice.h"
#include "profile/builder.h"
#include "profile/times/sample_times.h"
#include "profile/type.h"
#include "store/catalog.h"

namespace firetower::daemon {

// One container's profile while it is filled. A frame is named when it is first seen. A frame whose
// symbols are not loaded yet is looked up again until the end, so that symbols that arrive later
// name all its samples. Owned by the export thread.
class ContainerProfile {
 public:
  // A profile of the container and type of `entry`. `namer` must outlive this.
  ContainerProfile(FrameNamer& namer, const LabelChoice& labels, const Slice::ContainerEntry& entry,
                   int64_t begin_ns);

  // Adds a row of `slice`, or as much of it as `amount` says. `also` names other captures that have
  // it. Returns the index of the sample for NoteTime; nothing if there was no room for it.
  std::optional<uint32_t> AddRow(const Slice& slice, const Slice::Row& row) {
    return AddRow(slice, row, row.amount);
  }
  std::optional<uint32_t> AddRow(const Slice& slice, const Slice::Row& row, const Amount& amount,
                                 std::string_view also = {});
  // Notes that a sample was taken at a Unix time. Beyond kMaxTimes the profile has no times at all:
  // a part of them would show rhythms that are none.
  static constexpr size_t kMaxTimes = 1 << 21;  // 16 MiB, or a minute of 350 CPUs at 100 Hz
  void NoteTime(int64_t unix_ns, uint32_t sample) {
    if (times_.size() >= kMaxTimes) ForgetTimes();
    if (times_known_) times_.Add(unix_ns, sample);
  }
  void ForgetTimes() {
    times_known_ = false;
    times_ = {};
  }
  // Extends the profile's time by a range of the wall clock.
  void Cover(int64_t begin_ns, int64_t end_ns);
  // Replaces the profile's time.
  void SetTime(int64_t begin_ns, int64_t end_ns);
  // Notes the policies of a decision, and the rate at which samples were taken.
  void NoteDecision(const Decision& decision);
  void NoteRate(const Decision& decision);
  void NotePolicy(std::string_view policy);
  void NoteComment(std::string comment);
  // The container's allocations in use.
  struct InUse {
    const ContainerProfile& stacks;   // whose samples have no values
    std::span<const Amount> amounts;  // by its samples
    int64_t since_ns = 0;             // Unix time; what was allocated before is not known
    uint64_t unseen = 0;              // since then, allocations that could not be followed
  };
  // Sets what is in use. For profiles of memory.
  void SetInUse(const InUse& in_use);
  // Looks up the frames again that have no name yet.
  void LookAgain();
  void LookAgain(uint32_t module);
  // Tells whether some frame has no name yet and may still get one.
  bool waits_for_names() const { return !late_.empty(); }
  // Adds the number of those frames by module.
  void CountLate(std::map<uint32_t, size_t>& by_module) const;

  // Returns the profile as it is now and keeps filling it. `name` is nullptr while it is awaited.
  profile::Profile Copy(const ContainerName* name, std::string_view node) const;
  // Moves the profile out. Afterwards only Row may be called.
  profile::Profile Build(const ContainerName* name, std::string_view node);
  store::CatalogRow Row(const ContainerName* name, std::string_view node) const;

  const std::shared_ptr<const Container>& container() const { return container_; }
  int64_t samples() const { return samples_; }
  bool is_of_memory() const { return type_ == FT_TYPE_MEMORY; }
  const profile::SampleTimes& times() const { return times_; }
  size_t bytes() const { return builder_.bytes() + times_.bytes(); }

 private:
  struct OpenMapping {
    uint32_t id = 0;
    bool has_build_id = false;
    uint64_t told = 0;  // profile::Mapping's flags of what some frame has beside its function
  };
  // A frame whose symbols may still arrive, and the name that it has until then.
  struct LateFrame {
    Frame frame;
    uint32_t location = 0;
    FrameName name;
  };

  // Tells whether a leaf is the program that took the stack, or the tracing that called it.
  bool IsTracing(const Frame& leaf);
  // Looks a frame up again. Returns true if the name is final.
  bool NameLate(LateFrame& late);
  uint32_t LocationOf(const Frame& frame);
  uint32_t MappingOf(const Frame& frame);
  void TellBuildId(uint32_t module, OpenMapping& mapping);
  void SetName(profile::ProfileBuilder& builder, const LateFrame& late) const;
  // Adds the source flags of a named frame to its mapping.
  void TellSource(const Frame& frame, const FrameName& name);
  // Fills row_labels_.
  void SetLabels(const Slice& slice, const Slice::Row& row, std::string_view also);
  std::string HowComment() const;
  uint32_t MappingLike(const profile::ProfileBuilder& builder,
                       const profile::Mapping& mapping) const;
  profile::Meta MetaOf(const ContainerName* name, std::string_view node) const;

  FrameNamer& namer_;
  const LabelChoice labels_;
  const std::shared_ptr<const Container> container_;
  const Type type_;
  const profile::ProfileType profile_type_;
  uint32_t frequency_hz_ = 0;
  int64_t min_wait_ns_ = 0;
  int64_t sample_bytes_ = 0;
  int64_t in_use_since_ns_ = 0;  // 0: that is not known
  uint64_t unseen_in_use_ = 0;
  int64_t begin_ns_ = 0;
  int64_t end_ns_ = 0;
  int64_t samples_ = 0;
  int64_t value_ = 0;
  uint64_t cut_ = 0;  // samples whose stack is not whole
  std::vector<std::string> policies_;
  std::vector<std::string> comments_;
  profile::ProfileBuilder builder_;
  profile::SampleTimes times_;
  bool times_known_ = true;
  std::map<uint32_t, OpenMapping> mappings_;  // by module id
  FlatMap<uint32_t> places_;                  // in `locations_`, by hash of the frame
  std::vector<std::pair<Frame, uint32_t>> locations_;
  std::vector<LateFrame> late_;  // at most as many as locations
  LockNamer locks_;
  std::map<uint64_t, bool> tracing_;  // by the address of a leaf, of waits: some ten
  std::vector<std::string> build_ids_;
  std::vector<uint32_t> stack_;             // scratch
  std::vector<profile::Label> row_labels_;  // scratch
};

// Puts a late name into a row and a profile that were made without one.
void PutName(const ContainerName& name, std::string_view node, store::CatalogRow& row,
             profile::Profile& profile);

}  // namespace firetower::daemon
