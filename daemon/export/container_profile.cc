// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/container_profile.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text/hex.h"
#include "profile/comments.h"
#include "profile/copy.h"

namespace firetower::daemon {
namespace {

uint64_t HashOf(const Frame& frame) {
  return HashWord(HashWord(kHashSeed, uint64_t{frame.module} << 32 | frame.pid), frame.offset);
}

void AddUnique(std::vector<std::string>& list, std::string_view item) {
  if (item.empty() || std::find(list.begin(), list.end(), item) != list.end()) return;
  list.emplace_back(item);
}

constexpr profile::TypeKind kKinds[FT_TYPE_EVENT] = {
    profile::TypeKind::kCpu, profile::TypeKind::kOffCpu, profile::TypeKind::kLock,
    profile::TypeKind::kMemory};

profile::ProfileType ProfileTypeOf(const Slice::ContainerEntry& entry) {
  if (entry.type < FT_TYPE_EVENT) return {.kind = kKinds[entry.type], .event = {}};
  return {.kind = profile::TypeKind::kEvent, .event = entry.decision.event};
}

profile::Meta EmptyMeta(const profile::ProfileType& of, uint32_t frequency_hz, int64_t begin_ns,
                        int64_t duration_ns) {
  if (of.kind == profile::TypeKind::kCpu)
    return profile::CpuMeta(std::max(frequency_hz, 1u), begin_ns, duration_ns);
  profile::Meta meta;
  meta.sample_types = of.SampleTypes();
  meta.default_sample_type = of.MainValue().type;
  meta.period_type = of.PeriodType();
  meta.period = 1;
  meta.time_nanos = begin_ns;
  meta.duration_nanos = duration_ns;
  return meta;
}

// The end of a mapping whose addresses are file offsets: larger than any file. pprof's readers then
// compute the object's own addresses from its program headers.
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

std::string WhoseComment(const ContainerName& name, std::string_view node) {
  return fmt::format("namespace={} pod={} container={} node={}{}{}", name.labels.namespace_name,
                     name.labels.pod, name.labels.container, node,
                     name.workload.name.empty() ? "" : " workload=", name.workload.name);
}

}  // namespace

ContainerProfile::ContainerProfile(FrameNamer& namer, const LabelChoice& labels,
                                   const Slice::ContainerEntry& entry, int64_t begin_ns)
    : namer_(namer),
      labels_(labels),
      container_(entry.container),
      type_(entry.type),
      profile_type_(ProfileTypeOf(entry)),
      begin_ns_(begin_ns),
      end_ns_(begin_ns),
      builder_(EmptyMeta(profile_type_, 1, 0, 0)),
      locks_(namer) {}

// The wall clock may be set back meanwhile: the profile covers all that it went over.
void ContainerProfile::Cover(int64_t begin_ns, int64_t end_ns) {
  begin_ns_ = std::min(begin_ns_, begin_ns);
  end_ns_ = std::max(end_ns_, end_ns);
}

void ContainerProfile::SetTime(int64_t begin_ns, int64_t end_ns) {
  begin_ns_ = begin_ns;
  end_ns_ = end_ns;
}

void ContainerProfile::NoteRate(const Decision& decision) {
  frequency_hz_ = std::max(frequency_hz_, decision.frequency_hz);
  const auto lower = [](int64_t value, int64_t& least) {
    if (least == 0 || value < least) least = value;
  };
  lower(decision.min_wait_ns, min_wait_ns_);
  lower(decision.sample_bytes, sample_bytes_);
}

void ContainerProfile::NoteDecision(const Decision& decision) {
  NoteRate(decision);
  for (const std::string& policy : decision.policies) NotePolicy(policy);
}

void ContainerProfile::NotePolicy(std::string_view policy) { AddUnique(policies_, policy); }

void ContainerProfile::NoteComment(std::string comment) { comments_.push_back(std::move(comment)); }

uint32_t ContainerProfile::MappingOf(const Frame& frame) {
  auto [entry, inserted] = mappings_.try_emplace(frame.module);
  if (!inserted) return entry->second.id;
  entry->second.id = builder_.AddOpenMapping({});
  TellBuildId(frame.module, entry->second);
  return entry->second.id;
}

// The build id may be found only when the file is read.
void ContainerProfile::TellBuildId(uint32_t module_id, OpenMapping& open_mapping) {
  const Module& module = namer_.ModuleOf({.module = module_id});
  std::string_view build_id = module.BuildId();
  profile::Mapping mapping;
  // Addresses are the object's own, the same for every process: a mapping that spans everything
  // tells readers not to move them (pprof's elfexec.GetBase).
  mapping.memory_limit = namer_.IsRemote(module_id) ? kFileOffsets : ~uint64_t{0};
  mapping.filename = builder_.AddString(module.path);
  mapping.build_id = builder_.AddString(build_id);
  if (!namer_.IsRemote(module_id)) mapping.flags = profile::Mapping::kHasFunctions;
  mapping.flags |= open_mapping.told;
  builder_.SetMapping(open_mapping.id, mapping);
  AddUnique(build_ids_, build_id);
  open_mapping.has_build_id = !build_id.empty();
}

void ContainerProfile::SetName(profile::ProfileBuilder& builder, const LateFrame& late) const {
  builder.SetLocation(late.location, mappings_.at(late.frame.module).id, late.name.address,
                      LinesOf(builder, late.name));
}

void ContainerProfile::TellSource(const Frame& frame, const FrameName& name) {
  OpenMapping& mapping = mappings_.at(frame.module);
  const uint64_t told = mapping.told | SourceFlags(name);
  if (told == mapping.told) return;
  mapping.told = told;
  TellBuildId(frame.module, mapping);
}

void ContainerProfile::LookAgain() {
  for (auto& [module, mapping] : mappings_) {
    if (!mapping.has_build_id) TellBuildId(module, mapping);
  }
  std::erase_if(late_, [&](LateFrame& late) { return NameLate(late); });
}

void ContainerProfile::LookAgain(uint32_t module) {
  std::erase_if(late_,
                [&](LateFrame& late) { return late.frame.module == module && NameLate(late); });
}

bool ContainerProfile::NameLate(LateFrame& late) {
  FrameName name = namer_.NameAgain(late.frame);
  if (!name.settled) return false;
  late.name = std::move(name);
  TellSource(late.frame, late.name);
  SetName(builder_, late);
  return true;
}

void ContainerProfile::CountLate(std::map<uint32_t, size_t>& by_module) const {
  for (const LateFrame& late : late_) ++by_module[late.frame.module];
}

uint32_t ContainerProfile::LocationOf(const Frame& frame) {
  bool inserted = false;
  uint32_t& place = FindOrInsert(
      places_, HashOf(frame), [&](uint32_t i) { return locations_[i].first == frame; }, &inserted);
  if (!inserted) return locations_[place].second;
  place = static_cast<uint32_t>(locations_.size());
  uint32_t mapping = MappingOf(frame);
  FrameName name = namer_.Name(frame);
  uint32_t location = 0;
  if (name.settled) {
    TellSource(frame, name);
    location = builder_.AddLocation(mapping, name.address, LinesOf(builder_, name));
  } else {
    location = builder_.AddOpenLocation();
    late_.push_back({frame, location, std::move(name)});
  }
  locations_.emplace_back(frame, location);
  return location;
}

bool ContainerProfile::IsTracing(const Frame& leaf) {
  if (leaf.module != ModuleRegistry::kKernel) return false;
  const auto known = tracing_.find(leaf.offset);
  if (known != tracing_.end()) return known->second;
  const FrameName name = namer_.Name(leaf);
  const auto begins = [&](std::string_view prefix) { return name.name().starts_with(prefix); };
  const bool tracing = name.named && (begins("bpf_prog_") || begins("bpf_trace_run") ||
                                      begins("__bpf_trace_") || begins("__traceiter_"));
  if (name.settled) tracing_.emplace(leaf.offset, tracing);
  return tracing;
}

std::optional<uint32_t> ContainerProfile::AddRow(const Slice& slice, const Slice::Row& row,
                                                 const Amount& amount, std::string_view also) {
  const Slice::Stack& stack = slice.stacks[row.stack];
  stack_.clear();
  uint32_t first = 0;
  while (IsWait(type_) && first < stack.size && IsTracing(slice.frames[stack.begin + first]))
    ++first;
  for (uint32_t i = first; i < stack.size; ++i) {
    stack_.push_back(LocationOf(slice.frames[stack.begin + i]));
  }
  if (stack_.empty()) {
    std::string_view name = NameWithoutFrames(stack.stop);
    profile::Line line;
    line.function = builder_.AddFunction(name, name, "");
    stack_.push_back(builder_.AddLocation(profile::kNoMapping, 0, {&line, 1}));
  }
  if (!StopReason(stack.stop).empty()) cut_ += amount.count;
  // Zeros behind them: SetInUse has those.
  int64_t values[4] = {static_cast<int64_t>(amount.count)};
  size_t size = 1;
  // A lock is waited for until the thread runs with it; other waits end when it could run.
  if (type_ == FT_TYPE_OFFCPU) values[size++] = static_cast<int64_t>(amount.runqueue_ns);
  const uint64_t rest = type_ == FT_TYPE_LOCK ? amount.runqueue_ns : 0;
  values[size++] = static_cast<int64_t>(amount.value + rest);
  SetLabels(slice, row, also);
  value_ += values[size - 1];
  if (type_ == FT_TYPE_MEMORY) size = std::size(values);
  const bool added = builder_.AddSample(stack_, {values, size}, row_labels_);
  samples_ += values[0];
  return added ? std::optional(builder_.last_sample()) : std::nullopt;
}

void ContainerProfile::SetLabels(const Slice& slice, const Slice::Row& row, std::string_view also) {
  const TaskLabel& task = slice.labels[row.label];
  std::vector<profile::Label>& labels = row_labels_;
  labels.clear();
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) labels.push_back(builder_.StringLabel(key, value));
  };
  // A process may end before its name is known; then it gets no label.
  const auto add_name = [&](bool wanted, std::string_view key, const Comm& name) {
    if (wanted && name[0] != 0) add(key, ToText(name));
  };
  add_name(labels_.comm, "comm", task.comm);
  add_name(labels_.thread, "thread", task.thread);
  if (labels_.cpu) labels.push_back(builder_.NumberLabel("cpu", task.cpu, ""));
  add("state", WaitStateName(task.state));
  add_name(labels_.comm, "waker", task.waker);
  if (type_ == FT_TYPE_LOCK) {
    add("lock", LockKindName(locks_.KindOf(slice, row.stack, task.futex)));
    add_name(labels_.comm, "holder", task.holder);
    if (task.holder_stack != kNoStack) add("holder_stack", locks_.Path(slice, task.holder_stack));
  }
  if (labels_.trace && task.is_traced()) {
    const std::string ids = ToHex(
        std::string_view(reinterpret_cast<const char*>(task.trace.data()), sizeof(task.trace)));
    add(profile::kTraceLabel, std::string_view(ids).substr(0, 32));
    add(profile::kSpanLabel, std::string_view(ids).substr(32));
  }
  add(profile::kCutLabel, StopReason(slice.stacks[row.stack].stop));
  add(store::kAlsoLabel, also);
}

std::string ContainerProfile::HowComment() const {
  constexpr std::string_view kAddresses = "addresses are the files' own";
  switch (profile_type_.kind) {
    case profile::TypeKind::kCpu:
      return fmt::format("firetower: on-CPU time, {} Hz, cpu-clock; {}", frequency_hz_, kAddresses);
    case profile::TypeKind::kOffCpu:
      return fmt::format(
          "firetower: off-CPU time, waits of at least {} us by the stack that they began with; "
          "runqueue is the time from wake-up to running, which off_cpu does not include; {}",
          min_wait_ns_ / 1000, kAddresses);
    case profile::TypeKind::kLock:
      return fmt::format(
          "firetower: waits for locks of at least {} us by the stack that they began with, from "
          "the begin of the wait until the thread ran again; {}",
          min_wait_ns_ / 1000, kAddresses);
    case profile::TypeKind::kMemory:
      return fmt::format(
          "firetower: allocations, one sample for each {} bytes on average, scaled up{}; {}",
          sample_bytes_,
          in_use_since_ns_ == 0
              ? ""
              : "; in use is what was allocated since " +
                    fmt::format("{:%FT%TZ}", fmt::gmtime(in_use_since_ns_ / kNsPerSecond)) +
                    " and is not freed",
          kAddresses);
    case profile::TypeKind::kEvent:
      return fmt::format(
          "firetower: {}, each sample stands for the events since the last one on its CPU; {}",
          profile_type_.event, kAddresses);
  }
  return {};
}

profile::Meta ContainerProfile::MetaOf(const ContainerName* name, std::string_view node) const {
  profile::Meta meta = EmptyMeta(profile_type_, frequency_hz_, begin_ns_, end_ns_ - begin_ns_);
  if (in_use_since_ns_ != 0) meta.default_sample_type = meta.sample_types.back().type;
  // The first comment: SetName puts it there when the name is not known yet.
  meta.comments.push_back(name != nullptr ? WhoseComment(*name, node) : "");
  meta.comments.push_back(fmt::format("cgroup={}", container_->root_path));
  meta.comments.push_back(HowComment());
  if (samples_ > 0) {
    meta.comments.push_back(profile::CutComment(static_cast<int64_t>(cut_), samples_));
  }
  if (unseen_in_use_ > 0) {
    meta.comments.push_back(fmt::format(
        "firetower: in use lacks {} allocations that could not be followed; a larger sampleBytes "
        "follows fewer",
        unseen_in_use_));
  }
  for (const std::string& policy : policies_) meta.comments.push_back("policy=" + policy);
  for (const std::string& comment : comments_) meta.comments.push_back(comment);
  return meta;
}

// Returns that of this profile with the same file, or kNoMapping.
uint32_t ContainerProfile::MappingLike(const profile::ProfileBuilder& builder,
                                       const profile::Mapping& mapping) const {
  for (const auto& [id, own] : mappings_) {
    const Module& module = namer_.ModuleOf({.module = id});
    if (module.path == builder.string(mapping.filename) &&
        module.BuildId() == builder.string(mapping.build_id))
      return own.id;
  }
  return profile::kNoMapping;
}

void ContainerProfile::SetInUse(const InUse& in_use) {
  in_use_since_ns_ = in_use.since_ns;
  unseen_in_use_ = in_use.unseen;
  const profile::Profile stacks = in_use.stacks.Copy(nullptr, "");
  size_t next = 0;
  const auto map_mapping = [&](const profile::Mapping& mapping) {
    const uint32_t own = MappingLike(builder_, mapping);
    return profile::MovedMapping{own != profile::kNoMapping ? own : builder_.AddMapping(mapping)};
  };
  const auto change = [&](std::vector<int64_t>& values, std::vector<profile::Label>&) {
    const Amount& amount = in_use.amounts[next++];
    values = {0, 0, static_cast<int64_t>(amount.count), static_cast<int64_t>(amount.value)};
    return amount.count > 0;
  };
  profile::CopyInto(stacks, map_mapping, change, builder_);
}

profile::Profile ContainerProfile::Copy(const ContainerName* name, std::string_view node) const {
  profile::ProfileBuilder copy = builder_;
  copy.meta() = MetaOf(name, node);
  for (const LateFrame& late : late_) SetName(copy, late);
  return std::move(copy).Build();
}

profile::Profile ContainerProfile::Build(const ContainerName* name, std::string_view node) {
  for (const LateFrame& late : late_) SetName(builder_, late);
  builder_.meta() = MetaOf(name, node);
  return std::move(builder_).Build();
}

store::CatalogRow ContainerProfile::Row(const ContainerName* name, std::string_view node) const {
  store::CatalogRow row;
  if (name != nullptr) FillRow(*name, row);
  row.container_id = container_->path.container_id;
  row.node = node;
  row.type = profile_type_.Name();
  row.start_ns = begin_ns_;
  row.duration_ns = end_ns_ - begin_ns_;
  row.samples = samples_;
  row.value = value_;
  row.unit = profile_type_.MainValue().unit;
  row.policies = policies_;
  row.build_ids = build_ids_;
  return row;
}

void PutName(const ContainerName& name, std::string_view node, store::CatalogRow& row,
             profile::Profile& profile) {
  FillRow(name, row);
  std::vector<std::string> comments = profile.meta().comments;
  comments.front() = WhoseComment(name, node);
  profile.SetComments(std::move(comments));
}

}  // namespace firetower::daemon
