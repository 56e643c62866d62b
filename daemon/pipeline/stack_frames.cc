// SPDX-License-Identifier: Apache-2.0
#include "daemon/pipeline/stack_frames.h"

#include <utility>

#include "bpf/abi/hotspot.h"
#include "bpf/abi/v8.h"

namespace firetower::daemon {
namespace {

// Returns the module of an interpreter's frame that a word begins; kUnknown: it begins none.
uint32_t RuntimeOf(uint64_t word) {
  switch (word & FT_WORD_KIND) {
    case FT_WORD_FRAME:
      return ModuleRegistry::kPython;
    case FT_WORD_PHP_FRAME:
      return ModuleRegistry::kPhp;
    case FT_WORD_RUBY_FRAME:
      return ModuleRegistry::kRuby;
    case FT_WORD_PERL_FRAME:
      return ModuleRegistry::kPerl;
    default:
      return ModuleRegistry::kUnknown;
  }
}

}  // namespace

uint8_t StackFrames::Resolve(std::span<const uint64_t> addresses, size_t kernel_frames,
                             uint8_t stop, Process& process, uint32_t identity, StackParts parts) {
  frames_.clear();
  if (parts != StackParts::kUser) AddKernelPart(addresses.first(kernel_frames));
  if (parts == StackParts::kKernel) return FT_STOP_NO_USER;
  return AddUserPart(addresses.subspan(kernel_frames), stop,
                     {process.mappings.get(), process.pid, identity, &process});
}

uint8_t StackFrames::Resolve(const FinishedStack& stack) {
  frames_.clear();
  const std::span<const uint64_t> addresses = stack.addresses;
  AddKernelPart(addresses.first(stack.kernel_frames));
  return AddUserPart(addresses.subspan(stack.kernel_frames), stack.stop,
                     {stack.mappings.get(), stack.sample.tgid, stack.identity,
                      processes_.FindAlive(stack.sample.tgid)});
}

void StackFrames::AddKernelPart(std::span<const uint64_t> addresses) {
  for (size_t i = 0; i < addresses.size(); ++i)
    frames_.push_back({ModuleRegistry::kKernel, 0, addresses[i] - (i > 0 ? 1 : 0)});
}

uint8_t StackFrames::AddUserPart(std::span<const uint64_t> words, uint8_t stop, Owner owner) {
  held_.clear();
  loops_.clear();
  bool leaf = true, stack_ended = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const uint64_t word = words[i];
    const uint32_t runtime = RuntimeOf(word);
    if (runtime != ModuleRegistry::kUnknown && i + 1 < words.size()) {
      const FunctionTable::Place place =
          functions_.Find(owner.pid, owner.identity, word, words[++i]);
      held_.push_back({runtime, 0, uint64_t{place.function} << 32 | place.line});
    } else if ((word & FT_WORD_KIND) == FT_WORD_JOIN) {
      Join();
    } else if (word == FT_WORD_STACK) {
      frames_.insert(frames_.end(), held_.begin(), held_.end());
      held_.clear();
      stack_ended = true;
    } else if ((word & FT_WORD_KIND) == FT_WORD_SCRIPT && i + 1 < words.size()) {
      AddScript({.word = word, .where = words[++i]}, owner);
      leaf = false;
    } else if ((word & FT_WORD_KIND) == FT_WORD_COMPILED_SCRIPT && i + 3 < words.size()) {
      AddScript({word, words[i + 1], words[i + 2], words[i + 3]}, owner);
      i += 3;
      leaf = false;
    } else if ((word & FT_WORD_MARK) != 0 && i + 1 < words.size()) {
      AddJava(word, words[++i], owner);
      leaf = false;
    } else if (!AddNative(word, std::exchange(leaf, false), owner)) {
      stop = kStopNoMapping;  // Not a return address after all: what follows is chance.
      break;
    }
  }
  // Their place is not known where the walk ended before it came to the loop: they follow what it
  // found, unless that went on over code which it could not follow.
  if (held_.empty()) return stop;
  if (stop != FT_STOP_COLD) frames_.insert(frames_.end(), held_.begin(), held_.end());
  return stop == FT_STOP_ROOT && !stack_ended ? uint8_t{FT_STOP_FRAME_POINTER} : stop;
}

void StackFrames::AddJava(uint64_t word, uint64_t where, const Owner& owner) {
  AddPlaces(ModuleRegistry::kJava,
            unwinder_.machines().Name(owner.pid, owner.identity, word, where));
}

void StackFrames::AddScript(const V8Frame& frame, const Owner& owner) {
  const std::vector<RuntimePlace> places =
      unwinder_.engines().Name(owner.pid, owner.identity, frame);
  AddPlaces(ModuleRegistry::kScript, places);
}

void StackFrames::AddPlaces(uint32_t module, const std::vector<RuntimePlace>& places) {
  for (const RuntimePlace& place : places) {
    const uint64_t function = functions_.Hold(*place.function);
    frames_.push_back({module, 0, function << 32 | place.line});
  }
  if (places.empty()) frames_.push_back({module, 0, 0});
}

void StackFrames::Join() {
  const bool native = !frames_.empty() && frames_.back().module != ModuleRegistry::kKernel;
  if (held_.empty()) {
    if (native) ShiftLoops();
    return;
  }
  if (native) frames_.pop_back();
  loops_.push_back({frames_.size(), held_.size()});
  frames_.insert(frames_.end(), held_.begin(), held_.end());
  held_.clear();
}

// The frame in hand is a loop for which the thread has no frame: then the innermost loop is the one
// without, and what each loop ran belongs to the next one.
void StackFrames::ShiftLoops() {
  if (loops_.empty()) return;
  frames_.pop_back();
  const auto begin = frames_.begin();
  std::vector<Frame> shifted(begin, begin + static_cast<ptrdiff_t>(loops_.front().begin));
  for (size_t i = 0; i < loops_.size(); ++i) {
    const auto run = begin + static_cast<ptrdiff_t>(loops_[i].begin);
    const auto behind = run + static_cast<ptrdiff_t>(loops_[i].count);
    const size_t next = i + 1 < loops_.size() ? loops_[i + 1].begin : frames_.size();
    shifted.insert(shifted.end(), behind, begin + static_cast<ptrdiff_t>(next));
    shifted.insert(shifted.end(), run, behind);
  }
  frames_ = std::move(shifted);
  loops_.clear();
}

bool StackFrames::AddNative(uint64_t word, bool leaf, Owner& owner) {
  // The innermost user address is where the task ran or left for the kernel; the others are
  // return addresses, and the call lies before them.
  const uint64_t address = word - (leaf ? 0 : 1);
  if (AddUserFrame(address, *owner.mappings, owner.pid, owner.process)) return true;
  if (!leaf) return false;
  if (owner.process != nullptr && processes_.Refresh(*owner.process)) {
    owner.mappings = owner.process->mappings.get();
    if (AddUserFrame(address, *owner.mappings, owner.pid, owner.process)) return true;
  }
  frames_.push_back({ModuleRegistry::kUnknown, 0, address});
  return true;
}

bool StackFrames::AddUserFrame(uint64_t address, const std::vector<ProcessMapping>& mappings,
                               uint32_t pid, const Process* process) {
  const ProcessMapping* mapping = FindMapping(mappings, address);
  if (mapping == nullptr) return false;
  Frame frame;
  frame.module = processes_.NamesOf(*mapping, process);
  const std::shared_ptr<const Module>& module = modules_.Get(frame.module);
  switch (module->kind) {
    case ModuleKind::kFile:
    case ModuleKind::kVdso:
      frame.offset = address - mapping->start + mapping->file_offset;
      break;
    default:
      frame.offset = address;
      frame.pid = pid;
  }
  if (module->symbols.load(std::memory_order_relaxed) == Module::kWanted &&
      module->kind == ModuleKind::kFile && process != nullptr) {
    peers_.WantSymbols(module, *process, *mapping);
  }
  if (frames_.empty() || frames_.back().module != frame.module) {
    unwinder_.Touch(mapping->module);
    if (process != nullptr) {
      module->NoteSeen(process->pid, process->parent, mapping->start, mapping->end);
    }
  }
  frames_.push_back(frame);
  return true;
}

}  // namespace firetower::daemon
