#include "storage/encodings/png.hpp"
#include "storage/events/hyperparameters.hpp"
#include "storage/proto/event.pb.h"
#include "storage/records/record_framing.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/whole_event_log.hpp"

#include <limits>

namespace troupe::fuzz {

namespace {

// The first byte of an input selects whether the rest is a whole file or the payload of one record. To a payload `run`
// adds the checksums, since no mutation would ever hit them.
constexpr char whole_file = 'f', one_payload = 'p';

std::string version_file() {
  auto files = memory_file_system();
  auto log = need(event_log_writer::create(files, "/m", {.host = "h", .wall_time = 1}));
  return need(read_file(*files, log->path()));
}

/// Values as other writers make them: texts with a shape, images and a histogram as tensors, numbers as a list, a
/// sound.
std::vector<std::string> payloads_of_others() {
  const auto payload = [](const char* plugin, auto fill) {
    proto::Event event;
    auto& value = *event.mutable_summary()->add_value();
    value.set_tag("x");
    value.mutable_metadata()->mutable_plugin_data()->set_plugin_name(plugin);
    fill(value);
    return one_payload + event.SerializeAsString();
  };
  const auto as_tensor = [&payload](const char* plugin, int dtype, std::initializer_list<int64_t> dims, auto fill) {
    return payload(plugin, [&](proto::Summary::Value& value) {
      value.mutable_tensor()->set_dtype(dtype);
      for (const int64_t d : dims)
        value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(d);
      fill(*value.mutable_tensor());
    });
  };
  const auto png = need(encode_png(tensor::zeros(dtype::uint8, {1, 2, 1})));
  return {as_tensor("text", 7, {2, 1}, [](auto& t) { t.add_string_val("a"), t.add_string_val("b"); }),
          as_tensor("images", 7, {3},
                    [&png](auto& t) { t.add_string_val("2"), t.add_string_val("1"), t.add_string_val(png); }),
          as_tensor("histograms", 2, {1, 3}, [](auto& t) { t.set_tensor_content(std::string(24, '\1')); }),
          as_tensor("pr_curves", 1, {2, 2}, [](auto& t) { t.add_float_val(0.5f); }),
          as_tensor("scalars", 19, {}, [](auto& t) { t.add_half_val(0x3c00); }),
          payload("", [](auto& v) { v.mutable_audio()->set_content_type("audio/wav"); })};
}

}  // namespace

std::vector<std::string> seeds() {
  const log_event events[] = {
      {.wall_time = 1, .step = 1, .values = {{.tag = "loss", .scalar = 0.5}}},
      {.step = 2,
       .values = {{.what = summary_value::kind::histogram,
                   .tag = "kernel",
                   .histogram = {.least = 0,
                                 .greatest = 1,
                                 .count = 3,
                                 .limits = {0, 1, std::numeric_limits<double>::max()},
                                 .counts = {1, 2, 0}}}}},
      {.step = 3,
       .values = {{.what = summary_value::kind::image,
                   .tag = "digit",
                   .image = tensor::zeros(dtype::uint8, {4, 4, 1})}}},
      {.step = 4, .values = {{.what = summary_value::kind::text, .tag = "notes", .text = "ünïcode"}}},
      {.step = 5, .note = session_note{session_note::kind::checkpoint, "/m/model.ckpt-5", "saved"}},
      {.step = 6,
       .attachment = event_attachment{.bytes = "\x0a\x03\x0a\x01"
                                               "a"}},
      {.step = 7,
       .others = {experiment_summary({{"rate", 0.5}}, {{"", "loss"}}, 1),
                  session_start_summary({{"rate", 0.5}, {"rule", std::string{"adam"}}}, "m", 1),
                  session_end_summary(true, 2)}}};
  auto files = memory_file_system();
  auto log = need(event_log_writer::create(files, "/m", {.host = "h", .wall_time = 1}));
  auto all = payloads_of_others();
  size_t before = need(read_file(*files, log->path())).size();
  for (const auto& event : events) {
    require(log->add(event) && log->flush(), "the event is written");
    const std::string bytes = need(read_file(*files, log->path()));
    const size_t payload = before + record_header_bytes;
    all.push_back(one_payload + bytes.substr(payload, bytes.size() - payload - record_footer_bytes));
    before = bytes.size();
  }
  all.push_back(whole_file + need(read_file(*files, log->path())));
  return all;
}

void run(std::string_view input) {
  static const std::string version = version_file();
  if (input.empty())
    return;
  std::string bytes{input.substr(1)};
  if (input[0] == one_payload) {
    bytes = version;
    append_record(bytes, input.substr(1));
  }
  const auto log = need(read_whole_log(*holding(bytes), "f"));
  require(log.bytes_read <= std::ssize(bytes), "no more is read than is there");
  require(log.damage || log.truncated || log.bytes_read == std::ssize(bytes), "what is sound is read to its end");
  if (input[0] == one_payload)
    require(!log.truncated && log.events.size() == (log.damage ? 1 : 2),
            "a record that is whole is an event or damage");
}

}  // namespace troupe::fuzz
