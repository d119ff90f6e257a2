#include "storage/events/hyperparameters.hpp"

#include "tests/storage/samples.hpp"
#include "tests/support/whole_event_log.hpp"

namespace troupe {

namespace {

const hyperparameters sample_values{{"rate", 0.125}, {"shuffle", true}, {"rule", std::string{"adam"}}};

std::string said(const event_value& value) {
  auto fs = memory_file_system();
  auto log = event_log_writer::create(fs, "/m", {.wall_time = 1});
  REQUIRE(log);
  REQUIRE((*log)->add({.others = {value}}));
  REQUIRE((*log)->close());
  const auto read = *read_whole_log(*fs, (*log)->path());
  REQUIRE_FALSE(read.damage);
  const auto& back = read.events.at(1).others.at(0);
  CHECK(back.tag == value.tag);
  CHECK(back.plugin == "hparams");
  CHECK(back.data == value.data);
  return back.text;
}

}  // namespace

TEST_CASE(
    "hyperparameters come back from an event file by name, in words: of the experiment, of a session's start and of "
    "its end") {
  CHECK(said(experiment_summary(sample_values, {{"", "loss"}, {"eval", "accuracy"}}, 1.5e9))
        == "hyperparameters rate, rule, shuffle; metrics loss, eval/accuracy");
  CHECK(said(session_start_summary(sample_values, "runs/a", 1.5e9)) == "rate = 0.125, rule = adam, shuffle = true");
  CHECK(said(session_end_summary(false, 1.5e9)) == "ended");
  CHECK(said(session_end_summary(true, 1.5e9)) == "failed");
}

TEST_CASE("the tags of hyperparameters are those that TensorBoard looks for") {
  CHECK(experiment_summary({}, {}, 1).tag == "_hparams_/experiment");
  CHECK(session_start_summary({}, "", 1).tag == "_hparams_/session_start_info");
  CHECK(session_end_summary(false, 1).tag == "_hparams_/session_end_info");
}

TEST_CASE("a text that is not UTF-8 is kept as far as it is text") {
  CHECK(said(session_start_summary({{"data", std::string{"/a\xff"}}}, "runs/\xff", 1)) == "data = /a\xef\xbf\xbd");
}

}  // namespace troupe
