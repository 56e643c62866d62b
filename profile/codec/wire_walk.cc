// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/wire_walk.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <string>

namespace firetower::profile {

using google::protobuf::internal::WireFormatLite;

Status WalkFields(std::string_view message,
                  const std::function<Status(const WireField& field)>& visit) {
  const auto* begin = reinterpret_cast<const uint8_t*>(message.data());
  google::protobuf::io::CodedInputStream in(begin, static_cast<int>(message.size()));
  auto corrupt = [&in] {
    return Error(ErrorCode::kCorrupt, "not a pprof profile: broken field near byte " +
                                          std::to_string(in.CurrentPosition()));
  };
  while (in.CurrentPosition() < static_cast<int>(message.size())) {
    uint32_t tag = in.ReadTag();
    WireField field;
    field.number = WireFormatLite::GetTagFieldNumber(tag);
    if (tag == 0 || field.number == 0) return corrupt();
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT:
        if (!in.ReadVarint64(&field.number_value)) return corrupt();
        break;
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        uint32_t length = 0;
        if (!in.ReadVarint32(&length)) return corrupt();
        auto at = static_cast<size_t>(in.CurrentPosition());
        if (length > message.size() - at) return corrupt();
        field.is_bytes = true;
        field.bytes = message.substr(at, length);
        in.Skip(static_cast<int>(length));
        break;
      }
      case WireFormatLite::WIRETYPE_FIXED32:
        if (!in.Skip(4)) return corrupt();
        continue;
      case WireFormatLite::WIRETYPE_FIXED64:
        if (!in.Skip(8)) return corrupt();
        continue;
      default:
        return corrupt();  // groups: never used by pprof
    }
    RETURN_IF_ERROR(visit(field));
  }
  return OkStatus();
}

}  // namespace firetower::profile
