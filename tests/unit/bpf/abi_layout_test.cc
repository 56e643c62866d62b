// SPDX-License-Identifier: Apache-2.0
// The shared headers are compiled twice, for BPF and for this machine: the layout in the BTF of the
// built objects must be the layout of our C++.
#include <bpf/btf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bpf/abi/config.h"
#include "bpf/abi/counters.h"
#include "bpf/abi/hotspot.h"
#include "bpf/abi/record.h"
#include "bpf/abi/runtime.h"
#include "bpf/abi/unwind.h"
#include "bpf/abi/v8.h"

namespace firetower {
namespace {

struct Member {
  std::string name;
  size_t offset = 0;
  size_t size = 0;
  bool operator==(const Member&) const = default;
};
void PrintTo(const Member& member, std::ostream* out) {
  *out << member.name << " at " << member.offset << ", " << member.size << " bytes";
}

template <typename Struct, typename Type>
Member Of(const char* name, Type Struct::*member) {
  Struct object{};
  auto begin = reinterpret_cast<const char*>(&object);
  auto at = reinterpret_cast<const char*>(&(object.*member));
  return {name, static_cast<size_t>(at - begin), sizeof(Type)};
}

struct Layout {
  std::string name;
  size_t size = 0;
  std::vector<Member> members;
};

// Every member of every struct of bpf/abi.
Layout LayoutOfHotSpot() {
  using J = ft_hotspot;
  return {"ft_hotspot",
          sizeof(J),
          {Of("at", &J::at),
           Of("heap", &J::heap),
           Of("interpreter", &J::interpreter),
           Of("interpreter_bytes", &J::interpreter_bytes),
           Of("call_return", &J::call_return),
           Of("enter", &J::enter),
           Of("segment_shift", &J::segment_shift),
           Of("head_bytes", &J::head_bytes),
           Of("block_used", &J::block_used),
           Of("blob", &J::blob),
           Of("size", &J::size),
           Of("frame_size", &J::frame_size),
           Of("frame_complete", &J::frame_complete),
           Of("frame_complete_bytes", &J::frame_complete_bytes),
           Of("header_size", &J::header_size),
           Of("header_size_bytes", &J::header_size_bytes),
           Of("nmethod_bytes", &J::nmethod_bytes),
           Of("compile_id", &J::compile_id),
           Of("orig_pc", &J::orig_pc),
           Of("method_const", &J::method_const),
           Of("const_bytes", &J::const_bytes),
           Of("bytecode_slot", &J::bytecode_slot),
           Of("code", &J::code),
           Of("entry", &J::entry),
           Of("deopt", &J::deopt),
           Of("pad", &J::pad)}};
}

// Returns the layouts of bpf/abi/runtime.h, hotspot.h and v8.h.
std::vector<Layout> LayoutsOfRuntimes() {
  using Y = ft_python;
  using P = ft_php;
  using R = ft_ruby;
  using F = ft_function;
  using H = ft_hotspot_heap;
  using V = ft_v8;
  return {
      {"ft_python",
       sizeof(Y),
       {Of("runtime_kind", &Y::runtime_kind),
        Of("minor", &Y::minor),
        Of("entry", &Y::entry),
        Of("owner_entry", &Y::owner_entry),
        Of("runtime", &Y::runtime),
        Of("code_type", &Y::code_type),
        Of("loop", &Y::loop),
        Of("loop_bytes", &Y::loop_bytes),
        Of("thread_key", &Y::thread_key),
        Of("interpreters", &Y::interpreters),
        Of("interpreter_next", &Y::interpreter_next),
        Of("interpreter_threads", &Y::interpreter_threads),
        Of("state_next", &Y::state_next),
        Of("state_thread", &Y::state_thread),
        Of("thread_frame", &Y::thread_frame),
        Of("record_frame", &Y::record_frame),
        Of("frame_code", &Y::frame_code),
        Of("frame_previous", &Y::frame_previous),
        Of("frame_instruction", &Y::frame_instruction),
        Of("frame_owner", &Y::frame_owner),
        Of("code_first_line", &Y::code_first_line),
        Of("code_file", &Y::code_file),
        Of("code_name", &Y::code_name),
        Of("code_lines", &Y::code_lines),
        Of("code_start", &Y::code_start),
        Of("text", &Y::text),
        Of("frame_bytes", &Y::frame_bytes),
        Of("pad", &Y::pad)}},
      {"ft_php",
       sizeof(P),
       {Of("runtime_kind", &P::runtime_kind), Of("version", &P::version),
        Of("opcodes", &P::opcodes), Of("last", &P::last), Of("file", &P::file),
        Of("first_line", &P::first_line), Of("loop_bytes", &P::loop_bytes),
        Of("current", &P::current), Of("loop", &P::loop), Of("cold", &P::cold),
        Of("cold_bytes", &P::cold_bytes), Of("pad0", &P::pad0), Of("body", &P::body),
        Of("pad", &P::pad)}},
      {"ft_ruby",
       sizeof(R),
       {Of("runtime_kind", &R::runtime_kind), Of("version", &R::version),
        Of("frame_bytes", &R::frame_bytes), Of("first_line", &R::first_line),
        Of("first_line_tagged", &R::first_line_tagged), Of("lines", &R::lines),
        Of("entry_bytes", &R::entry_bytes), Of("string_length", &R::string_length),
        Of("loop_bytes", &R::loop_bytes), Of("core_bytes", &R::core_bytes), Of("loop", &R::loop),
        Of("core", &R::core), Of("cold", &R::cold), Of("cold_bytes", &R::cold_bytes),
        Of("slots", &R::slots), Of("global", &R::global), Of("slot", &R::slot),
        Of("offset", &R::offset), Of("pad", &R::pad)}},
      {"ft_perl",
       sizeof(ft_perl),
       {Of("runtime_kind", &ft_perl::runtime_kind), Of("version", &ft_perl::version),
        Of("statement", &ft_perl::statement), Of("stack", &ft_perl::stack),
        Of("next_state", &ft_perl::next_state), Of("name_apart", &ft_perl::name_apart),
        Of("loop_bytes", &ft_perl::loop_bytes), Of("core_bytes", &ft_perl::core_bytes),
        Of("run_bytes", &ft_perl::run_bytes), Of("key", &ft_perl::key), Of("loop", &ft_perl::loop),
        Of("core", &ft_perl::core), Of("run", &ft_perl::run), Of("pad", &ft_perl::pad)}},
      {"ft_ruby_lines",
       sizeof(ft_ruby_lines),
       {Of("positions", &ft_ruby_lines::positions), Of("entries", &ft_ruby_lines::entries),
        Of("immediate", &ft_ruby_lines::immediate), Of("block", &ft_ruby_lines::block)}},
      {"ft_text",
       sizeof(ft_text),
       {Of("length", &ft_text::length), Of("state", &ft_text::state), Of("bytes", &ft_text::bytes),
        Of("text", &ft_text::text)}},
      {"ft_function",
       sizeof(F),
       {Of("time_ns", &F::time_ns), Of("code", &F::code), Of("start_ns", &F::start_ns),
        Of("tgid", &F::tgid), Of("exec_id", &F::exec_id), Of("epoch", &F::epoch),
        Of("cookie", &F::cookie), Of("minor", &F::minor), Of("kind", &F::kind),
        Of("runtime", &F::runtime), Of("first_line", &F::first_line), Of("name", &F::name),
        Of("file", &F::file), Of("lines_size", &F::lines_size), Of("lines_bytes", &F::lines_bytes),
        Of("lines", &F::lines)}},
      {"ft_hotspot_heap",
       sizeof(H),
       {Of("low", &H::low), Of("bytes", &H::bytes), Of("segments", &H::segments)}},
      {"ft_hotspot_field",
       sizeof(ft_hotspot_field),
       {Of("offset", &ft_hotspot_field::offset), Of("form", &ft_hotspot_field::form)}},
      LayoutOfHotSpot(),
      {"ft_v8",
       sizeof(V),
       {Of("at", &V::at), Of("copied", &V::copied), Of("copied_bytes", &V::copied_bytes),
        Of("dispatch", &V::dispatch), Of("function_shared", &V::function_shared),
        Of("function_code", &V::function_code), Of("function_feedback", &V::function_feedback),
        Of("shared_name", &V::shared_name), Of("shared_script", &V::shared_script),
        Of("pad", &V::pad)}},
  };
}

std::vector<Layout> OurLayouts() {
  using S = ft_sample;
  using K = ft_stack;
  using G = ft_cgroup_event;
  using V = ft_verdict;
  using L = ft_load_config;
  using C = ft_cold;
  using R = ft_rule;
  using M = ft_module;
  using P = ft_mapping;
  using T = ft_process;
  using E = ft_machine;
  return {
      {"ft_sample",
       sizeof(S),
       {Of("time_ns", &S::time_ns), Of("stack_hash", &S::stack_hash),
        Of("cgroup_id", &S::cgroup_id), Of("value", &S::value), Of("tgid", &S::tgid),
        Of("tid", &S::tid), Of("cpu", &S::cpu), Of("kind", &S::kind), Of("type", &S::type),
        Of("stop", &S::stop), Of("flags", &S::flags), Of("cold", &S::cold)}},
      {"ft_stack",
       sizeof(K),
       {Of("time_ns", &K::time_ns), Of("stack_hash", &K::stack_hash), Of("start_ns", &K::start_ns),
        Of("tgid", &K::tgid), Of("exec_id", &K::exec_id), Of("epoch", &K::epoch),
        Of("pad0", &K::pad0), Of("user_frames", &K::user_frames), Of("kind", &K::kind),
        Of("stop", &K::stop), Of("kernel_frames", &K::kernel_frames), Of("pad1", &K::pad1),
        Of("pad2", &K::pad2)}},
      {"ft_cgroup_event",
       sizeof(G),
       {Of("time_ns", &G::time_ns), Of("cgroup_id", &G::cgroup_id), Of("pad0", &G::pad0),
        Of("pad1", &G::pad1), Of("pad2", &G::pad2), Of("pad3", &G::pad3),
        Of("path_bytes", &G::path_bytes), Of("kind", &G::kind), Of("change", &G::change),
        Of("path_cut", &G::path_cut), Of("pad4", &G::pad4), Of("pad5", &G::pad5)}},
      {"ft_verdict",
       sizeof(V),
       {Of("kind", &V::kind), Of("child", &V::child), Of("tasks", &V::tasks), Of("cpus", &V::cpus),
        Of("keep", &V::keep), Of("value", &V::value)}},
      {"ft_verdicts", sizeof(ft_verdicts), {Of("of", &ft_verdicts::of)}},
      {"ft_config",
       sizeof(ft_config),
       {Of("fallback", &ft_config::fallback), Of("epoch", &ft_config::epoch),
        Of("tasks_version", &ft_config::tasks_version)}},
      {"ft_task",
       sizeof(ft_task),
       {Of("tid", &ft_task::tid), Of("identity", &ft_task::identity),
        Of("version", &ft_task::version), Of("left_out", &ft_task::left_out),
        Of("cgroups", &ft_task::cgroups), Of("exec_id", &ft_task::exec_id),
        Of("gate_version", &ft_task::gate_version)}},
      {"ft_cpu_set", sizeof(ft_cpu_set), {Of("word", &ft_cpu_set::word)}},
      {"ft_load_config",
       sizeof(L),
       {Of("use_v2", &L::use_v2), Of("v1_controller", &L::v1_controller),
        Of("hierarchy_id", &L::hierarchy_id), Of("user_reads", &L::user_reads),
        Of("thread_size", &L::thread_size), Of("wake_bytes", &L::wake_bytes),
        Of("cold_interval_ns", &L::cold_interval_ns), Of("cold_burst_ns", &L::cold_burst_ns)}},
      {"ft_cold",
       sizeof(C),
       {Of("sample", &C::sample), Of("ip", &C::ip), Of("sp", &C::sp), Of("bp", &C::bp),
        Of("returned", &C::returned), Of("stack_bytes", &C::stack_bytes),
        Of("registers", &C::registers), Of("stack_start", &C::stack_start), Of("entry", &C::entry),
        Of("absent", &C::absent)}},
      {"ft_rule",
       sizeof(R),
       {Of("cfa", &R::cfa), Of("flags", &R::flags), Of("reg", &R::reg), Of("bp_from", &R::bp_from),
        Of("steps", &R::steps), Of("extra", &R::extra), Of("cfa_offset", &R::cfa_offset),
        Of("bp_offset", &R::bp_offset)}},
      {"ft_module",
       sizeof(M),
       {Of("blocks", &M::blocks), Of("rows", &M::rows), Of("rules", &M::rules),
        Of("first_block", &M::first_block), Of("block_count", &M::block_count),
        Of("state", &M::state), Of("serial", &M::serial), Of("runtime", &M::runtime)}},
      {"ft_mapping",
       sizeof(P),
       {Of("end", &P::end), Of("bias", &P::bias), Of("module", &P::module), Of("pad", &P::pad),
        Of("pad2", &P::pad2)}},
      {"ft_process",
       sizeof(T),
       {Of("tgid", &T::tgid), Of("identity", &T::identity), Of("mappings", &T::mappings),
        Of("machine", &T::machine)}},
      {"ft_machine",
       sizeof(E),
       {Of("low", &E::low), Of("bytes", &E::bytes), Of("builtins", &E::builtins),
        Of("builtins_bytes", &E::builtins_bytes), Of("kind", &E::kind), Of("module", &E::module),
        Of("pad", &E::pad)}},
      {"ft_process_bucket", sizeof(ft_process_bucket), {Of("way", &ft_process_bucket::way)}},
      {"ft_counters",
       sizeof(ft_counters),
       {Of("value", &ft_counters::value), Of("stop", &ft_counters::stop)}},
      {"ft_cpu",
       sizeof(ft_cpu),
       {Of("gate_version", &ft_cpu::gate_version), Of("pad0", &ft_cpu::pad0),
        Of("counters", &ft_cpu::counters), Of("pad1", &ft_cpu::pad1)}},
  };
}

std::vector<Layout> AllLayouts() {
  std::vector<Layout> layouts = OurLayouts();
  for (Layout& layout : LayoutsOfRuntimes()) layouts.push_back(std::move(layout));
  return layouts;
}

using Btf = std::unique_ptr<btf, decltype(&btf__free)>;

Btf ParseObject(const std::string& name) {
  std::string path = std::string(FIRETOWER_BINARY_DIR "/") + name;
  Btf parsed(btf__parse(path.c_str(), nullptr), btf__free);
  EXPECT_TRUE(parsed) << path;
  return parsed;
}

std::vector<Member> MembersOf(const btf* types, const btf_type* type) {
  std::vector<Member> members;
  for (__u32 i = 0; i < btf_vlen(type); ++i) {
    const btf_member& member = btf_members(type)[i];
    EXPECT_EQ(btf_member_bitfield_size(type, i), 0u) << "bit fields lie as each compiler likes";
    members.push_back({btf__name_by_offset(types, member.name_off),
                       btf_member_bit_offset(type, i) / 8,
                       static_cast<size_t>(btf__resolve_size(types, member.type))});
  }
  return members;
}

// Compares every struct that the object knows; returns which those are.
std::vector<std::string> Compare(const std::string& object) {
  Btf types = ParseObject(object);
  std::vector<std::string> compared;
  if (!types) return compared;
  for (const Layout& layout : AllLayouts()) {
    __s32 id = btf__find_by_name_kind(types.get(), layout.name.c_str(), BTF_KIND_STRUCT);
    if (id < 0) continue;
    const btf_type* type = btf__type_by_id(types.get(), static_cast<__u32>(id));
    EXPECT_EQ(type->size, layout.size) << object << ": " << layout.name;
    EXPECT_EQ(MembersOf(types.get(), type), layout.members) << object << ": " << layout.name;
    compared.push_back(layout.name);
  }
  return compared;
}

TEST(AbiLayout, IsTheSameForBpf) {
  EXPECT_EQ(Compare("tests/unit/bpf/abi_types.bpf.o").size(), AllLayouts().size());
}

TEST(AbiLayout, IsTheSameInTheLoadedObject) {
  EXPECT_EQ(Compare("bpf/ft_sampler.bpf.o"),
            (std::vector<std::string>{
                "ft_stack",    "ft_cgroup_event", "ft_verdict",        "ft_verdicts", "ft_config",
                "ft_task",     "ft_cpu_set",      "ft_load_config",    "ft_rule",     "ft_module",
                "ft_process",  "ft_machine",      "ft_process_bucket", "ft_counters", "ft_cpu",
                "ft_python",   "ft_php",          "ft_ruby",           "ft_perl",     "ft_text",
                "ft_function", "ft_hotspot_heap", "ft_hotspot_field",  "ft_hotspot",  "ft_v8"}));
}

TEST(AbiLayout, LeavesNoHole) {
  // Unnamed padding would send undefined bytes through the ring.
  for (const Layout& layout : AllLayouts()) {
    size_t end = 0;
    for (const Member& member : layout.members) {
      EXPECT_EQ(member.offset, end) << layout.name << "." << member.name;
      end = member.offset + member.size;
    }
    EXPECT_EQ(end, layout.size) << layout.name;
  }
}

}  // namespace
}  // namespace firetower
