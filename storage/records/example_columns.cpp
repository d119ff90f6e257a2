#include "storage/records/example_columns.hpp"

#include "storage/encodings/safetensors.hpp"
#include "storage/proto/example.pb.h"
#include "words/text.hpp"

#include <algorithm>
#include <limits>

namespace troupe {

namespace {

std::string text_of(const component& c) { return type_text(c.type, c.dims); }

proto::Feature::KindCase kind_for(dtype type) {
  return type == dtype::uint8     ? proto::Feature::kBytesList
         : type == dtype::float32 ? proto::Feature::kFloatList
                                  : proto::Feature::kInt64List;
}

/// A feature in words, for errors: "a list of 3 floats".
std::string found(const proto::Feature& f) {
  switch (f.kind_case()) {
    case proto::Feature::kBytesList: {
      const auto& strings = f.bytes_list().value();
      return "a list of " + std::to_string(strings.size()) + " strings of bytes"
             + (strings.size() == 1 ? ", " + std::to_string(strings[0].size()) + " of them" : "");
    }
    case proto::Feature::kFloatList: return "a list of " + std::to_string(f.float_list().value_size()) + " floats";
    case proto::Feature::kInt64List: return "a list of " + std::to_string(f.int64_list().value_size()) + " integers";
    case proto::Feature::KIND_NOT_SET: return "nothing";
  }
  return "nothing";
}

int64_t values_in(const proto::Feature& f) {
  switch (f.kind_case()) {
    case proto::Feature::kBytesList: return f.bytes_list().value_size() == 1 ? std::ssize(f.bytes_list().value(0)) : -1;
    case proto::Feature::kFloatList: return f.float_list().value_size();
    case proto::Feature::kInt64List: return f.int64_list().value_size();
    case proto::Feature::KIND_NOT_SET: return -1;
  }
  return -1;
}

expected<void> copy(const component& column, const proto::Feature& from, std::byte* into) {
  const auto refuse = [&](const std::string& what) {
    return fail(errc::invalid_argument, "feature '" + column.name + "' is " + what + ", wanted " + text_of(column));
  };
  if (from.kind_case() != kind_for(column.type) || values_in(from) != column.dims.elements())
    return refuse(found(from));
  const auto bytes = static_cast<size_t>(column.dims.elements() * size_of(column.type));
  if (bytes == 0)
    return {};  // An empty list may have a null address, which memcpy must not get.
  if (column.type == dtype::uint8) {
    std::memcpy(into, from.bytes_list().value(0).data(), bytes);
  } else if (column.type == dtype::float32) {
    std::memcpy(into, from.float_list().value().data(), bytes);
  } else if (column.type == dtype::int64) {
    std::memcpy(into, from.int64_list().value().data(), bytes);
  } else {
    auto* to = reinterpret_cast<int32_t*>(into);
    for (const int64_t x : from.int64_list().value()) {
      if (x < std::numeric_limits<int32_t>::min() || x > std::numeric_limits<int32_t>::max())
        return refuse("a list with " + std::to_string(x));
      *to++ = static_cast<int32_t>(x);
    }
  }
  return {};
}

}  // namespace

struct example_columns::impl {
  std::vector<component> columns;
  proto::Example message = {};  // A member, since clearing a message keeps its memory.
};

example_columns::example_columns(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
example_columns::~example_columns() = default;
example_columns::example_columns(example_columns&&) noexcept = default;
example_columns& example_columns::operator=(example_columns&&) noexcept = default;

expected<example_columns> example_columns::of(std::vector<component> columns) {
  for (const auto& c : columns) {
    if (c.type != dtype::float32 && c.type != dtype::int32 && c.type != dtype::int64 && c.type != dtype::uint8)
      return fail(errc::invalid_argument, "feature '" + c.name + "' cannot be " + text_of(c)
                                              + ": examples hold float32, int32, int64 and uint8");
    if (!byte_size_of(c.type, c.dims.extents()))
      return fail(errc::invalid_argument, "feature '" + c.name + "' cannot be " + text_of(c));
  }
  return example_columns{std::make_unique<impl>(impl{std::move(columns)})};
}

expected<void> example_columns::read(std::string_view payload, std::span<std::byte* const> into) {
  assert(into.size() == impl_->columns.size());
  auto& message = impl_->message;
  if (payload.size() > static_cast<size_t>(std::numeric_limits<int>::max())
      || !message.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return fail(errc::data_loss, "its " + std::to_string(payload.size()) + " bytes are no example");
  const auto& entries = message.features().feature();
  for (size_t i = 0; i < into.size(); ++i) {
    const auto& column = impl_->columns[i];
    // If a name occurs twice, the last entry counts, as in every map of protobuf.
    const auto entry = std::find_if(entries.rbegin(), entries.rend(),
                                    [&](const auto& e) { return e.key() == column.name; });
    if (entry == entries.rend())
      return fail(errc::invalid_argument, "feature '" + column.name + "' is missing, wanted " + text_of(column));
    if (auto ok = copy(column, entry->value(), into[i]); !ok)
      return ok;
  }
  return {};
}

}  // namespace troupe
