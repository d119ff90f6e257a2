#include "storage/events/event_log.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "storage/records/record_framing.hpp"
#include "tests/storage/events/scalar_log.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"
#include "tests/support/whole_event_log.hpp"

#include <limits>

namespace troupe {

using namespace test;

namespace {

whole_event_log read_back(std::string_view bytes) {
  auto fs = memory_file_system();
  REQUIRE(fs->create_directories("/m"));
  REQUIRE(write_file_atomically(*fs, "/m", "events", bytes));
  auto log = read_whole_log(*fs, "/m/events");
  REQUIRE_MESSAGE(log, (log ? "" : to_text(log.error())));
  return std::move(*log);
}

whole_event_log write_and_read(const log_event& event) {
  auto fs = memory_file_system();
  auto log = open_log(fs);
  const auto added = log->add(event);
  REQUIRE_MESSAGE(added, (added ? "" : to_text(added.error())));
  REQUIRE(log->close());
  return *read_whole_log(*fs, log->path());
}

void refused(const log_event& event, std::string_view names) {
  auto log = open_log(memory_file_system());
  const auto added = log->add(event);
  REQUIRE_FALSE(added);
  CHECK(added.error().category == errc::invalid_argument);
  CHECK(has(added.error().message, names));
  CHECK(log->unflushed_bytes() == 0);
}

}  // namespace

TEST_CASE("[EST-60] a thousand events are read back as they were added") {
  const auto log = read_back(file_of(1000));
  CHECK_FALSE(log.damage);
  CHECK_FALSE(log.truncated);
  REQUIRE(log.events.size() == 1001);
  for (size_t i = 1; i < log.events.size(); ++i) {
    const auto& e = log.events[i];
    REQUIRE(e.step == static_cast<int64_t>(i));
    CHECK(e.wall_time == logged_at + static_cast<double>(i));
    REQUIRE(e.values.size() == 1);
    CHECK(e.values[0].what == summary_value::kind::scalar);
    CHECK(e.values[0].tag == "loss");
    CHECK(e.values[0].scalar == 0.5 * static_cast<double>(i));
  }
}

TEST_CASE("[EST-60] a flipped bit anywhere is data_loss at its record, and what is before it is read") {
  const std::string whole = file_of(3);
  const auto sound = read_back(whole);
  REQUIRE(sound.events.size() == 4);
  for (size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    auto bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    const auto log = read_back(bytes);
    REQUIRE(log.damage);
    CHECK_FALSE(log.truncated);
    CHECK(log.damage->category == errc::data_loss);
    CHECK(has(log.damage->message, "/m/events: the record at offset " + std::to_string(log.bytes_read)));
    CHECK(log.bytes_read <= static_cast<int64_t>(at));
    CHECK(log.events.size() < 4);
  }
}

TEST_CASE("[EST-60] of a file cut off anywhere, all whole events are read, and a torn one is no damage") {
  const std::string whole = file_of(3);
  const int64_t record = (std::ssize(whole) - version_record_bytes) / 3;
  for (int64_t length = 0; length <= std::ssize(whole); ++length) {
    CAPTURE(length);
    const auto log = read_back(std::string_view{whole}.substr(0, static_cast<size_t>(length)));
    const int64_t events = length < version_record_bytes ? 0 : 1 + (length - version_record_bytes) / record;
    const int64_t read = events == 0 ? 0 : version_record_bytes + (events - 1) * record;
    CHECK(std::ssize(log.events) == events);
    CHECK(log.bytes_read == read);
    CHECK(log.truncated == (length != read));
    CHECK_FALSE(log.damage);
  }
}

TEST_CASE("[EST-61] the first record says brain.Event:2 and is in the file as soon as the file is") {
  auto fs = memory_file_system();
  auto log = open_log(fs);
  CHECK(log->unflushed_bytes() == 0);
  const std::string bytes = *read_file(*fs, log->path());
  // 0x09: field 1, a double. 0x1a: field 3, a string of 13 bytes. The step is 0, so it is omitted. docs/event_format.md
  // shows these bytes.
  CHECK(bytes.substr(12, 24)
        == std::string("\x09\0\0\x10\x40\xfc\x54\xd9\x41\x1a\x0d"
                       "brain.Event:2",
                       24));
  CHECK(std::ssize(bytes) == version_record_bytes);
  const auto read = *read_whole_log(*fs, log->path());
  REQUIRE(read.events.size() == 1);
  CHECK(read.events[0].file_version == "brain.Event:2");
  CHECK(read.events[0].wall_time == logged_at);
}

TEST_CASE("[EST-61] START, STOP and CHECKPOINT notes keep their path and message") {
  for (const auto& note :
       {session_note{session_note::kind::start, "", ""}, session_note{session_note::kind::stop, "", "asked to"},
        session_note{session_note::kind::checkpoint, "/m/model.ckpt-100", ""}}) {
    const auto log = write_and_read({.wall_time = logged_at, .step = 100, .note = note});
    REQUIRE(log.events.size() == 2);
    const auto& event = log.events[1];
    REQUIRE(event.note);
    CHECK(event.step == 100);
    CHECK(event.note->what == note.what);
    CHECK(event.note->checkpoint_path == note.checkpoint_path);
    CHECK(event.note->message == note.message);
  }
}

TEST_CASE("images of one, three and four channels come back bit for bit") {
  for (const int64_t channels : {1, 3, 4}) {
    std::vector<uint8_t> pixels(static_cast<size_t>(5 * 7 * channels));
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<uint8_t>(i * 37 + i / 7);
    const auto image = tensor::of<uint8_t>({5, 7, channels}, std::span<const uint8_t>{pixels});
    const auto log = write_and_read(
        {.step = 1, .values = {{.what = summary_value::kind::image, .tag = "digit", .image = image}}});
    REQUIRE(log.events.size() == 2);
    REQUIRE(log.events[1].values.size() == 1);
    CHECK(log.events[1].values[0].what == summary_value::kind::image);
    CHECK(log.events[1].values[0].image == image);
  }
}

TEST_CASE("text comes back as it was, whatever language it is in") {
  const std::string text = "# Größe\n\nπ ≈ 3,14 · 𝄞";
  const auto log = write_and_read(
      {.step = 1, .values = {{.what = summary_value::kind::text, .tag = "notes", .text = text}}});
  REQUIRE(log.events.size() == 2);
  REQUIRE(log.events[1].values.size() == 1);
  CHECK(log.events[1].values[0].what == summary_value::kind::text);
  CHECK(log.events[1].values[0].text == text);
}

TEST_CASE("a histogram keeps its statistics and its counts; runs of empty buckets become one") {
  const double greatest = std::numeric_limits<double>::max();
  const histogram h{.least = -1,
                    .greatest = 4,
                    .count = 6,
                    .sum = 7,
                    .sum_of_squares = 21,
                    .limits = {-2, -1, 0, 1, 2, 3, 4, 5, greatest},
                    .counts = {0, 2, 0, 0, 0, 3, 1, 0, 0},
                    .not_finite = 5};
  const auto log = write_and_read(
      {.step = 1, .values = {{.what = summary_value::kind::histogram, .tag = "kernel", .histogram = h}}});
  REQUIRE(log.events.size() == 2);
  const auto& read = log.events[1].values.at(0).histogram;
  CHECK(read
        == histogram{.least = -1,
                     .greatest = 4,
                     .count = 6,
                     .sum = 7,
                     .sum_of_squares = 21,
                     .limits = {-2, -1, 2, 3, 4, greatest},
                     .counts = {0, 2, 0, 3, 1, 0}});
}

TEST_CASE("scalars are kept as float32, those that are not finite too") {
  const double third = 1.0 / 3;
  const auto log = write_and_read({.values = {{.tag = "a", .scalar = third},
                                              {.tag = "b", .scalar = std::numeric_limits<double>::infinity()},
                                              {.tag = "c", .scalar = std::numeric_limits<double>::quiet_NaN()}}});
  const auto& values = log.events.at(1).values;
  REQUIRE(values.size() == 3);
  CHECK(values[0].scalar == static_cast<double>(static_cast<float>(third)));
  CHECK(values[1].scalar == std::numeric_limits<double>::infinity());
  CHECK(values[2].scalar != values[2].scalar);
}

TEST_CASE("an event that the format cannot hold is refused by name and leaves nothing behind") {
  refused({.step = 7, .values = {{.tag = "good"}, {.tag = "bad\xff"}}}, "not UTF-8");
  refused({.values = {{.tag = ""}}}, "tag of the scalar \"\" is empty");
  refused({.values = {{.what = summary_value::kind::text, .tag = "t", .text = "\xc3"}}}, "the text \"t\" is not UTF-8");
  refused(
      {.values = {{.what = summary_value::kind::image, .tag = "i", .image = tensor::zeros(dtype::uint8, {2, 2, 2})}}},
      "the image \"i\": an image of uint8[2, 2, 2]");
  refused(
      {.values = {{.what = summary_value::kind::image, .tag = "i", .image = tensor::zeros(dtype::float32, {2, 2, 1})}}},
      "float32");
  refused(
      {.values = {{.what = summary_value::kind::image, .tag = "i", .image = tensor::zeros(dtype::uint8, {0, 2, 1})}}},
      "too small");
  refused({.values = {{.what = summary_value::kind::histogram,
                       .tag = "h",
                       .histogram = {.limits = {1, 2}, .counts = {1}}}}},
          "2 limits and 1 counts");
  refused({.file_version = "brain.Event:2"}, "file version");
  refused({.step = 7, .values = {{.tag = "a"}}, .note = session_note{}}, "step 7 has more than one");
  refused({.step = 7, .note = session_note{}, .attachment = event_attachment{}}, "step 7 has more than one");
  refused({.step = 7, .attachment = event_attachment{.what = event_attachment::kind::meta_graph}},
          "step 7 is no graph");
  refused({.others = {{.tag = "t"}}}, "the value \"t\" names no plugin");
  refused({.others = {{.as = event_value::form::texts, .tag = "t", .plugin = "text"}}},
          "the value \"t\" is several texts");
  refused({.others = {{.plugin = "x"}}}, "the tag of the value \"\" is empty");
}

TEST_CASE("a file of other records is no event file") {
  std::string bytes;
  append_record(bytes,
                "\x0a\x03"
                "abc");  // Field 1 of an example is no double.
  const auto log = read_back(bytes);
  REQUIRE(log.damage);
  CHECK(has(log.damage->message,
            "the record at offset 0 is damaged: the first event of a file has to say brain.Event:2"));
  CHECK(log.events.empty());
}

TEST_CASE("records that are sound and hold no event, or values that are none, are damage at their offset") {
  const std::string version = file_of(0);
  const auto damage_of = [&](std::string_view payload) {
    std::string bytes = version;
    append_record(bytes, payload);
    const auto log = read_back(bytes);
    CHECK(log.events.size() == 1);
    CHECK(log.bytes_read == version_record_bytes);
    REQUIRE(log.damage);
    CHECK(log.damage->category == errc::data_loss);
    return log.damage->message;
  };
  CHECK(has(damage_of("\x2a\x7f"), "its 2 bytes are no event"));
  CHECK(has(damage_of("\x2a\x05\x0a\x03\x0a\x01\xff"), "a tag is not UTF-8"));
  CHECK(has(damage_of(std::string("\x2a\x11\x0a\x0f\x0a\x01h\x2a\x0a\x32\x08\0\0\0\0\0\0\xf0\x3f", 19)),
            "1 limits and 0 counts"));
  CHECK(has(damage_of("\x2a\x11\x0a\x0f\x0a\x01i\x22\x0a\x22\x08\x89PNG\r\n\x1a\n"),
            "the image \"i\": a PNG image cannot be read"));
}

TEST_CASE("what is no value of ours is named: a graph as an attachment, an image that is no PNG as another value") {
  std::string bytes = file_of(0);
  append_record(bytes, std::string_view("\x10\x05\x22\x02xx"));           // A graph at step 5.
  append_record(bytes, "\x2a\x0d\x0a\x0b\x0a\x01i\x22\x06\x22\x04JFIF");  // An image that is no PNG.
  const auto log = read_back(bytes);
  CHECK_FALSE(log.damage);
  REQUIRE(log.events.size() == 3);
  CHECK(log.events[1].step == 5);
  CHECK(log.events[1].values.empty());
  REQUIRE(log.events[1].attachment);
  CHECK(log.events[1].attachment->what == event_attachment::kind::graph);
  CHECK(log.events[1].attachment->bytes == "xx");
  CHECK(log.events[2].values.empty());
  REQUIRE(log.events[2].others.size() == 1);
  CHECK(log.events[2].others[0].as == event_value::form::opaque);
  CHECK(log.events[2].others[0].text == "an unknown image of 0 x 0, 4 bytes");
}

TEST_CASE("reading an event file that is not there is not_found") {
  CHECK(read_whole_log(*memory_file_system(), "/m/none").error().category == errc::not_found);
}

}  // namespace troupe
