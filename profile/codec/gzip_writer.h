// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace firetower::profile {

// One gzip member (RFC 1952), without name or time, of bytes that come piece by piece: what was
// appended is not needed afterwards, so that nobody holds a whole file before it is compressed.
// The same pieces give the same bytes on the same kind of CPU. Holds about 450 KiB until Finish.
class GzipWriter {
 public:
  // Room for `expected_bytes` of the member is made at once; 0: as it comes.
  explicit GzipWriter(size_t expected_bytes = 0);
  ~GzipWriter();

  void Append(std::string_view bytes);
  // The member; nothing may be appended afterwards.
  std::string Finish() &&;

 private:
  struct Stream;
  void Deflate(std::string_view bytes, bool is_last);

  std::unique_ptr<Stream> stream_;
  std::string out_;
};

}  // namespace firetower::profile
