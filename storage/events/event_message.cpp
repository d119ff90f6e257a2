#include "storage/events/event_message.hpp"

#include "storage/encodings/png.hpp"
#include "storage/encodings/utf8.hpp"

namespace troupe {

namespace {

constexpr int string_dtype = 7;  // TensorFlow's DT_STRING.
constexpr std::string_view text_plugin = "text";

std::string quoted(std::string_view text) {
  return "\"" + std::string{text} + "\"";
}

// -- writing -------------------------------------------------------------------

/// Merges runs of empty buckets into one, as TensorFlow does: of a thousand buckets most are empty.
void write(const histogram& h, proto::HistogramProto& into) {
  into.set_min(h.least);
  into.set_max(h.greatest);
  into.set_num(h.count);
  into.set_sum(h.sum);
  into.set_sum_squares(h.sum_of_squares);
  for (size_t i = 0; i < h.limits.size(); ++i) {
    const double count = h.counts[i];
    if (count == 0)
      while (i + 1 < h.limits.size() && h.counts[i + 1] == 0)
        ++i;
    into.add_bucket_limit(h.limits[i]);
    into.add_bucket(count);
  }
}

expected<void> write(const summary_value& value, proto::Summary::Value& into) {
  const std::string what = std::string{to_string(value.what)} + " " + quoted(value.tag);
  if (value.tag.empty() || !is_utf8(value.tag))
    return fail(errc::invalid_argument, "the tag of the " + what + " is " + (value.tag.empty() ? "empty" : "not UTF-8"));
  into.set_tag(value.tag);
  switch (value.what) {
    case summary_value::kind::scalar:
      into.set_simple_value(static_cast<float>(value.scalar));
      return {};
    case summary_value::kind::histogram:
      if (value.histogram.limits.size() != value.histogram.counts.size())
        return fail(errc::invalid_argument, "the " + what + " has " + std::to_string(value.histogram.limits.size()) + " limits and "
                                              + std::to_string(value.histogram.counts.size()) + " counts");
      write(value.histogram, *into.mutable_histo());
      return {};
    case summary_value::kind::image: {
      auto png = encode_png(value.image);
      if (!png)
        return fail(png.error().category, "the " + what + ": " + png.error().message);
      auto& image = *into.mutable_image();
      image.set_height(static_cast<int32_t>(value.image.dims()[0]));
      image.set_width(static_cast<int32_t>(value.image.dims()[1]));
      image.set_colorspace(static_cast<int32_t>(value.image.dims()[2]));
      image.set_encoded_image_string(std::move(*png));
      return {};
    }
    case summary_value::kind::text:
      if (!is_utf8(value.text))
        return fail(errc::invalid_argument, "the " + what + " is not UTF-8");
      into.mutable_metadata()->mutable_plugin_data()->set_plugin_name(std::string{text_plugin});
      auto& text = *into.mutable_tensor();
      text.set_dtype(string_dtype);
      text.mutable_tensor_shape()->add_dim()->set_size(1);
      text.add_string_val(value.text);
      return {};
  }
  return fail(errc::invalid_argument, "the value " + quoted(value.tag) + " is of no kind");
}

// -- reading -------------------------------------------------------------------

expected<histogram> read(const proto::HistogramProto& from) {
  if (from.bucket_limit_size() != from.bucket_size())
    return fail(errc::data_loss, "has " + std::to_string(from.bucket_limit_size()) + " limits and " + std::to_string(from.bucket_size()) + " counts");
  return histogram{.least = from.min(), .greatest = from.max(), .count = from.num(), .sum = from.sum(), .sum_of_squares = from.sum_squares(),
                   .limits = {from.bucket_limit().begin(), from.bucket_limit().end()}, .counts = {from.bucket().begin(), from.bucket().end()}};
}

/// Absent when it is of an unknown kind.
expected<std::optional<summary_value>> read(const proto::Summary::Value& from) {
  if (!is_utf8(from.tag()))
    return fail(errc::data_loss, "a tag is not UTF-8");
  summary_value value{.tag = from.tag()};
  switch (from.value_case()) {
    case proto::Summary::Value::kSimpleValue:
      value.what = summary_value::kind::scalar;
      value.scalar = static_cast<double>(from.simple_value());
      return value;
    case proto::Summary::Value::kHisto: {
      auto counted = read(from.histo());
      if (!counted)
        return fail(errc::data_loss, "the histogram " + quoted(from.tag()) + " " + counted.error().message);
      value.what = summary_value::kind::histogram;
      value.histogram = std::move(*counted);
      return value;
    }
    case proto::Summary::Value::kImage: {
      if (!is_png(from.image().encoded_image_string()))
        return std::nullopt;
      auto decoded = decode_png(from.image().encoded_image_string());
      if (!decoded)
        return fail(decoded.error().category, "the image " + quoted(from.tag()) + ": " + decoded.error().message);
      value.what = summary_value::kind::image;
      value.image = std::move(*decoded);
      return value;
    }
    case proto::Summary::Value::kTensor:
      if (from.metadata().plugin_data().plugin_name() != text_plugin || from.tensor().dtype() != string_dtype
          || from.tensor().string_val_size() != 1)
        return std::nullopt;
      if (!is_utf8(from.tensor().string_val(0)))
        return fail(errc::data_loss, "the text " + quoted(from.tag()) + " is not UTF-8");
      value.what = summary_value::kind::text;
      value.text = from.tensor().string_val(0);
      return value;
    case proto::Summary::Value::VALUE_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

expected<void> to_message(const log_event& event, proto::Event& into) {
  into.Clear();
  into.set_wall_time(event.wall_time);
  into.set_step(event.step);
  if (!event.file_version.empty() + !event.values.empty() + event.note.has_value() > 1)
    return fail(errc::invalid_argument, "the event of step " + std::to_string(event.step)
                                          + " has more than one of a file version, values and a note");
  if (!event.file_version.empty()) {
    into.set_file_version(event.file_version);
  } else if (event.note) {
    auto& note = *into.mutable_session_log();
    note.set_status(static_cast<int32_t>(event.note->what));
    note.set_checkpoint_path(as_utf8(event.note->checkpoint_path));  // Paths may not be UTF-8, protobuf's strings are.
    note.set_msg(as_utf8(event.note->message));
  }
  for (const auto& value : event.values)
    if (auto ok = write(value, *into.mutable_summary()->add_value()); !ok)
      return ok;
  return {};
}

expected<log_event> from_message(const proto::Event& message) {
  log_event event{.wall_time = message.wall_time(), .step = message.step(), .file_version = message.file_version()};
  for (const auto& from : message.summary().value()) {
    auto value = read(from);
    if (!value)
      return fail(std::move(value.error()));
    if (*value)
      event.values.push_back(std::move(**value));
  }
  if (message.has_session_log()) {
    const auto& note = message.session_log();
    if (note.status() >= static_cast<int32_t>(session_note::kind::start) && note.status() <= static_cast<int32_t>(session_note::kind::checkpoint))
      event.note = {static_cast<session_note::kind>(note.status()), note.checkpoint_path(), note.msg()};
  }
  return event;
}

}  // namespace troupe
