// Events that only TensorFlow's and torch's writers make: every tag has a value, and damage is named.
#include "storage/encodings/png.hpp"
#include "storage/events/event_log.hpp"
#include "storage/proto/graph.pb.h"
#include "storage/records/record_framing.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"
#include "tests/support/whole_event_log.hpp"

#include <cmath>

namespace troupe {

namespace {

using kind = summary_value::kind;
using form = event_value::form;

constexpr int tf_string = 7;

whole_event_log read_back(const std::vector<proto::Event>& events) {
  proto::Event version;
  version.set_file_version("brain.Event:2");
  std::string bytes;
  append_record(bytes, version.SerializeAsString());
  for (const auto& e : events)
    append_record(bytes, e.SerializeAsString());
  auto fs = memory_file_system();
  REQUIRE(fs->create_directories("/m"));
  REQUIRE(write_file_atomically(*fs, "/m", "events", bytes));
  return *read_whole_log(*fs, "/m/events");
}

/// An event with one value of the tag "x", which `fill` sets.
template <class Fill>
proto::Event event_of(Fill fill, const std::string& plugin = {}) {
  proto::Event event;
  event.set_step(3);
  auto& value = *event.mutable_summary()->add_value();
  value.set_tag("x");
  if (!plugin.empty())
    value.mutable_metadata()->mutable_plugin_data()->set_plugin_name(plugin);
  fill(value);
  return event;
}

template <class Fill>
proto::Event tensor_event(int dtype, std::vector<int64_t> dims, const std::string& plugin, Fill fill) {
  return event_of(
      [&](proto::Summary::Value& value) {
        auto& tensor = *value.mutable_tensor();
        tensor.set_dtype(dtype);
        for (const int64_t d : dims)
          tensor.mutable_tensor_shape()->add_dim()->set_size(d);
        fill(tensor);
      },
      plugin);
}

proto::Event strings_event(std::vector<std::string> strings, std::vector<int64_t> dims, const std::string& plugin) {
  return tensor_event(tf_string, std::move(dims), plugin, [&](proto::TensorProto& t) {
    for (auto& s : strings)
      t.add_string_val(std::move(s));
  });
}

log_event event_read(const proto::Event& event) {
  const auto log = read_back({event});
  REQUIRE_MESSAGE(!log.damage, (log.damage ? to_text(*log.damage) : ""));
  REQUIRE(log.events.size() == 2);
  CHECK(log.events[1].step == 3);
  return log.events[1];
}
summary_value value_of(const proto::Event& event) {
  const auto read = event_read(event);
  REQUIRE(read.values.size() == 1);
  CHECK(read.others.empty());
  CHECK(read.values[0].tag == "x");
  return read.values[0];
}
event_value other_of(const proto::Event& event) {
  const auto read = event_read(event);
  REQUIRE(read.others.size() == 1);
  CHECK(read.values.empty());
  CHECK(read.others[0].tag == "x");
  return read.others[0];
}

std::string damage_of(const proto::Event& event) {
  const auto log = read_back({event});
  CHECK(log.events.size() == 1);
  REQUIRE(log.damage);
  CHECK(log.damage->category == errc::data_loss);
  return log.damage->message;
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

const auto nothing = [](auto&) {};

}  // namespace

TEST_CASE("a scalar is one in any type of numbers, as bytes or as a list, with or without the plugin for scalars") {
  struct {
    int dtype;
    std::string content;
    std::function<void(proto::TensorProto&)> listed;
    double value;
  } const cases[] = {
      {1, bytes_of<float>({0.25f}), [](auto& t) { t.add_float_val(0.25f); }, 0.25},
      {2, bytes_of<double>({1e300}), [](auto& t) { t.add_double_val(1e300); }, 1e300},
      {3, bytes_of<int32_t>({-7}), [](auto& t) { t.add_int_val(-7); }, -7},
      {4, bytes_of<uint8_t>({200}), [](auto& t) { t.add_int_val(200); }, 200},
      {5, bytes_of<int16_t>({-300}), [](auto& t) { t.add_int_val(-300); }, -300},
      {6, bytes_of<int8_t>({-3}), [](auto& t) { t.add_int_val(-3); }, -3},
      {9, bytes_of<int64_t>({int64_t{1} << 40}), [](auto& t) { t.add_int64_val(int64_t{1} << 40); }, std::ldexp(1, 40)},
      {10, std::string("\1", 1), [](auto& t) { t.add_bool_val(true); }, 1},
      {14, bytes_of<uint16_t>({0x3fc0}), [](auto& t) { t.add_half_val(0x3fc0); }, 1.5},
      {17, bytes_of<uint16_t>({60000}), [](auto& t) { t.add_int_val(60000); }, 60000},
      {19, bytes_of<uint16_t>({0xc500}), [](auto& t) { t.add_half_val(0xc500); }, -5},
      {19, bytes_of<uint16_t>({0x0001}), [](auto& t) { t.add_half_val(0x0001); }, std::ldexp(1, -24)},
      {19, bytes_of<uint16_t>({0x7c00}), [](auto& t) { t.add_half_val(0x7c00); },
       std::numeric_limits<double>::infinity()},
      {22, bytes_of<uint32_t>({4'000'000'000u}), [](auto& t) { t.add_uint32_val(4'000'000'000u); }, 4e9},
  };
  for (const auto& c : cases)
    for (const std::string plugin : {"scalars", ""}) {
      CAPTURE(c.dtype);
      const auto packed = value_of(
          tensor_event(c.dtype, {}, plugin, [&](proto::TensorProto& t) { t.set_tensor_content(c.content); }));
      const auto listed = value_of(tensor_event(c.dtype, {}, plugin, c.listed));
      CHECK(packed.what == kind::scalar);
      CHECK(packed.scalar == c.value);
      CHECK(listed.what == kind::scalar);
      CHECK(listed.scalar == c.value);
    }
  // torch's new form has one axis with one element.
  CHECK(value_of(tensor_event(1, {1}, "scalars", [](auto& t) { t.add_float_val(2); })).scalar == 2);
  CHECK(other_of(tensor_event(1, {1}, "", [](auto& t) { t.add_float_val(2); })).as == form::tensor);
}

TEST_CASE("a tag that names its plugin at its first value alone keeps it") {
  const auto first = tensor_event(1, {1}, "scalars", [](auto& t) { t.add_float_val(2); });
  const auto log = read_back({first, tensor_event(1, {1}, "", [](auto& t) { t.add_float_val(3); })});
  REQUIRE(log.events.size() == 3);
  CHECK(log.events[2].values.at(0).what == kind::scalar);
  CHECK(log.events[2].values.at(0).scalar == 3);
}

TEST_CASE("a histogram of TensorFlow 2 has its buckets, of nothing none, and no sum, which it does not say") {
  const auto rows = bytes_of<double>({-1, 0, 2, 0, 1, 0, 1, 4, 5});
  const auto h = value_of(tensor_event(2, {3, 3}, "histograms", [&](auto& t) { t.set_tensor_content(rows); }));
  CHECK(h.what == kind::histogram);
  CHECK(h.histogram.limits == std::vector<double>{0, 1, 4});
  CHECK(h.histogram.counts == std::vector<double>{2, 0, 5});
  CHECK(h.histogram.least == -1);
  CHECK(h.histogram.greatest == 4);
  CHECK(h.histogram.count == 7);
  CHECK(std::isnan(h.histogram.sum));
  const auto none = value_of(tensor_event(1, {0, 3}, "histograms", nothing));
  CHECK(none.what == kind::histogram);
  CHECK(none.histogram.count == 0);
  CHECK(other_of(tensor_event(1, {2, 2}, "histograms", [](auto& t) { t.add_float_val(1); })).as == form::tensor);
}

TEST_CASE(
    "numbers that no other kind is for are a tensor, in which the last one that is listed stands for those behind it") {
  const auto curve = other_of(tensor_event(1, {2, 3}, "pr_curves", [](auto& t) {
    for (const float x : {1.f, 2.f, 3.f})
      t.add_float_val(x);
  }));
  CHECK(curve.as == form::tensor);
  CHECK(curve.plugin == "pr_curves");
  CHECK(curve.numbers == tensor::of<float>({2, 3}, {1, 2, 3, 3, 3, 3}));
  CHECK(other_of(tensor_event(9, {2}, "", nothing)).numbers == tensor::of<int64_t>({2}, {0, 0}));
  CHECK(other_of(tensor_event(8, {2}, "", nothing)).text == "complex64[2]");
  CHECK(other_of(tensor_event(23, {2}, "", nothing)).text == "uint64[2]");
  CHECK(other_of(tensor_event(1, std::vector<int64_t>(9, 1), "", nothing)).text
        == "a tensor of the shape [1, 1, 1, 1, 1, 1, 1, 1, 1]");
  CHECK(other_of(tensor_event(1, {int64_t{1} << 40, int64_t{1} << 40, 0}, "", nothing)).as == form::opaque);
}

TEST_CASE("images of TensorFlow 2 are as many values of the tag, and one that is no PNG says what it is") {
  const auto image = tensor::of<uint8_t>({1, 2, 1}, {7, 9});
  const auto png = *encode_png(image);
  const auto read = event_read(strings_event({"2", "1", png, "\xff\xd8\xff\xe0", png}, {5}, "images"));
  REQUIRE(read.values.size() == 2);
  CHECK(read.values[0].what == kind::image);
  CHECK(read.values[0].image == image);
  CHECK(read.values[1].image == image);
  REQUIRE(read.others.size() == 1);
  CHECK(read.others[0].text == "a JPEG image of 2 x 1, 4 bytes");
  CHECK(other_of(strings_event({"2", "1"}, {2}, "images")).text == "no image of 2 x 1");
  CHECK(other_of(event_of([](auto& v) {
          v.mutable_image()->set_encoded_image_string("GIF89a");
          v.mutable_image()->set_width(4);
          v.mutable_image()->set_height(3);
        })).text
        == "a GIF image of 4 x 3, 6 bytes");
}

TEST_CASE("text of any shape keeps its strings, with the plugin for texts, another or none") {
  const auto table = other_of(strings_event({"a", "b", "c", "d"}, {2, 2}, "text"));
  CHECK(table.as == form::texts);
  CHECK(table.texts == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(table.dims == shape{2, 2});
  CHECK(value_of(strings_event({"alone"}, {}, "text")).text == "alone");
  CHECK(value_of(strings_event({"ünïcode"}, {1}, "")).text == "ünïcode");
  const auto none = other_of(strings_event({}, {0}, "text"));
  CHECK(none.texts.empty());
  CHECK(none.dims == shape{0});
  CHECK(other_of(strings_event({"alone"}, {1, 1}, "text")).texts.size() == 1);
  CHECK(value_of(strings_event({"{}"}, {}, "graph_keras_model")).text == "{}");
  CHECK(other_of(strings_event({"same"}, {3}, "")).texts == std::vector<std::string>(3, "same"));
  const auto bytes = other_of(strings_event({"\xff\xfe", "abc"}, {2}, "graph_run_metadata"));
  CHECK(bytes.as == form::opaque);
  CHECK(bytes.plugin == "graph_run_metadata");
  CHECK(bytes.text == "string[2] of 5 bytes");
  CHECK(other_of(strings_event({"RIFF", "label"}, {1, 2}, "audio")).text == "sounds[1, 2] of 9 bytes");
  CHECK(other_of(strings_event({"many"}, {1 << 30}, "")).as == form::opaque);
}

TEST_CASE("values of forms that have no kind say what they are, and a tag without a value too") {
  CHECK(other_of(event_of([](auto& v) {
          v.mutable_audio()->set_length_frames(441);
          v.mutable_audio()->set_content_type("audio/wav");
          v.mutable_audio()->set_encoded_audio_string("RIFF");
        })).text
        == "a sound of 441 frames, audio/wav, 4 bytes");
  CHECK(other_of(event_of([](auto& v) { v.set_obsolete_old_style_histogram("abc"); })).text
        == "a histogram of an old form, 3 bytes");
  CHECK(other_of(event_of(nothing)).text == "no value");
  const auto marked = other_of(
      event_of([](auto& v) { v.mutable_metadata()->mutable_plugin_data()->set_content("abc"); }, "mesh"));
  CHECK(marked.text == "no value, 3 bytes of its plugin");
  CHECK(marked.data == "abc");
}

TEST_CASE("graphs, meta graphs, run metadata and messages are attachments of their events") {
  proto::GraphDef graph;
  graph.add_node()->set_name("a");
  graph.add_node()->set_name("b");
  proto::Event events[4];
  events[0].set_graph_def(graph.SerializeAsString());
  events[1].set_meta_graph_def("meta");
  events[2].mutable_tagged_run_metadata()->set_tag("step 7");
  events[2].mutable_tagged_run_metadata()->set_run_metadata("run");
  events[3].mutable_log_message()->set_message("said");
  const auto log = read_back({std::begin(events), std::end(events)});
  REQUIRE_FALSE(log.damage);
  REQUIRE(log.events.size() == 5);
  using what = event_attachment::kind;
  CHECK(log.events[1].attachment->what == what::graph);
  CHECK(log.events[1].attachment->nodes == 2);
  CHECK(log.events[2].attachment->what == what::meta_graph);
  CHECK(log.events[2].attachment->bytes == "meta");
  CHECK(log.events[3].attachment->what == what::run_metadata);
  CHECK(log.events[3].attachment->name == "step 7");
  CHECK(log.events[4].attachment->what == what::message);
  CHECK(log.events[4].attachment->name == "said");
}

TEST_CASE("a tensor, a graph or an image that is none is damage that names it") {
  CHECK(has(damage_of(tensor_event(1, {2}, "", [](auto& t) { t.set_tensor_content("12345"); })),
            "the tensor \"x\" has 5 bytes, and its shape [2] takes 8"));
  CHECK(has(damage_of(tensor_event(1, {1}, "",
                                   [](auto& t) {
                                     t.add_float_val(1);
                                     t.add_float_val(2);
                                   })),
            "the tensor \"x\" has 2 values, and its shape [1] takes 1"));
  CHECK(has(damage_of(tensor_event(1, {-1}, "", nothing)), "the tensor \"x\" has the shape [-1], which cannot be"));
  CHECK(has(damage_of(tensor_event(1, {}, "", [](auto& t) { t.mutable_tensor_shape()->set_unknown_rank(true); })),
            "unknown rank"));
  CHECK(has(damage_of(tensor_event(1, {int64_t{1} << 30}, "", nothing)),
            "leaves out 1073741824 values of its shape [1073741824]"));
  CHECK(has(damage_of(strings_event({"a", "b"}, {1}, "text")),
            "the tensor \"x\" has 2 strings, and its shape [1] takes 1"));
  CHECK(has(damage_of(strings_event({"\xff"}, {1}, "text")), "the text \"x\" is not UTF-8"));
  CHECK(has(damage_of(strings_event({"1", "1", "\x89PNG\r\n\x1a\n"}, {3}, "images")),
            "the image \"x\": a PNG image cannot be read"));
  proto::Event graph;
  graph.set_graph_def("\x0a\x7f");
  CHECK(has(damage_of(graph), "the graph of step 0 is no GraphDef"));
  CHECK(has(damage_of(event_of([](auto& v) { v.mutable_metadata()->mutable_plugin_data()->set_content("\x0a\x7f"); },
                               "hparams")),
            "the hyperparameters \"x\" are not what TensorBoard's plugin keeps"));
}

}  // namespace troupe
