// SPDX-License-Identifier: Apache-2.0
#include "daemon/trigger/readings/counter_file.h"

#include <fcntl.h>

#include <cerrno>

namespace firetower::daemon {
namespace {

NoReading ReasonOf(int sys_errno) {
  switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV:  // An open file of a removed cgroup (kernfs_fop_read_iter).
      return NoReading::kGone;
    case EOPNOTSUPP:  // Pressure files where psi=0.
      return NoReading::kNotServed;
    default:
      return NoReading::kUnreadable;
  }
}

}  // namespace

CounterFile::Text CounterFile::Read() {
  if (fd_) {
    const Text text = Fill(fd_.get());
    if (text) return text;
    // The path may lead to a new one: a unit that was started again.
    Close();
  }
  UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return {ReasonOf(errno), {}};
  const Text text = Fill(fd.get());
  if (text && buffer_->descriptors_left > 0) {
    --buffer_->descriptors_left;
    fd_ = std::move(fd);
  }
  return text;
}

CounterFile::Text CounterFile::Fill(int fd) {
  std::string& bytes = buffer_->bytes;
  size_t size = 0;
  for (;;) {
    if (size == bytes.size()) {
      if (size >= ReadingBuffer::kMaxBytes) return {NoReading::kUnreadable, {}};
      bytes.resize(size * 2);
    }
    const ssize_t got =
        ::pread(fd, bytes.data() + size, bytes.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {ReasonOf(errno), {}};
    if (got == 0) return {NoReading::kNone, std::string_view(bytes.data(), size)};
    size += static_cast<size_t>(got);
  }
}

void CounterFile::Close() {
  if (!fd_) return;
  fd_.reset();
  ++buffer_->descriptors_left;
}

}  // namespace firetower::daemon
