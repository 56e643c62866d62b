// SPDX-License-Identifier: Apache-2.0
#include "store/s3/listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "store/s3/messages.h"

namespace firetower::store::s3 {
namespace {

// Servers may send pages without anything, but not for ever.
constexpr int kMaxEmptyPages = 100;

Error Unordered() {
  return {ErrorCode::kUnsupported,
          "the server does not list keys in order, so a time range cannot be found"};
}

}  // namespace

Result<ListPage> Listing::AskOnce(const Question& question, const CallLimits& limits) {
  const bool version_1 = version_1_;
  Call call{.on_bucket = true,
            .query = {{"prefix", question.prefix},
                      {"max-keys", std::to_string(question.max_keys)},
                      // XML has no way to write some of the bytes that others' keys may hold.
                      {"encoding-type", "url"}},
            .max_response_bytes = kMaxMessageBytes,
            .also_accepted = {400, 501},
            .answers_xml = true};
  if (question.folders) call.query.push_back({"delimiter", "/"});
  if (version_1) {
    call.also_accepted.clear();
    if (!question.after.empty()) call.query.push_back({"marker", question.after});
  } else {
    call.query.push_back({"list-type", "2"});
    if (!question.continuation.empty()) {
      call.query.push_back({"continuation-token", question.continuation});
    } else if (!question.after.empty()) {
      call.query.push_back({"start-after", question.after});
    }
  }
  ASSIGN_OR_RETURN(const net::HttpResponse response, client_.Send(call, limits));
  if (response.ok()) return ParseListPage(response.body);
  const Refusal refusal = RefusalOf(response);
  const bool unknown = refusal.Is("NotImplemented") || refusal.Is("InvalidArgument");
  if (!unknown) return client_.ToError(call, response);
  return ListPage{.is_version_1 = true};
}

Result<ListPage> Listing::Ask(const Question& question, const CallLimits& limits) {
  ASSIGN_OR_RETURN(ListPage page, AskOnce(question, limits));
  if (!page.is_version_1 || version_1_) return page;
  // It did not see start-after.
  version_1_ = true;
  return AskOnce(question, limits);
}

Result<std::vector<ObjectInfo>> Listing::Objects(std::string_view prefix,
                                                 std::string_view start_after, size_t limit,
                                                 const CallLimits& limits) {
  const std::string& own = client_.config().prefix;
  Question question{.prefix = own + std::string(prefix)};
  if (!start_after.empty()) question.after = own + std::string(start_after);
  std::vector<ObjectInfo> found;
  for (int empty_pages = 0; found.size() < limit;) {
    question.max_keys = std::min(limit - found.size(), ObjectStore::kMaxListed);
    ASSIGN_OR_RETURN(ListPage page, Ask(question, limits));
    const std::string before = question.after;
    for (ObjectInfo& info : page.objects) {
      if (!info.key.starts_with(question.prefix)) return Unordered();
      // Not one of our objects: a placeholder that a console creates for a folder.
      const bool folder = info.key.ends_with('/') && info.size == 0;
      const bool repeated = info.key <= question.after;
      if (repeated && !found.empty()) return Unordered();
      if (repeated) continue;
      question.after = info.key;
      if (folder || found.size() >= limit) continue;
      found.push_back({info.key.substr(own.size()), info.size});
    }
    if (!page.truncated) break;
    empty_pages = question.after == before ? empty_pages + 1 : 0;
    if (empty_pages > kMaxEmptyPages) return Unordered();
    question.continuation = std::move(page.continuation);
  }
  return found;
}

Result<std::vector<std::string>> Listing::Folders(std::string_view prefix,
                                                  const CallLimits& limits) {
  Question question{.prefix = client_.config().prefix + std::string(prefix), .folders = true};
  std::vector<std::string> folders;
  for (int empty_pages = 0;;) {
    ASSIGN_OR_RETURN(ListPage page, Ask(question, limits));
    for (const std::string& folder : page.prefixes) {
      if (!folder.starts_with(question.prefix) || !folder.ends_with('/')) return Unordered();
      std::string name = folder.substr(question.prefix.size());
      name.pop_back();
      if (name.empty() || name.find('/') != std::string::npos) continue;
      folders.push_back(std::move(name));
      question.after = folder;
    }
    if (folders.size() > kMaxFolders) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("more than {} folders below {}", kMaxFolders, question.prefix));
    }
    if (!page.truncated) break;
    const bool stands = page.continuation.empty() ? page.next_marker.empty()
                                                  : page.continuation == question.continuation;
    empty_pages = page.prefixes.empty() ? empty_pages + 1 : 0;
    if (stands || empty_pages > kMaxEmptyPages) return Unordered();
    question.continuation = std::move(page.continuation);
    if (!page.next_marker.empty()) question.after = std::move(page.next_marker);
  }
  return folders;
}

}  // namespace firetower::store::s3
