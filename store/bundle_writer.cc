// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <zip.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <set>
#include <utility>

#include "base/clock.h"
#include "store/bundle.h"

namespace firetower::store {
namespace {

constexpr std::string_view kEntrySuffix = ".pb.gz";
constexpr std::string_view kTimesSuffix = ".times.gz";
// Bytes of an entry beside name, comment and data: local header 30, central header 46, and room for
// extra fields of the library.
constexpr uint64_t kEntryOverheadBytes = 128;

std::string PathComponent(std::string_view text) {
  constexpr std::string_view kUnfit = "/\\:*?\"<>|";  // on some system or other
  std::string out(text.substr(0, 200));
  for (char& c : out) {
    if (c <= ' ' || c >= 0x7F || kUnfit.find(c) != std::string_view::npos) c = '_';
  }
  if (out.empty()) return "-";
  if (out == "." || out == "..") out[0] = '_';
  return out;
}

// MS-DOS date and time, as ZIP has them: two-second steps from 1980 on.
struct DosTime {
  uint16_t time = 0;
  uint16_t date = 0;
};
DosTime DosTimeOf(int64_t unix_s) {
  constexpr int64_t kFirst = 315'532'800;  // 1980-01-01
  auto at = static_cast<time_t>(std::max(unix_s, kFirst));
  std::tm utc{};
  ::gmtime_r(&at, &utc);
  return {static_cast<uint16_t>(utc.tm_hour << 11 | utc.tm_min << 5 | utc.tm_sec / 2),
          static_cast<uint16_t>((utc.tm_year - 80) << 9 | (utc.tm_mon + 1) << 5 | utc.tm_mday)};
}

struct Pending {
  std::string name;
  std::string comment;
  std::string data;
  std::string times;  // of the side entry; empty: none
};

uint64_t BytesOf(const Pending& entry) {
  const uint64_t own =
      entry.data.size() + entry.comment.size() + 2 * entry.name.size() + kEntryOverheadBytes;
  if (entry.times.empty()) return own;
  return own + entry.times.size() + 2 * (entry.name.size() + kTimesSuffix.size()) +
         kEntryOverheadBytes;
}

Error ZipError(std::string_view what, zip_error_t* error) {
  return {ErrorCode::kInternal, fmt::format("bundle: {}: {}", what, zip_error_strerror(error))};
}

Status AddFile(zip_t* zip, const std::string& name, const std::string& bytes,
               const std::string& comment, DosTime when) {
  zip_source_t* data = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
  if (data == nullptr) return ZipError(name, zip_get_error(zip));
  zip_int64_t added = zip_file_add(zip, name.c_str(), data, ZIP_FL_ENC_UTF_8);
  if (added < 0) {
    zip_source_free(data);
    return ZipError(name, zip_get_error(zip));
  }
  auto index = static_cast<zip_uint64_t>(added);
  bool set = zip_set_file_compression(zip, index, ZIP_CM_STORE, 0) == 0 &&
             zip_file_set_dostime(zip, index, when.time, when.date, 0) == 0 &&
             zip_file_set_comment(zip, index, comment.data(),
                                  static_cast<zip_uint16_t>(comment.size()), ZIP_FL_ENC_UTF_8) == 0;
  return set ? OkStatus() : Status(ZipError(name, zip_get_error(zip)));
}

Status AddEntry(zip_t* zip, const Pending& entry, DosTime when) {
  RETURN_IF_ERROR(AddFile(zip, entry.name, entry.data, entry.comment, when));
  if (entry.times.empty()) return OkStatus();
  return AddFile(zip, TimesEntryName(entry.name), entry.times, "", when);
}

Result<std::string> ReadAll(zip_source_t* source) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0) {
    return ZipError("read back", zip_source_error(source));
  }
  std::string bytes(stat.size, '\0');
  zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (got != static_cast<zip_int64_t>(bytes.size())) {
    return Error(ErrorCode::kInternal, "bundle: the ZIP library gave back less than it wrote");
  }
  return bytes;
}

}  // namespace

struct BundleWriter::Impl {
  DosTime when;
  std::deque<Pending> entries;
  std::set<std::string> names;
  uint64_t bytes = 0;
  size_t files = 0;  // entries and side entries
};

std::string BundleEntryName(const CatalogRow& row) {
  return fmt::format("{}/{}/{}/{}-{}{}", PathComponent(row.namespace_name), PathComponent(row.pod),
                     PathComponent(row.container), PathComponent(row.type), ProfileId(row),
                     kEntrySuffix);
}

std::string TimesEntryName(std::string_view entry_name) {
  if (!entry_name.ends_with(kEntrySuffix)) return {};
  entry_name.remove_suffix(kEntrySuffix.size());
  return std::string(entry_name).append(kTimesSuffix);
}

BundleWriter::BundleWriter(int64_t window_start_ns) : impl_(std::make_unique<Impl>()) {
  impl_->when = DosTimeOf(window_start_ns / kNsPerSecond);
}
BundleWriter::~BundleWriter() = default;
BundleWriter::BundleWriter(BundleWriter&&) noexcept = default;
BundleWriter& BundleWriter::operator=(BundleWriter&&) noexcept = default;

size_t BundleWriter::entries() const { return impl_->entries.size(); }

Status BundleWriter::Add(const CatalogRow& row, std::string pprof_gz, std::string times_gz) {
  Pending entry{BundleEntryName(row), CatalogRowToJson(row), std::move(pprof_gz),
                std::move(times_gz)};
  for (int suffix = 2; !impl_->names.insert(entry.name).second; ++suffix) {
    entry.name = BundleEntryName(row);
    entry.name.insert(entry.name.size() - kEntrySuffix.size(), fmt::format("-{}", suffix));
  }
  const uint64_t grown = impl_->bytes + BytesOf(entry);
  const size_t files = impl_->files + (entry.times.empty() ? 1 : 2);
  if (grown > kMaxBytes || files > kMaxEntries) {
    impl_->names.erase(entry.name);
    return Error(ErrorCode::kExhausted,
                 fmt::format("bundle: {} entries and {} bytes are all a plain ZIP can hold; start "
                             "another one",
                             impl_->entries.size(), impl_->bytes));
  }
  impl_->bytes = grown;
  impl_->files = files;
  impl_->entries.push_back(std::move(entry));
  return OkStatus();
}

Result<std::string> BundleWriter::Finish() && {
  zip_error_t error;
  zip_error_init(&error);
  // The file grows inside the source; a reference of ours outlives zip_close.
  std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> file(
      zip_source_buffer_create(nullptr, 0, 0, &error), zip_source_free);
  if (!file) return ZipError("create", &error);
  if (impl_->entries.empty()) {
    // The library writes no file at all for an empty archive: an end record alone is one.
    return std::string("PK\x05\x06", 4) + std::string(18, '\0');
  }
  zip_t* zip = zip_open_from_source(file.get(), ZIP_TRUNCATE, &error);
  if (zip == nullptr) return ZipError("create", &error);
  zip_source_keep(file.get());
  for (const Pending& entry : impl_->entries) {
    Status added = AddEntry(zip, entry, impl_->when);
    if (!added) {
      zip_discard(zip);
      return std::move(added).error();
    }
  }
  if (zip_close(zip) != 0) {
    Error failed = ZipError("write", zip_get_error(zip));
    zip_discard(zip);
    return failed;
  }
  return ReadAll(file.get());
}

}  // namespace firetower::store
