// Event files of other writers, in tests/golden/events: TensorFlow 1 and 2, torch (through tensorboardX, which has the
// same code) and TensorBoard's plugins. scripts/interop/event_writers.py makes them.
#include "storage/examination/examination.hpp"

#include <doctest/doctest.h>

namespace troupe {

namespace {

event_file_description shown(const std::string& name) {
  auto description = examine_event_file(*posix_file_system(),
                                        std::string{TROUPE_GOLDEN_DIR} + "/events/" + name + ".tfevents");
  REQUIRE_MESSAGE(description, (description ? "" : to_text(description.error())));
  CHECK(description->damages.empty());
  CHECK_FALSE(description->truncated);
  return std::move(*description);
}

/// "tag: kind count" for each tag, in the order of the tags.
std::vector<std::string> lines_of(const event_file_description& description) {
  std::vector<std::string> lines;
  for (const auto& t : description.tags)
    lines.push_back(t.tag + ": " + std::string{t.other ? to_string(t.other->as) : to_string(t.last->what)} + " "
                    + std::to_string(t.count));
  return lines;
}

const tag_description& tag_of(const event_file_description& description, const std::string& tag) {
  for (const auto& t : description.tags)
    if (t.tag == tag)
      return t;
  FAIL("no tag " << tag);
  return description.tags[0];
}

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "every tag of TensorFlow 2's writer is there, and tensors are the scalars, histograms, images and texts that they "
    "mean") {
  const auto description = shown("tensorflow2");
  CHECK(lines_of(description)
        == lines{"half: scalar 2", "histogram: histogram 2", "images: image 4", "scalar: scalar 2", "strings: texts 2",
                 "table: texts 2", "text: text 2"});
  CHECK(tag_of(description, "scalar").last->scalar == 0.5);
  CHECK(tag_of(description, "half").last->scalar == 1.5);
  CHECK(tag_of(description, "histogram").last->histogram.count == 10);
  CHECK(tag_of(description, "histogram").last->histogram.greatest == 18);
  CHECK(tag_of(description, "images").last->image.dims() == shape{3, 4, 1});
  CHECK(tag_of(description, "text").last->text == "said");
  CHECK(tag_of(description, "table").other->dims == shape{2, 2});
  CHECK(tag_of(description, "table").other->plugin == "text");
  CHECK(tag_of(description, "strings").other->texts == lines{"a", "b"});
}

TEST_CASE("every tag of TensorFlow 1's writer is there, with its graph, meta graph and run metadata") {
  const auto description = shown("tensorflow1");
  CHECK(lines_of(description)
        == lines{"audio/audio/0: other 2", "histogram: histogram 2", "image/image/0: image 2", "raw: tensor 2",
                 "scalar: scalar 2", "table: texts 2"});
  CHECK(tag_of(description, "raw").other->numbers == tensor::of<int64_t>({3}, {1, 2, 3}));
  CHECK(tag_of(description, "table").other->plugin == "text");  // Only the tag's first value names it.
  CHECK(tag_of(description, "audio/audio/0").other->text.starts_with("a sound of 100 frames, audio/wav, "));
  REQUIRE(description.attachments.size() == 3);
  CHECK(description.attachments[0].what == "graph");
  CHECK(description.attachments[0].nodes > 10);
  CHECK(description.attachments[1].what == "meta graph");
  CHECK(description.attachments[2].what == "run metadata");
  CHECK(description.attachments[2].name == "step 2");
}

TEST_CASE("every tag of torch's writer is there") {
  const auto description = shown("torch");
  CHECK(lines_of(description)
        == lines{"histogram: histogram 2", "image: image 2", "new/scalar: scalar 2", "pr: tensor 2", "scalar: scalar 2",
                 "text/text_summary: text 2"});
  CHECK(tag_of(description, "image").last->image.dims() == shape{4, 5, 3});
  CHECK(tag_of(description, "pr").other->numbers.dims() == shape{6, 5});
  CHECK(tag_of(description, "text/text_summary").last->text == "said");
}

TEST_CASE("every tag of TensorBoard's plugins is there, and hyperparameters are said in words") {
  const auto description = shown("plugins");
  CHECK(lines_of(description)
        == lines{"_hparams_/experiment: other 1", "_hparams_/session_end_info: other 1",
                 "_hparams_/session_start_info: other 1", "pr/pr_curves: tensor 2", "v1/gif: other 1",
                 "v1/scalar/scalar_summary: scalar 2", "v1/table/text_summary: texts 2", "v2/histogram: histogram 2",
                 "v2/scalar: scalar 2", "v2/text: text 2"});
  CHECK(tag_of(description, "_hparams_/experiment").other->text == "hyperparameters rate; metrics v2/scalar");
  CHECK(tag_of(description, "_hparams_/session_start_info").other->text == "rate = 0.5, rule = adam, shuffle = true");
  CHECK(tag_of(description, "_hparams_/session_end_info").other->text == "ended");
  CHECK(tag_of(description, "v1/gif").other->text == "a GIF image of 4 x 3, 6 bytes");
}

TEST_CASE("a value that is no summary is no summary of 0 either: in reports and among points one of both is there") {
  int others = 0;
  for (const char* name : {"tensorflow1", "tensorflow2", "torch", "plugins"})
    for (const auto& t : shown(name).tags) {
      CAPTURE(t.tag);
      CHECK(t.last.has_value() == !t.other);
      const auto points = examine_event_points(*posix_file_system(),
                                               std::string{TROUPE_GOLDEN_DIR} + "/events/" + name + ".tfevents", t.tag);
      REQUIRE_MESSAGE(points, (points ? "" : to_text(points.error())));
      for (const auto& p : points->points) {
        CHECK(p.value.has_value() == !t.other);
        CHECK(p.other.has_value() == t.other.has_value());
        others += p.other ? 1 : 0;
      }
    }
  CHECK(others > 10);
}

}  // namespace troupe
