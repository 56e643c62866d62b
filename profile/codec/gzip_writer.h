// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace firetower::profile {

// Compresses bytes that come in pieces into one gzip member (RFC 1952) without name or time. A
// piece may be freed after it was appended, so that no whole file has to be in memory. The same
// pieces give the same bytes on the same kind of CPU. Holds about 450 KiB until Finish.
class GzipWriter {
 public:
  // Reserves memory for `expected_bytes` of the member; 0: grows as needed.
  explicit GzipWriter(size_t expected_bytes = 0);
  ~GzipWriter();

  void Append(std::string_view bytes);
  // Returns the member. Nothing may be appended afterwards.
  std::string Finish() &&;

 private:
  struct Stream;
  void Deflate(std::string_view bytes, bool is_last);

  std::unique_ptr<Stream> stream_;
  std::string out_;
};

}  // namespace firetower::profile
