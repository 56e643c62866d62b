// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/lock_namer.h"

#include <span>

#include "profile/top/lock_code.h"
#include "symbolizer/demangle.h"

namespace firetower::daemon {
namespace {

// The frames that may say what is waited for: a park of HotSpot is the sixth.
constexpr size_t kTold = 8;

}  // namespace

std::string LockNamer::FunctionOf(const Frame& frame) {
  const FrameName name = namer_.Name(frame);
  return name.named ? symbolizer::SimplifyName(name.name()) : std::string();
}

LockKind LockNamer::KindOf(const Slice& slice, uint32_t stack, FutexUse use) {
  if (IsKernelLock(use)) return KindOfUse(use);
  names_.clear();
  for (const Frame& frame : slice.UserFrames(stack)) {
    if (names_.size() == kTold) break;
    names_.push_back(FunctionOf(frame));
  }
  return KindOfNames(names_).value_or(KindOfUse(use));
}

const Frame* LockNamer::Taker(const Slice& slice, uint32_t stack) {
  for (const Frame& frame : slice.UserFrames(stack)) {
    if (!profile::IsLockCode(FunctionOf(frame), Basename(namer_.ModuleOf(frame).path)))
      return &frame;
  }
  return nullptr;
}

std::string LockNamer::Path(const Slice& slice, uint32_t stack) {
  const Frame* taker = Taker(slice, stack);
  if (taker == nullptr) return {};
  const std::span<const Frame> frames = slice.UserFrames(stack);
  std::string path;
  for (size_t i = static_cast<size_t>(taker - frames.data()), told = 0;
       i < frames.size() && told < kMost; ++i, ++told) {
    std::string name = FunctionOf(frames[i]);
    if (name.empty()) name = "[" + std::string(Basename(namer_.ModuleOf(frames[i]).path)) + "]";
    path = path.empty() ? name : name + ";" + path;
  }
  return path;
}

}  // namespace firetower::daemon
