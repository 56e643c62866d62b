// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/window.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.h"

namespace firetower::daemon {
namespace {

uint64_t HashOf(const Frame& frame) {
  return HashWord(HashWord(kHashSeed, uint64_t{frame.module} << 32 | frame.pid), frame.offset);
}

void AddUnique(std::vector<std::string>& list, std::string_view item) {
  if (item.empty() || std::find(list.begin(), list.end(), item) != list.end()) return;
  list.emplace_back(item);
}

// The end of a mapping whose addresses are offsets in its file: as far as any file goes. pprof's
// readers then find the object's own addresses by its program headers.
constexpr uint64_t kFileOffsets = uint64_t{1} << 62;

void FillRow(const ContainerName& name, store::CatalogRow& row) {
  row.namespace_name = name.labels.namespace_name;
  row.pod = name.labels.pod;
  row.container = name.labels.container;
  row.pod_uid = name.pod_uid;
  row.workload = name.workload.name;
}

// Innermost first, as the profile has them.
std::vector<profile::Line> LinesOf(profile::ProfileBuilder& builder, const FrameName& name) {
  std::vector<profile::Line> lines;
  lines.reserve(name.lines.size());
  for (const FrameLine& from : name.lines) {
    uint32_t function =
        builder.AddFunction(from.name, from.system_name, from.file, from.start_line);
    lines.push_back({.function = function, .column = from.column, .line = from.line});
  }
  return lines;
}

// Go's function tables tell inlined calls without their lines; DWARF tells both.
uint64_t SourceFlags(const FrameName& name) {
  using profile::Mapping;
  if (name.lines.empty()) return 0;
  if (!name.lines.front().file.empty()) {
    return Mapping::kHasFilenames | Mapping::kHasLineNumbers | Mapping::kHasInlineFrames;
  }
  return name.lines.size() > 1 ? uint64_t{Mapping::kHasInlineFrames} : 0;
}

}  // namespace

Window::Open& Window::OpenFor(const Slice::ContainerEntry& entry, const Slice& slice) {
  std::unique_ptr<Open>& open = profiles_[entry.container.get()];
  if (!open) {
    open =
        std::make_unique<Open>(profile::CpuMeta(std::max(entry.decision.frequency_hz, 1u), 0, 0));
    open->container = entry.container;
    open->begin_ns = open->end_ns = slice.begin_wall_ns;
    open->name = names_.NameOf(entry.container).name;
  }
  // The wall clock may be set back within a window: the profile covers all that it went over.
  open->begin_ns = std::min(open->begin_ns, slice.begin_wall_ns);
  open->end_ns = std::max(open->end_ns, slice.end_wall_ns);
  open->frequency_hz = std::max(open->frequency_hz, entry.decision.frequency_hz);
  open->retention = std::max(open->retention, entry.decision.retention);
  for (const std::string& policy : entry.decision.policies) AddUnique(open->policies, policy);
  return *open;
}

uint32_t Window::MappingOf(Open& open, const Frame& frame) {
  auto [entry, inserted] = open.mappings.try_emplace(frame.module);
  if (!inserted) return entry->second.id;
  entry->second.id = open.builder.AddOpenMapping({});
  TellBuildId(open, frame.module, entry->second);
  return entry->second.id;
}

// The build id may be found only when the file is read.
void Window::TellBuildId(Open& open, uint32_t module_id, OpenMapping& open_mapping) {
  const Module& module = namer_.ModuleOf({.module = module_id});
  std::string_view build_id = module.BuildId();
  profile::Mapping mapping;
  // Addresses are the object's own, the same for every process: a mapping that spans everything
  // tells readers not to move them (pprof's elfexec.GetBase).
  mapping.memory_limit = namer_.IsRemote(module_id) ? kFileOffsets : ~uint64_t{0};
  mapping.filename = open.builder.AddString(module.path);
  mapping.build_id = open.builder.AddString(build_id);
  if (!namer_.IsRemote(module_id)) mapping.flags = profile::Mapping::kHasFunctions;
  mapping.flags |= open_mapping.told;
  open.builder.SetMapping(open_mapping.id, mapping);
  AddUnique(open.build_ids, build_id);
  open_mapping.has_build_id = !build_id.empty();
}

void Window::SetName(profile::ProfileBuilder& builder, const Open& open, const LateFrame& late) {
  builder.SetLocation(late.location, open.mappings.at(late.frame.module).id, late.name.address,
                      LinesOf(builder, late.name));
}

void Window::TellSource(Open& open, const Frame& frame, const FrameName& name) {
  OpenMapping& mapping = open.mappings.at(frame.module);
  const uint64_t told = mapping.told | SourceFlags(name);
  if (told == mapping.told) return;
  mapping.told = told;
  TellBuildId(open, frame.module, mapping);
}

void Window::LookAgain(Open& open) {
  for (auto& [module, mapping] : open.mappings) {
    if (!mapping.has_build_id) TellBuildId(open, module, mapping);
  }
  std::erase_if(open.late, [&](LateFrame& late) {
    FrameName name = namer_.NameAgain(late.frame);
    if (!name.settled) return false;
    late.name = std::move(name);
    TellSource(open, late.frame, late.name);
    SetName(open.builder, open, late);
    return true;
  });
}

uint32_t Window::LocationOf(Open& open, const Frame& frame) {
  bool inserted = false;
  uint32_t& place = FindOrInsert(
      open.places, HashOf(frame), [&](uint32_t i) { return open.locations[i].first == frame; },
      &inserted);
  if (!inserted) return open.locations[place].second;
  place = static_cast<uint32_t>(open.locations.size());
  uint32_t mapping = MappingOf(open, frame);
  FrameName name = namer_.Name(frame);
  uint32_t location = 0;
  if (name.settled) {
    TellSource(open, frame, name);
    location = open.builder.AddLocation(mapping, name.address, LinesOf(open.builder, name));
  } else {
    location = open.builder.AddOpenLocation();
    open.late.push_back({frame, location, std::move(name)});
  }
  open.locations.emplace_back(frame, location);
  return location;
}

void Window::AddRow(Open& open, const Slice& slice, const Slice::Row& row) {
  const Slice::Stack& stack = slice.stacks[row.stack];
  stack_.clear();
  for (uint32_t i = 0; i < stack.size; ++i) {
    stack_.push_back(LocationOf(open, slice.frames[stack.begin + i]));
  }
  if (stack_.empty()) {
    std::string_view name = NameWithoutFrames(stack.stop);
    profile::Line line;
    line.function = open.builder.AddFunction(name, name, "");
    stack_.push_back(open.builder.AddLocation(profile::kNoMapping, 0, {&line, 1}));
  }
  const TaskLabel& task = slice.labels[row.label];
  profile::Label labels[4];
  size_t count = 0;
  // A process that is gone before anyone told its name has none; a label without a value is none.
  auto add_name = [&](bool wanted, std::string_view key, const Comm& name) {
    if (wanted && name[0] != 0) labels[count++] = open.builder.StringLabel(key, ToText(name));
  };
  add_name(options_.labels.comm, "comm", task.comm);
  add_name(options_.labels.thread, "thread", task.thread);
  if (options_.labels.cpu) labels[count++] = open.builder.NumberLabel("cpu", task.cpu, "");
  std::string_view reason = StopReason(stack.stop);
  if (!reason.empty()) {
    labels[count++] = open.builder.StringLabel("cut", reason);
    open.cut += row.count;
  }
  int64_t values[2] = {static_cast<int64_t>(row.count), static_cast<int64_t>(row.value)};
  open.builder.AddSample(stack_, values, {labels, count});
  open.samples += values[0];
  open.value += values[1];
}

void Window::Add(const Slice& slice) {
  if (profiles_.empty()) start_ns_ = slice.window_start_ns;
  for (auto& [container, open] : profiles_) {
    LookForName(*open);
    LookAgain(*open);
  }
  for (const Slice::Row& row : slice.rows) {
    if (!slice.containers[row.container].decision.to_store) continue;
    const NamedContainer& named = names_.NameOf(slice.containers[row.container].container);
    if (named.name && named.name->LeftOut()) {
      opted_out_samples_ += row.count;
      continue;
    }
    AddRow(OpenFor(slice.containers[row.container], slice), slice, row);
  }
}

void Window::LookForName(Open& open) { open.name = names_.NameOf(open.container).name; }

bool Window::waits_for_names() const {
  return std::ranges::any_of(profiles_, [](const auto& it) { return !it.second->late.empty(); });
}

profile::Meta Window::MetaOf(const Open& open) const {
  profile::Meta meta =
      profile::CpuMeta(std::max(open.frequency_hz, 1u), open.begin_ns, open.end_ns - open.begin_ns);
  // The first comment: SetName puts it there when the name is not known yet.
  meta.comments.push_back(open.name ? WhoseComment(*open.name) : "");
  meta.comments.push_back(fmt::format("cgroup={}", open.container->root_path));
  meta.comments.push_back(fmt::format(
      "firetower: on-CPU time, {} Hz, cpu-clock; addresses are the files' own", open.frequency_hz));
  if (open.samples > 0) {
    meta.comments.push_back(
        fmt::format("{:.1f}% of samples have a cut stack: their label `cut` says why",
                    100.0 * static_cast<double>(open.cut) / static_cast<double>(open.samples)));
  }
  for (const std::string& policy : open.policies) meta.comments.push_back("policy=" + policy);
  return meta;
}

std::string Window::WhoseComment(const ContainerName& name) const {
  return fmt::format("namespace={} pod={} container={} node={}{}{}", name.labels.namespace_name,
                     name.labels.pod, name.labels.container, options_.node,
                     name.workload.name.empty() ? "" : " workload=", name.workload.name);
}

void Window::PutName(const ContainerName& name, Finished& finished) const {
  FillRow(name, finished.open.row);
  std::vector<std::string> comments = finished.unnamed->meta().comments;
  comments.front() = WhoseComment(name);
  finished.unnamed->SetComments(std::move(comments));
  finished.unnamed = nullptr;
}

store::CatalogRow Window::RowOf(const Open& open) const {
  store::CatalogRow row;
  if (open.name) FillRow(*open.name, row);
  row.container_id = open.container->path.container_id;
  row.node = options_.node;
  row.type = "cpu";
  row.start_ns = open.begin_ns;
  row.duration_ns = open.end_ns - open.begin_ns;
  row.samples = open.samples;
  row.value = open.value;
  row.unit = "nanoseconds";
  row.policies = open.policies;
  row.build_ids = open.build_ids;
  return row;
}

std::vector<store::OpenProfile> Window::Snapshot() const {
  std::vector<store::OpenProfile> out;
  for (const auto& [container, open] : profiles_) {
    if (!open->name || open->name->LeftOut()) continue;
    profile::ProfileBuilder copy = open->builder;
    copy.meta() = MetaOf(*open);
    for (const LateFrame& late : open->late) SetName(copy, *open, late);
    out.push_back(
        {RowOf(*open), std::make_shared<const profile::Profile>(std::move(copy).Build())});
  }
  return out;
}

std::vector<Window::Finished> Window::Take() {
  std::vector<Finished> out;
  for (auto& [container, open] : profiles_) {
    LookForName(*open);
    if (open->name && open->name->LeftOut()) {
      opted_out_samples_ += static_cast<uint64_t>(open->samples);
      continue;
    }
    LookAgain(*open);
    for (const LateFrame& late : open->late) SetName(open->builder, *open, late);
    open->builder.meta() = MetaOf(*open);
    auto profile = std::make_shared<profile::Profile>(std::move(open->builder).Build());
    Finished finished{{RowOf(*open), profile}, open->retention, open->container, nullptr};
    if (!open->name) finished.unnamed = std::move(profile);
    out.push_back(std::move(finished));
  }
  profiles_.clear();
  return out;
}

}  // namespace firetower::daemon
