// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "daemon/export/container_names.h"
#include "daemon/export/frame_namer.h"
#include "daemon/pipeline/slice.h"
#include "profile/builder.h"
#include "store/catalog.h"
#include "store/query.h"

namespace firetower::daemon {

struct WindowOptions {
  std::string node;
  int64_t window_ns = 60 * kNsPerSecond;
  LabelChoice labels;
};

// One window's profiles, one for each container and type, filled slice by slice. A frame is named
// when it is first seen, once for each profile; one whose symbols are not there yet is looked at
// again with each slice and at the end, so that symbols that come within the window name all its
// samples, the earlier ones too. So is a container: while its name is awaited its profile is shown
// to nobody; what has opted out is left out. Owned by the export thread.
class Window {
 public:
  Window(const WindowOptions& options, FrameNamer& namer, ContainerNames& names)
      : options_(options), namer_(namer), names_(names) {}

  bool empty() const { return profiles_.empty(); }
  int64_t start_ns() const { return start_ns_; }
  void Add(const Slice& slice);
  // Some frame has no name and may still get one.
  bool waits_for_names() const;

  // The rows and profiles of containers with a name, as they are now; the window goes on.
  std::vector<store::OpenProfile> Snapshot() const;
  struct Finished {
    store::OpenProfile open;
    k8s::RetentionClass retention = k8s::RetentionClass::kStandard;
    std::shared_ptr<const Container> container;
    // While the name is awaited, the same profile, to put it into; nobody else sees it yet.
    std::shared_ptr<profile::Profile> unnamed;
  };
  // All of them, after a last look for names; the window is empty afterwards.
  std::vector<Finished> Take();
  // The awaited name came: `finished` is as if it had been known.
  void PutName(const ContainerName& name, Finished& finished) const;

  // Of containers that opted out, since the start.
  uint64_t opted_out_samples() const { return opted_out_samples_; }

 private:
  struct OpenMapping {
    uint32_t id = 0;
    bool has_build_id = false;
    uint64_t told = 0;  // profile::Mapping's flags of what some frame has beside its function
  };
  // A frame whose symbols may still come, under the name it has until then.
  struct LateFrame {
    Frame frame;
    uint32_t location = 0;
    FrameName name;
  };
  struct Open {
    std::shared_ptr<const Container> container;
    std::shared_ptr<const ContainerName> name;  // as of the last slice; nullptr while awaited
    uint32_t frequency_hz = 0;
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    int64_t samples = 0;
    int64_t value = 0;
    k8s::RetentionClass retention = k8s::RetentionClass::kShort;
    uint64_t cut = 0;  // samples whose stack is not whole
    std::vector<std::string> policies;
    profile::ProfileBuilder builder;
    std::map<uint32_t, OpenMapping> mappings;  // by module id
    FlatMap<uint32_t> places;                  // in `locations`, by hash of the frame
    std::vector<std::pair<Frame, uint32_t>> locations;
    std::vector<LateFrame> late;  // at most as many as locations
    std::vector<std::string> build_ids;

    explicit Open(profile::Meta meta) : builder(std::move(meta)) {}
  };

  Open& OpenFor(const Slice::ContainerEntry& entry, const Slice& slice);
  uint32_t LocationOf(Open& open, const Frame& frame);
  uint32_t MappingOf(Open& open, const Frame& frame);
  void TellBuildId(Open& open, uint32_t module, OpenMapping& mapping);
  void LookAgain(Open& open);
  static void SetName(profile::ProfileBuilder& builder, const Open& open, const LateFrame& late);
  // What is told of a mapping when one of its frames is named.
  void TellSource(Open& open, const Frame& frame, const FrameName& name);
  void AddRow(Open& open, const Slice& slice, const Slice::Row& row);
  store::CatalogRow RowOf(const Open& open) const;
  profile::Meta MetaOf(const Open& open) const;
  std::string WhoseComment(const ContainerName& name) const;
  void LookForName(Open& open);

  const WindowOptions& options_;
  FrameNamer& namer_;
  ContainerNames& names_;
  uint64_t opted_out_samples_ = 0;
  int64_t start_ns_ = 0;
  std::map<const Container*, std::unique_ptr<Open>> profiles_;
  std::vector<uint32_t> stack_;  // scratch
};

}  // namespace firetower::daemon
