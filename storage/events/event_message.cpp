#include "storage/events/event_message.hpp"

#include "storage/encodings/png.hpp"
#include "storage/encodings/utf8.hpp"
#include "storage/events/hyperparameters.hpp"
#include "storage/events/tensor_message.hpp"
#include "storage/proto/graph.pb.h"

namespace troupe {

namespace {

constexpr int string_dtype = 7;  // TensorFlow's DT_STRING.
constexpr int tensor_class = 2;  // TensorBoard's DATA_CLASS_TENSOR.
constexpr std::string_view text_plugin = "text";

std::string quoted_tag(std::string_view text) { return "\"" + std::string{text} + "\""; }

// -- writing -------------------------------------------------------------------

/// Merges consecutive empty buckets into one, as TensorFlow does: most of a thousand buckets are empty.
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
  const std::string what = std::string{to_string(value.what)} + " " + quoted_tag(value.tag);
  if (value.tag.empty() || !is_utf8(value.tag))
    return fail(errc::invalid_argument,
                "the tag of the " + what + " is " + (value.tag.empty() ? "empty" : "not UTF-8"));
  into.set_tag(value.tag);
  switch (value.what) {
    case summary_value::kind::scalar: into.set_simple_value(static_cast<float>(value.scalar)); return {};
    case summary_value::kind::histogram:
      if (value.histogram.limits.size() != value.histogram.counts.size())
        return fail(errc::invalid_argument, "the " + what + " has " + std::to_string(value.histogram.limits.size())
                                                + " limits and " + std::to_string(value.histogram.counts.size())
                                                + " counts");
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
  return fail(errc::invalid_argument, "the value " + quoted_tag(value.tag) + " is of no kind");
}

expected<void> write(const event_value& value, proto::Summary::Value& into) {
  const std::string what = "the value " + quoted_tag(value.tag);
  if (value.tag.empty() || !is_utf8(value.tag))
    return fail(errc::invalid_argument, "the tag of " + what + " is " + (value.tag.empty() ? "empty" : "not UTF-8"));
  if (value.plugin.empty() || value.as == event_value::form::texts)
    return fail(errc::invalid_argument, what
                                            + (value.plugin.empty() ? " names no plugin that could show it"
                                                                    : " is several texts, and no such are written"));
  into.set_tag(value.tag);
  auto& metadata = *into.mutable_metadata();
  metadata.mutable_plugin_data()->set_plugin_name(value.plugin);
  metadata.mutable_plugin_data()->set_content(value.data);
  metadata.set_data_class(tensor_class);
  // Readers expect a tensor even if the plugin's bytes contain everything.
  write_tensor(value.as == event_value::form::tensor ? value.numbers : tensor::zeros(dtype::float32, {1}),
               *into.mutable_tensor());
  return {};
}

// -- reading -------------------------------------------------------------------

expected<histogram> read(const proto::HistogramProto& from) {
  if (from.bucket_limit_size() != from.bucket_size())
    return fail(errc::data_loss, "has " + std::to_string(from.bucket_limit_size()) + " limits and "
                                     + std::to_string(from.bucket_size()) + " counts");
  return histogram{.least = from.min(),
                   .greatest = from.max(),
                   .count = from.num(),
                   .sum = from.sum(),
                   .sum_of_squares = from.sum_squares(),
                   .limits = {from.bucket_limit().begin(), from.bucket_limit().end()},
                   .counts = {from.bucket().begin(), from.bucket().end()}};
}

/// Reads a value that has only metadata: the plugin's bytes are its only content.
expected<void> read_metadata(const std::string& tag, const std::string& plugin, const proto::SummaryMetadata& from,
                             read_values& into) {
  auto& value = into.others.emplace_back(opaque(tag, plugin, "no value"));
  value.data = from.plugin_data().content();
  if (plugin != hyperparameters_plugin) {
    value.text += plugin.empty() ? "" : ", " + std::to_string(value.data.size()) + " bytes of its plugin";
    return {};
  }
  auto said = hyperparameters_text(value.data);
  if (!said)
    return fail(errc::data_loss, "the hyperparameters " + quoted_tag(tag) + " " + said.error().message);
  value.text = std::move(*said);
  return {};
}

std::string sound_text(const proto::Summary::Audio& sound) {
  return "a sound of " + std::to_string(sound.length_frames()) + " frames, " + as_utf8(sound.content_type()) + ", "
         + std::to_string(sound.encoded_audio_string().size()) + " bytes";
}

std::string size_text(const proto::Summary::Image& image) {
  return std::to_string(image.width()) + " x " + std::to_string(image.height());
}

expected<void> read(const proto::Summary::Value& from, const std::string& plugin, read_values& into) {
  const std::string& tag = from.tag();
  switch (from.value_case()) {
    case proto::Summary::Value::kSimpleValue:
      into.summaries.push_back({.tag = tag, .scalar = static_cast<double>(from.simple_value())});
      return {};
    case proto::Summary::Value::kHisto: {
      auto counted = read(from.histo());
      if (!counted)
        return fail(errc::data_loss, "the histogram " + quoted_tag(tag) + " " + counted.error().message);
      into.summaries.push_back({.what = summary_value::kind::histogram, .tag = tag, .histogram = std::move(*counted)});
      return {};
    }
    case proto::Summary::Value::kImage:
      return read_image(tag, plugin, from.image().encoded_image_string(), size_text(from.image()), into);
    case proto::Summary::Value::kAudio: into.others.push_back(opaque(tag, plugin, sound_text(from.audio()))); return {};
    case proto::Summary::Value::kObsoleteOldStyleHistogram:
      into.others.push_back(opaque(
          tag, plugin,
          "a histogram of an old form, " + std::to_string(from.obsolete_old_style_histogram().size()) + " bytes"));
      return {};
    case proto::Summary::Value::kTensor:
      return plugin == hyperparameters_plugin ? read_metadata(tag, plugin, from.metadata(), into)
                                              : read_tensor(tag, plugin, from.tensor(), into);
    case proto::Summary::Value::VALUE_NOT_SET: return read_metadata(tag, plugin, from.metadata(), into);
  }
  return {};
}

/// The number of nodes in a GraphDef.
expected<int64_t> nodes_in(const std::string& bytes, int64_t step) {
  proto::GraphDef graph;
  if (!graph.ParseFromString(bytes))
    return fail(errc::data_loss, "the graph of step " + std::to_string(step) + " is no GraphDef");
  return graph.node_size();
}

/// Reads the content of an event that is neither values nor a note.
expected<std::optional<event_attachment>> read_attachment(const proto::Event& from) {
  using kind = event_attachment::kind;
  switch (from.what_case()) {
    case proto::Event::kGraphDef: {
      const auto nodes = nodes_in(from.graph_def(), from.step());
      return nodes ? expected<std::optional<event_attachment>>{event_attachment{
                 kind::graph, {}, from.graph_def(), *nodes}}
                   : fail(nodes.error());
    }
    case proto::Event::kMetaGraphDef: return event_attachment{kind::meta_graph, {}, from.meta_graph_def()};
    case proto::Event::kTaggedRunMetadata:
      return event_attachment{kind::run_metadata, as_utf8(from.tagged_run_metadata().tag()),
                              from.tagged_run_metadata().run_metadata()};
    case proto::Event::kLogMessage: return event_attachment{kind::message, as_utf8(from.log_message().message()), {}};
    default: return std::nullopt;
  }
}

}  // namespace

expected<void> to_message(const log_event& event, proto::Event& into) {
  into.Clear();
  into.set_wall_time(event.wall_time);
  into.set_step(event.step);
  if (!event.file_version.empty() + !(event.values.empty() && event.others.empty()) + event.note.has_value()
          + event.attachment.has_value()
      > 1)
    return fail(errc::invalid_argument, "the event of step " + std::to_string(event.step)
                                            + " has more than one of a file version, values, a note and an attachment");
  if (event.attachment && event.attachment->what != event_attachment::kind::graph)
    return fail(errc::invalid_argument,
                "the attachment of step " + std::to_string(event.step) + " is no graph, and no other is written");
  if (!event.file_version.empty()) {
    into.set_file_version(event.file_version);
  } else if (event.note) {
    auto& note = *into.mutable_session_log();
    note.set_status(static_cast<int32_t>(event.note->what));
    // Paths may not be UTF-8, but strings in protobuf must be.
    note.set_checkpoint_path(as_utf8(event.note->checkpoint_path));
    note.set_msg(as_utf8(event.note->message));
  } else if (event.attachment) {
    into.set_graph_def(event.attachment->bytes);
  }
  for (const auto& value : event.values)
    if (auto ok = write(value, *into.mutable_summary()->add_value()); !ok)
      return ok;
  for (const auto& value : event.others)
    if (auto ok = write(value, *into.mutable_summary()->add_value()); !ok)
      return ok;
  return {};
}

expected<log_event> from_message(const proto::Event& message, plugins_of_tags& plugins) {
  log_event event{.wall_time = message.wall_time(), .step = message.step(), .file_version = message.file_version()};
  read_values values;
  for (const auto& from : message.summary().value()) {
    if (!is_utf8(from.tag()))
      return fail(errc::data_loss, "a tag is not UTF-8");
    // Writers may name a tag's plugin only with its first value.
    auto& plugin = plugins[from.tag()];
    if (const auto& named = from.metadata().plugin_data().plugin_name(); !named.empty())
      plugin = as_utf8(named);
    if (auto ok = read(from, plugin, values); !ok)
      return fail(std::move(ok.error()));
  }
  event.values = std::move(values.summaries);
  event.others = std::move(values.others);
  if (message.has_session_log()) {
    const auto& note = message.session_log();
    if (note.status() >= static_cast<int32_t>(session_note::kind::start)
        && note.status() <= static_cast<int32_t>(session_note::kind::checkpoint))
      event.note = {static_cast<session_note::kind>(note.status()), note.checkpoint_path(), note.msg()};
  }
  auto attached = read_attachment(message);
  if (!attached)
    return fail(std::move(attached.error()));
  event.attachment = std::move(*attached);
  return event;
}

}  // namespace troupe
