// SPDX-License-Identifier: Apache-2.0
#include "profile/comments.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "profile/diff.h"

namespace firetower::profile {
namespace {

constexpr std::string_view kCutText = "% of samples have a cut stack: their label `cut` says why";
constexpr std::string_view kCoarse = "coarse: ";
constexpr std::string_view kAnd = "and ";
constexpr std::string_view kAtLeast = "at least ";
constexpr std::string_view kMore = " more comments";

// N of "and N more comments", with which a sum ends.
std::optional<size_t> LeftOut(std::string_view comment) {
  if (!comment.starts_with(kAnd) || !comment.ends_with(kMore)) return std::nullopt;
  comment.remove_prefix(kAnd.size());
  if (comment.starts_with(kAtLeast)) comment.remove_prefix(kAtLeast.size());
  size_t count = 0;
  const char* end = comment.data() + comment.size();
  const auto [at, error] = std::from_chars(comment.data(), end, count);
  if (error != std::errc() || std::string_view(at, end) != kMore) return std::nullopt;
  return count;
}

// Ignores subtracted samples.
std::string CutCommentOf(const Profile& sum) {
  int64_t samples = 0;
  int64_t cut = 0;
  for (uint32_t i = 0; i < sum.sample_count(); ++i) {
    const Sample sample = sum.sample(i);
    if (sample.values.empty() || IsBaseSample(sum, sample)) continue;
    samples = SaturatingAdd(samples, sample.values[0]);
    const bool is_cut = std::ranges::any_of(
        sample.labels, [&](const Label& label) { return sum.string(label.key) == kCutLabel; });
    if (is_cut) cut = SaturatingAdd(cut, sample.values[0]);
  }
  return samples > 0 ? CutComment(cut, samples) : "";
}

}  // namespace

std::string CutComment(int64_t cut, int64_t samples) {
  return fmt::format("{:.1f}{}", 100.0 * static_cast<double>(cut) / static_cast<double>(samples),
                     kCutText);
}

std::string CoarseComment(double hidden) {
  return fmt::format(
      "{}it was too wide to be held whole, so stacks of up to {:.4f}% of it may be cut at a frame "
      "`other`, and addresses, lines and rare labels be missing; sums are exact",
      kCoarse, std::ceil(hidden * 1e6) / 1e4);
}

void MergedComments::Add(const std::vector<std::string>& comments) {
  std::unordered_map<std::string_view, size_t> times;  // that a comment came in this part
  for (const std::string& comment : comments) {
    if (comment.ends_with(kCutText)) {
      tells_cut_ = true;
    } else if (comment.starts_with(kCoarse)) {
      tells_coarse_ = true;  // of its own whole, which is not the sum's
    } else if (const std::optional<size_t> more = LeftOut(comment)) {
      parts_left_out_ = std::max(parts_left_out_, *more);
    } else if (const auto time = static_cast<ptrdiff_t>(++times[comment]);
               std::ranges::count(kept_, comment) >= time) {
      continue;
    } else if (kept_.size() < kMax) {
      kept_.push_back(comment);
    } else if (left_out_.size() < kMaxLeftOut) {
      left_out_.insert(std::hash<std::string>{}(comment) + static_cast<size_t>(time) - 1);
    }
  }
}

std::vector<std::string> MergedComments::Of(const Profile& sum) const {
  std::vector<std::string> comments = kept_;
  const std::string cut = tells_cut_ ? CutCommentOf(sum) : "";
  if (!cut.empty()) comments.push_back(cut);
  if (tells_coarse_)
    comments.push_back(fmt::format("{}parts of the sum were too wide to be held whole", kCoarse));
  // Which ones a part left out is not known: of all together there are at least as many as of it.
  const bool is_known = parts_left_out_ == 0 && left_out_.size() < kMaxLeftOut;
  const size_t more = std::max(left_out_.size(), parts_left_out_);
  if (more > 0)
    comments.push_back(fmt::format("{}{}{}{}", kAnd, is_known ? "" : kAtLeast, more, kMore));
  return comments;
}

}  // namespace firetower::profile
