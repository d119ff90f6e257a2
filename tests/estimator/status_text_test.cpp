#include "tests/support/has.hpp"

#include <troupe/job_status.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace troupe::test {

namespace {

job_status a_status() {
  job_status s{.written = 1'790'000'000.5, .process = 4711, .host = "here"};
  s.progress.now = job_progress::phase::training;
  s.progress.step = 120;
  s.progress.max_steps = 480;
  s.progress.loss = 0.25;
  s.progress.steps_per_second = 812.4;
  s.progress.committed_step = 100;
  s.progress.evaluations = {{"", {{"accuracy", 0.5}}}, {"train", {{"loss", 0.125}}}};
  s.report = {.seconds = 1.5, .step = 119};
  actor_report a{.name = "replica/0", .role = "replica", .busy_seconds = 0.5};
  a.waiting_seconds = {0.25, 0.125, 0.0625, 0.03125, 0.5};
  a.messages = 7;
  a.bytes = 8;
  a.queued = 1;
  a.queued_max = 2;
  a.mailbox = 3;
  a.mailbox_max = 4;
  s.report.actors = {a,
                     {.name = "infeed/0", .role = "infeed", .answered = false},
                     {.name = "evaluator/replica/0", .role = "replica", .driver = "evaluator"}};
  return s;
}

}  // namespace

TEST_CASE("a status is read back as it was written") {
  const auto s = a_status();
  const auto back = parse_status(to_json(s), "f");
  REQUIRE_MESSAGE(back, to_text(back.error()));
  CHECK(back->written == s.written);
  CHECK(back->process == s.process);
  CHECK(back->host == s.host);
  CHECK(back->progress.now == s.progress.now);
  CHECK(back->progress.step == s.progress.step);
  CHECK(back->progress.max_steps == s.progress.max_steps);
  CHECK(back->progress.loss == s.progress.loss);
  CHECK(back->progress.steps_per_second == s.progress.steps_per_second);
  CHECK(back->progress.committed_step == s.progress.committed_step);
  CHECK(back->progress.evaluations == s.progress.evaluations);
  CHECK(back->report == s.report);
  auto endless = s;
  endless.progress.max_steps = {};
  endless.progress.loss = std::numeric_limits<double>::quiet_NaN();
  endless.progress.now = job_progress::phase::failed;
  const auto other = parse_status(to_json(endless), "f");
  REQUIRE(other);
  CHECK_FALSE(other->progress.max_steps);
  CHECK(std::isnan(other->progress.loss));
  CHECK(other->progress.now == job_progress::phase::failed);
}

TEST_CASE("a text that is no status is refused, naming the file and the value") {
  const auto refused = [](const std::string& text) {
    const auto s = parse_status(text, "runs/a/.status.json");
    REQUIRE_FALSE(s);
    CHECK(s.error().category == errc::data_loss);
    CHECK(has(s.error().message, "runs/a/.status.json"));
    return s.error().message;
  };
  refused("");
  refused("{}");
  const auto whole = to_json(a_status());
  for (size_t n = 0; n < whole.size(); n += 17)
    refused(whole.substr(0, n));
  auto other = whole;
  other.replace(other.find("training"), 8, "sleeping");
  CHECK(has(refused(other), "phase"));
}

TEST_CASE("the text of a status says where the job is and how old that is, and then what its actors do") {
  auto s = a_status();
  auto text = to_text(s, s.written + 0.4);
  CHECK(has(text, "training, step 120 of 480 (25 %), 812 steps/s, loss 0.25, saved at 100\n"));
  CHECK(has(text, "process 4711 on here, just now\n"));
  CHECK(has(text, "evaluation: accuracy 0.5\n"));
  CHECK(has(text, "train: loss 0.125\n"));
  CHECK(has(text, "infeed/0             in the midst of a long step, read or write\n"));
  s.progress.committed_step = -1;
  s.progress.paused = true;
  s.report.actors.clear();
  text = to_text(s, s.written + 42);
  CHECK(has(text, "training, paused, step 120"));
  CHECK(has(text, "not saved yet\n"));
  CHECK(has(text, "42 s ago\n"));
  CHECK_FALSE(has(text, "replica"));
}

}  // namespace troupe::test
