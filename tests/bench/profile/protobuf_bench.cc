// SPDX-License-Identifier: Apache-2.0
// protobuf_bench ours|protobuf FILE: decodes and encodes a pprof file, uncompressed, by our codec
// or by the code that protoc generates, on an arena. Prints `<CPU ms of decoding> <CPU ms of
// encoding> <bytes held when decoded>`; what is encoded is in both cases a Profile of ours, as
// windows and merges are.
#include <fmt/core.h>
#include <google/protobuf/arena.h>

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "profile/builder.h"
#include "profile/codec/gzip.h"
#include "profile/pprof.h"
#include "proto/pprof/profile.pb.h"
#include "tests/bench/pairs.h"

namespace firetower::profile {
namespace {

using google::protobuf::Arena;

double CpuMs() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class ToMessage {
 public:
  ToMessage(const Profile& from, proto::pprof::Profile* to) : from_(from), to_(*to) {}

  void Run() {
    for (uint32_t i = 0; i < from_.string_count(); ++i) AddText(from_.string(i));
    for (const ValueType& type : from_.meta().sample_types) SetType(type, to_.add_sample_type());
    for (uint32_t i = 0; i < from_.sample_count(); ++i) AddSample(from_.sample(i));
    for (uint32_t i = 0; i < from_.mapping_count(); ++i) AddMapping(i);
    for (uint32_t i = 0; i < from_.location_count(); ++i) AddLocation(i);
    for (uint32_t i = 0; i < from_.function_count(); ++i) AddFunction(i);
    SetType(from_.meta().period_type, to_.mutable_period_type());
    to_.set_period(from_.meta().period);
    to_.set_time_nanos(from_.meta().time_nanos);
    to_.set_duration_nanos(from_.meta().duration_nanos);
  }

 private:
  int64_t AddText(std::string_view text) {
    to_.add_string_table(text.data(), text.size());
    return to_.string_table_size() - 1;
  }
  void SetType(const ValueType& from, proto::pprof::ValueType* to) {
    to->set_type(AddText(from.type));
    to->set_unit(AddText(from.unit));
  }
  void AddSample(const Sample& from) {
    proto::pprof::Sample* to = to_.add_sample();
    for (size_t i = 0; i < from.locations.size(); ++i) to->add_location_id(from.locations[i] + 1);
    for (const int64_t value : from.values) to->add_value(value);
    for (const Label& label : from.labels) {
      proto::pprof::Label* to_label = to->add_label();
      to_label->set_key(label.key);
      to_label->set_str(label.string_value);
      to_label->set_num(label.number);
      to_label->set_num_unit(label.unit);
    }
  }
  void AddMapping(uint32_t index) {
    const Mapping& from = from_.mapping(index);
    proto::pprof::Mapping* to = to_.add_mapping();
    to->set_id(index + 1);
    to->set_memory_start(from.memory_start);
    to->set_memory_limit(from.memory_limit);
    to->set_file_offset(from.file_offset);
    to->set_filename(from.filename);
    to->set_build_id(from.build_id);
    to->set_has_functions(from.has_functions());
  }
  void AddLocation(uint32_t index) {
    const Location from = from_.location(index);
    proto::pprof::Location* to = to_.add_location();
    to->set_id(index + 1);
    to->set_mapping_id(from.mapping == kNoMapping ? 0 : from.mapping + 1);
    to->set_address(from.address);
    to->set_is_folded(from.is_folded);
    for (const Line& line : from.lines) {
      proto::pprof::Line* to_line = to->add_line();
      to_line->set_function_id(line.function + 1);
      to_line->set_line(line.line);
    }
  }
  void AddFunction(uint32_t index) {
    const Function& from = from_.function(index);
    proto::pprof::Function* to = to_.add_function();
    to->set_id(index + 1);
    to->set_name(from.name);
    to->set_system_name(from.system_name);
    to->set_filename(from.filename);
    to->set_start_line(from.start_line);
  }

  const Profile& from_;
  proto::pprof::Profile& to_;
};

std::string_view TextOf(const proto::pprof::Profile& from, int64_t index) {
  return from.string_table(static_cast<int>(index));
}

ValueType TypeOf(const proto::pprof::Profile& from, const proto::pprof::ValueType& type) {
  return {std::string(TextOf(from, type.type())), std::string(TextOf(from, type.unit()))};
}

Meta MetaOf(const proto::pprof::Profile& from) {
  Meta meta{.period_type = TypeOf(from, from.period_type()),
            .period = from.period(),
            .time_nanos = from.time_nanos(),
            .duration_nanos = from.duration_nanos()};
  for (const proto::pprof::ValueType& type : from.sample_type())
    meta.sample_types.push_back(TypeOf(from, type));
  return meta;
}

// Makes the profile that the product works with. The ids of the files here count from 1, so that
// nothing is looked up.
Profile FromMessage(const proto::pprof::Profile& from) {
  ProfileBuilder builder(MetaOf(from));
  const auto text = [&](int64_t index) { return builder.AddString(TextOf(from, index)); };
  for (const proto::pprof::Mapping& mapping : from.mapping()) {
    builder.AddMapping({.memory_start = mapping.memory_start(),
                        .memory_limit = mapping.memory_limit(),
                        .file_offset = mapping.file_offset(),
                        .filename = text(mapping.filename()),
                        .build_id = text(mapping.build_id()),
                        .flags = mapping.has_functions() ? uint64_t{Mapping::kHasFunctions} : 0});
  }
  for (const proto::pprof::Function& function : from.function()) {
    builder.AddFunction({.name = text(function.name()),
                         .system_name = text(function.system_name()),
                         .filename = text(function.filename()),
                         .start_line = function.start_line()});
  }
  std::vector<Line> lines;
  std::vector<uint32_t> locations;
  for (const proto::pprof::Location& location : from.location()) {
    lines.clear();
    for (const proto::pprof::Line& line : location.line())
      lines.push_back(
          {.function = static_cast<uint32_t>(line.function_id() - 1), .line = line.line()});
    locations.push_back(builder.AddLocation(static_cast<uint32_t>(location.mapping_id()) - 1,
                                            location.address(), lines, location.is_folded()));
  }
  std::vector<uint32_t> stack;
  std::vector<Label> labels;
  for (const proto::pprof::Sample& sample : from.sample()) {
    stack.clear();
    for (const uint64_t id : sample.location_id()) stack.push_back(locations[id - 1]);
    labels.clear();
    for (const proto::pprof::Label& label : sample.label()) {
      labels.push_back({.key = text(label.key()),
                        .string_value = text(label.str()),
                        .number = label.num(),
                        .unit = text(label.num_unit()),
                        .is_number = label.str() == 0 ? 1u : 0u});
    }
    builder.AddSample(stack, {sample.value().data(), static_cast<size_t>(sample.value_size())},
                      labels);
  }
  return std::move(builder).Build();
}

// Adds up over the rounds; memory is that of the last one.
struct Cost {
  double decode_ms = 0;
  double encode_ms = 0;
  size_t held_bytes = 0;
  double parse_ms = 0;
};

void Ours(const std::string& bytes, const Profile& profile, Cost& cost) {
  const double start_ms = CpuMs();
  const auto decoded = DecodePprof(bytes);
  cost.decode_ms += CpuMs() - start_ms;
  CHECK(decoded && decoded->Total(0) == profile.Total(0));
  cost.held_bytes = decoded->bytes();
  const double encode_start_ms = CpuMs();
  const std::string encoded = EncodePprof(profile, {.gzip = false});
  cost.encode_ms += CpuMs() - encode_start_ms;
}

void Protobufs(const std::string& bytes, const Profile& profile, Cost& cost) {
  {
    const double start_ms = CpuMs();
    Arena arena;
    auto* message = Arena::CreateMessage<proto::pprof::Profile>(&arena);
    CHECK(message->ParseFromString(bytes));
    cost.parse_ms += CpuMs() - start_ms;
    const Profile decoded = FromMessage(*message);
    cost.decode_ms += CpuMs() - start_ms;
    CHECK(decoded.Total(0) == profile.Total(0));
    CHECK(decoded.location_count() == profile.location_count());
    cost.held_bytes = arena.SpaceUsed() + decoded.bytes();
  }
  const double start_ms = CpuMs();
  Arena arena;
  auto* message = Arena::CreateMessage<proto::pprof::Profile>(&arena);
  ToMessage(profile, message).Run();
  const std::string encoded = message->SerializeAsString();
  cost.encode_ms += CpuMs() - start_ms;
  const auto again = DecodePprof(encoded);
  CHECK(again && again->Total(0) == profile.Total(0));
  CHECK(again->location_count() == profile.location_count());
}

int Run(std::string_view who, const std::string& path) {
  const auto file = ReadFile(path);
  CHECK(file);
  const auto bytes = GzipDecompress(*file, size_t{1} << 30);
  CHECK(bytes);
  const auto profile = DecodePprof(*bytes);
  CHECK(profile);
  Cost cost;
  for (int i = 0; i < bench::Pick(10, 1); ++i)
    (who == "ours" ? Ours : Protobufs)(*bytes, *profile, cost);
  fmt::print("{:.3f} {:.3f} {} {:.3f}\n", cost.decode_ms, cost.encode_ms, cost.held_bytes,
             who == "ours" ? cost.decode_ms : cost.parse_ms);
  return 0;
}

}  // namespace
}  // namespace firetower::profile

int main(int argc, char** argv) {
  const std::string_view who = argc == 3 ? argv[1] : "";
  if (who == "ours" || who == "protobuf") return firetower::profile::Run(who, argv[2]);
  fmt::print(stderr, "usage: protobuf_bench ours|protobuf FILE\n");
  return 2;
}
