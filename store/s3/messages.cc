// SPDX-License-Identifier: Apache-2.0
// pugixml expands no entities but the five of XML and characters by number, and skips a document
// type: nothing grows beyond its input.
#include "store/s3/messages.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <pugixml.hpp>

#include "base/text/percent.h"
#include "store/s3/http/date.h"

namespace firetower::store::s3 {
namespace {

constexpr size_t kMaxMessageText = 300;

Error Corrupt(std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("the server's answer: {}", what)};
}

// The root element; none when the text is not XML.
pugi::xml_node Load(std::string_view xml, pugi::xml_document* document) {
  if (xml.size() > kMaxMessageBytes) return {};
  const pugi::xml_parse_result parsed =
      document->load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
  return parsed ? document->document_element() : pugi::xml_node();
}

Result<pugi::xml_node> LoadRoot(std::string_view xml, const char* name,
                                pugi::xml_document* document) {
  const pugi::xml_node root = Load(xml, document);
  if (root && std::strcmp(root.name(), name) == 0) return root;
  return Corrupt(fmt::format("no {}", name));
}

// For people: one line without control characters, of bounded length.
std::string Printable(std::string_view text) {
  std::string out(text.substr(0, kMaxMessageText));
  std::ranges::replace_if(
      out, [](char c) { return c >= 0 && (c < ' ' || c == 0x7F); }, ' ');
  return out;
}

bool IsTrue(const pugi::xml_node& node) { return std::strcmp(node.child_value(), "true") == 0; }

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The server's own text in a document of ours.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A key or prefix of a listing with EncodingType url.
Result<std::string> KeyText(const char* text, bool encoded) {
  if (!encoded) return std::string(text);
  std::optional<std::string> decoded = DecodePercent(text, true);
  if (!decoded) return Corrupt("a key that is not URL-encoded as announced");
  return *std::move(decoded);
}

}  // namespace

ErrorBody ParseError(std::string_view xml) {
  pugi::xml_document document;
  pugi::xml_node root = Load(xml, &document);
  if (std::strcmp(root.name(), "ErrorResponse") == 0) root = root.child("Error");
  if (std::strcmp(root.name(), "Error") != 0) return {};
  return {.code = Printable(root.child_value("Code")),
          .message = Printable(root.child_value("Message")),
          .region = Printable(root.child_value("Region")),
          .endpoint = Printable(root.child_value("Endpoint"))};
}

bool IsErrorBody(std::string_view xml) {
  // Most are none, and as long as a listing of a thousand names.
  if (xml.find("<Error") == std::string_view::npos) return false;
  pugi::xml_document document;
  return std::strcmp(Load(xml, &document).name(), "Error") == 0;
}

Result<ListPage> ParseListPage(std::string_view xml) {
  pugi::xml_document document;
  ASSIGN_OR_RETURN(const pugi::xml_node root, LoadRoot(xml, "ListBucketResult", &document));
  const bool encoded = std::strcmp(root.child_value("EncodingType"), "url") == 0;
  ListPage page;
  page.truncated = IsTrue(root.child("IsTruncated"));
  page.continuation = root.child_value("NextContinuationToken");
  ASSIGN_OR_RETURN(page.next_marker, KeyText(root.child_value("NextMarker"), encoded));
  page.is_version_1 = !root.child("KeyCount") && root.child("Marker");
  for (const pugi::xml_node& entry : root.children("Contents")) {
    ObjectInfo info;
    ASSIGN_OR_RETURN(info.key, KeyText(entry.child_value("Key"), encoded));
    const std::optional<uint64_t> size = Number(entry.child_value("Size"));
    if (info.key.empty() || !size) return Corrupt("an object without a key or a size");
    info.size = *size;
    page.objects.push_back(std::move(info));
  }
  for (const pugi::xml_node& entry : root.children("CommonPrefixes")) {
    ASSIGN_OR_RETURN(std::string prefix, KeyText(entry.child_value("Prefix"), encoded));
    page.prefixes.push_back(std::move(prefix));
  }
  return page;
}

Result<std::string> ParseUploadId(std::string_view xml) {
  pugi::xml_document document;
  ASSIGN_OR_RETURN(const pugi::xml_node root,
                   LoadRoot(xml, "InitiateMultipartUploadResult", &document));
  std::string id = root.child_value("UploadId");
  if (id.empty() || id.size() > 4096) return Corrupt("no UploadId");
  return id;
}

Status ParseCompleted(std::string_view xml) {
  pugi::xml_document document;
  return LoadRoot(xml, "CompleteMultipartUploadResult", &document)
             ? OkStatus()
             : Status(Corrupt("no CompleteMultipartUploadResult"));
}

Result<PendingPage> ParsePendingUploads(std::string_view xml) {
  pugi::xml_document document;
  ASSIGN_OR_RETURN(const pugi::xml_node root,
                   LoadRoot(xml, "ListMultipartUploadsResult", &document));
  PendingPage page{.truncated = IsTrue(root.child("IsTruncated")),
                   .next_key = root.child_value("NextKeyMarker"),
                   .next_upload_id = root.child_value("NextUploadIdMarker")};
  for (const pugi::xml_node& entry : root.children("Upload")) {
    const std::optional<int64_t> initiated_s = ParseIsoTime(entry.child_value("Initiated"));
    PendingUpload upload{.key = entry.child_value("Key"),
                         .upload_id = entry.child_value("UploadId")};
    if (upload.key.empty() || upload.upload_id.empty() || !initiated_s) {
      return Corrupt("an upload without a key, an id or a time");
    }
    upload.initiated_s = *initiated_s;
    page.uploads.push_back(std::move(upload));
  }
  return page;
}

std::string DeleteBody(const std::vector<std::string>& keys) {
  std::string out = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const std::string& key : keys) {
    out += fmt::format("<Object><Key>{}</Key></Object>", Escaped(key));
  }
  return out + "</Delete>";
}

Result<DeleteAnswer> ParseDeleteAnswer(std::string_view xml) {
  pugi::xml_document document;
  ASSIGN_OR_RETURN(const pugi::xml_node root, LoadRoot(xml, "DeleteResult", &document));
  DeleteAnswer answer;
  for (const pugi::xml_node& entry : root.children("Deleted")) {
    answer.deleted.emplace_back(entry.child_value("Key"));
    if (answer.deleted.back().empty()) return Corrupt("a deletion without a key");
  }
  for (const pugi::xml_node& entry : root.children("Error")) {
    DeleteAnswer::Failure failure{.key = entry.child_value("Key"),
                                  .code = std::string(entry.child_value("Code")).substr(0, 64)};
    if (failure.key.empty()) return Corrupt("an error without a key");
    const bool is_code = std::ranges::all_of(failure.code, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    });
    if (!is_code || failure.code.empty()) failure.code = "InternalError";
    answer.failed.push_back(std::move(failure));
  }
  return answer;
}

Result<AssumedRole> ParseAssumedRole(std::string_view xml) {
  pugi::xml_document document;
  ASSIGN_OR_RETURN(const pugi::xml_node root,
                   LoadRoot(xml, "AssumeRoleWithWebIdentityResponse", &document));
  const pugi::xml_node credentials =
      root.child("AssumeRoleWithWebIdentityResult").child("Credentials");
  if (!credentials) return Corrupt("no Credentials");
  return AssumedRole{.access_key_id = credentials.child_value("AccessKeyId"),
                     .secret_access_key = credentials.child_value("SecretAccessKey"),
                     .session_token = credentials.child_value("SessionToken"),
                     .expiration = credentials.child_value("Expiration")};
}

std::string CompleteBody(const std::vector<UploadedPart>& parts) {
  std::string out = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (size_t i = 0; i < parts.size(); ++i) {
    out += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag>", i + 1,
                       Escaped(parts[i].etag));
    if (!parts[i].crc32c.empty()) {
      out += fmt::format("<ChecksumCRC32C>{}</ChecksumCRC32C>", parts[i].crc32c);
    }
    out += "</Part>";
  }
  return out + "</CompleteMultipartUpload>";
}

}  // namespace firetower::store::s3
