#include "storage/encodings/utf8.hpp"
#include "storage/proto/example.pb.h"

#include <troupe/tfrecord.hpp>

#include <limits>

namespace troupe {

namespace {

void write(const example::feature& from, proto::Feature& into) {
  if (const auto* strings = std::get_if<byte_strings>(&from))
    into.mutable_bytes_list()->mutable_value()->Assign(strings->begin(), strings->end());
  else if (const auto* floats = std::get_if<std::vector<float>>(&from))
    into.mutable_float_list()->mutable_value()->Assign(floats->begin(), floats->end());
  else if (const auto* integers = std::get_if<std::vector<int64_t>>(&from))
    into.mutable_int64_list()->mutable_value()->Assign(integers->begin(), integers->end());
}

example::feature read(const proto::Feature& from) {
  switch (from.kind_case()) {
    case proto::Feature::kBytesList:
      return byte_strings{from.bytes_list().value().begin(), from.bytes_list().value().end()};
    case proto::Feature::kFloatList:
      return std::vector<float>{from.float_list().value().begin(), from.float_list().value().end()};
    case proto::Feature::kInt64List:
      return std::vector<int64_t>{from.int64_list().value().begin(), from.int64_list().value().end()};
    case proto::Feature::KIND_NOT_SET: return {};
  }
  return {};
}

}  // namespace

expected<std::string> encode_example(const example& x) {
  proto::Example message;
  for (const auto& [name, value] : x.features) {
    if (!is_utf8(name))
      return fail(errc::invalid_argument, "a feature's name is not UTF-8: \"" + name + "\"");
    auto& entry = *message.mutable_features()->add_feature();
    entry.set_key(name);
    write(value, *entry.mutable_value());
  }
  const size_t size = message.ByteSizeLong();
  if (size > static_cast<size_t>(std::numeric_limits<int>::max()))
    return fail(errc::invalid_argument,
                "an example has " + std::to_string(size) + " bytes, and a protobuf message at most 2147483647");
  std::string bytes(size, '\0');
  message.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(bytes.data()));
  return bytes;
}

expected<example> decode_example(std::string_view bytes) {
  proto::Example message;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())
      || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(errc::data_loss, std::to_string(bytes.size()) + " bytes are no example");
  example x;
  for (const auto& entry : message.features().feature()) {
    if (!is_utf8(entry.key()))
      return fail(errc::data_loss, "a feature's name is not UTF-8");
    x.features.insert_or_assign(entry.key(), read(entry.value()));
  }
  return x;
}

}  // namespace troupe
