// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/json.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <climits>
#include <memory>
#include <nlohmann/json.hpp>

namespace firetower::query::pyroscope {
namespace {

namespace pb = google::protobuf;
using Json = nlohmann::json;
using Field = pb::FieldDescriptor;

constexpr const char* kUrlPrefix = "messages";

std::string UrlOf(const pb::Descriptor& type) {
  return fmt::format("{}/{}", kUrlPrefix, type.full_name());
}

std::unique_ptr<pb::util::TypeResolver> OwnTypes() {
  return std::unique_ptr<pb::util::TypeResolver>(
      pb::util::NewTypeResolverForDescriptorPool(kUrlPrefix, pb::DescriptorPool::generated_pool()));
}

std::string_view KindOf(const Field& field) {
  switch (field.cpp_type()) {
    case Field::CPPTYPE_MESSAGE:
      return "an object";
    case Field::CPPTYPE_STRING:
      return "a text";
    case Field::CPPTYPE_BOOL:
      return "true or false";
    case Field::CPPTYPE_ENUM:
      return "an enum's name or number";
    case Field::CPPTYPE_DOUBLE:
      return "a finite number";
    default:
      return "a 64-bit integer";
  }
}

Error NotA(const Field& field, std::string_view what) {
  return {ErrorCode::kInvalid, fmt::format("member \"{}\" is not {}", field.json_name(), what)};
}

// Finds a field by either spelling of its name.
const Field* FindField(const pb::Descriptor& type, const std::string& name) {
  const Field* field = type.FindFieldByName(name);
  return field != nullptr ? field : type.FindFieldByCamelcaseName(name);
}

Status Prepare(const pb::Descriptor& type, Json& object);

Status PrepareValue(const Field& field, Json& value) {
  if (field.message_type() != nullptr) {
    if (!value.is_object()) return NotA(field, KindOf(field));
    return Prepare(*field.message_type(), value).Context(field.json_name());
  }
  if (value.is_structured() || value.is_null()) return NotA(field, KindOf(field));
  if (!value.is_string()) return OkStatus();
  const auto& text = value.get_ref<const std::string&>();
  // "NaN" and "Infinity" are numbers to protobuf.
  if (field.cpp_type() == Field::CPPTYPE_DOUBLE && text.find_first_of("NI") != std::string::npos)
    return NotA(field, KindOf(field));
  if (field.enum_type() != nullptr && field.enum_type()->FindValueByName(text) == nullptr)
    value = kUnknownEnum;
  return OkStatus();
}

// Leaves of an object what protobuf reads as it is meant: without members that the type does not
// have, of any depth, and with a number for an enum's unknown name, which protobuf would take for a
// missing one. As deep as the type is.
Status Prepare(const pb::Descriptor& type, Json& object) {
  for (auto member = object.begin(); member != object.end();) {
    const Field* field = FindField(type, member.key());
    if (field == nullptr || member->is_null()) {
      member = object.erase(member);
      continue;
    }
    if (!field->is_repeated()) {
      RETURN_IF_ERROR(PrepareValue(*field, *member));
    } else {
      if (!member->is_array()) return NotA(*field, "a list");
      for (Json& one : *member) RETURN_IF_ERROR(PrepareValue(*field, one));
    }
    ++member;
  }
  return OkStatus();
}

// Names the member whose value protobuf refuses: "(stack_trace_selector.call_site[0].name): …".
Error Refused(std::string_view why, const pb::Descriptor& type) {
  constexpr std::string_view kBetween = "(.[]) ";
  std::string_view path = why.substr(0, why.find(": "));
  const pb::Descriptor* in = &type;
  const Field* field = nullptr;
  std::string parents;
  while (in != nullptr && path.find_first_not_of(kBetween) != std::string_view::npos) {
    path.remove_prefix(path.find_first_not_of(kBetween));
    const std::string_view name = path.substr(0, path.find_first_of(kBetween));
    path.remove_prefix(name.size());
    const Field* next = FindField(*in, std::string(name));
    if (next == nullptr) continue;  // an index
    if (field != nullptr) parents += field->json_name() + ": ";
    field = next;
    in = field->message_type();
  }
  if (field != nullptr)
    return {ErrorCode::kInvalid, parents + NotA(*field, KindOf(*field)).message()};
  return {ErrorCode::kInvalid,
          fmt::format("the body is not the JSON of this method's request: {}", why)};
}

// Text that ends soon after a number of bytes; the rest is thrown away.
class BoundedOutput : public pb::io::ZeroCopyOutputStream {
 public:
  explicit BoundedOutput(size_t max_bytes) : max_bytes_(max_bytes) {}
  bool Next(void** data, int* size) override {
    return text_.size() <= max_bytes_ && out_.Next(data, size);
  }
  void BackUp(int count) override { out_.BackUp(count); }
  int64_t ByteCount() const override { return out_.ByteCount(); }
  std::string& text() { return text_; }

 private:
  const size_t max_bytes_;
  std::string text_;
  pb::io::StringOutputStream out_{&text_};
};

}  // namespace

Result<std::string> MessageFromJson(std::string_view text, const pb::Descriptor& type) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error(ErrorCode::kInvalid, "the body is not a JSON object");
  RETURN_IF_ERROR(Prepare(type, json));
  std::string message;
  const auto status =
      pb::util::JsonToBinaryString(OwnTypes().get(), UrlOf(type), json.dump(), &message);
  if (!status.ok()) return Refused(status.message().as_string(), type);
  return message;
}

Result<std::string> MessageToJson(std::string_view message, const pb::Descriptor& type,
                                  size_t max_bytes) {
  if (message.size() > INT_MAX) return Error(ErrorCode::kExhausted, "the answer has 2 GiB");
  pb::io::ArrayInputStream in(message.data(), static_cast<int>(message.size()));
  BoundedOutput out(max_bytes);
  pb::util::JsonPrintOptions options;
  options.always_print_enums_as_ints = true;
  const auto status =
      pb::util::BinaryToJsonStream(OwnTypes().get(), UrlOf(type), &in, &out, options);
  if (out.text().size() > max_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("the answer is larger as JSON than {} bytes: ask for "
                             "application/proto, or narrow the selector or the time range",
                             max_bytes));
  }
  if (!status.ok()) return Error(ErrorCode::kCorrupt, "the answer is no message");
  return std::move(out.text());
}

}  // namespace firetower::query::pyroscope
