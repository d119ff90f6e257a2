#include "cli/terminal/console_printer.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace troupe::cli {

using test::has;

namespace {

struct no_control final : job_control {
  void save() override {}
  void stop() override {}
};

/// A console printer whose output is recorded and whose clock is moved by hand.
struct recorded {
  explicit recorded(speech how, bool quiet = false)
    : console{{how, quiet, [this](std::string_view text) { return readable && (out += text, true); },
               [this](std::string_view text) { err += text; }, [this] { return now; },
               [this, how] { return how == speech::terminal ? std::optional{width} : std::nullopt; }, true}} {}
  void event(job_event e) {
    no_control control;
    console.on_event(e, control);
  }
  void progress(int64_t step) {
    event({.what = job_event::kind::progress, .step = step, .max_steps = 100, .loss = 0.5, .steps_per_second = 10});
  }

  double now = 100;
  size_t width = 40;
  bool readable = true;
  std::string out, err;
  console_printer console;
};

job_event evaluated_at(int64_t step) {
  return {.what = job_event::kind::evaluated,
          .step = step,
          .metrics = {{"accuracy", 0.5}, {"global_step", 8}, {"loss", 1.25}}};
}

}  // namespace

TEST_CASE("plain progress is at most one line a second, and what was saved or evaluated is always told") {
  recorded r{speech::plain};
  r.progress(10);
  r.now += 0.9;
  r.progress(20);
  r.event({.what = job_event::kind::saved, .step = 20, .text = "m/model.ckpt-20"});
  r.event(evaluated_at(20));
  r.now += 0.2;
  r.progress(30);
  CHECK(r.out == "step 10/100  10%  10 steps/s  loss 0.5  ETA 0:09\nsaved m/model.ckpt-20\nevaluated step 20: "
                 "accuracy 0.5, loss 1.25\n"
                 "step 30/100  30%  10 steps/s  loss 0.5  ETA 0:07\n");
}

TEST_CASE("a terminal's line is redrawn in place at most five times a second, in the width that it has by then") {
  recorded r{speech::terminal};
  const job_progress progress{job_progress::phase::training, 50, 100, 0.25, 10, -1, {}};
  const std::string line = "\r50%  step 50/100  loss 0.25  0:05 left\x1b[K";
  r.console.redraw(progress);
  CHECK(r.out == line);
  r.now += 0.1;
  r.console.redraw(progress);
  CHECK(r.out == line);
  r.now += 0.2;
  r.width = 30;
  r.console.redraw(progress);
  CHECK(r.out == line + "\rstep 50/100  0:05 left\x1b[K");
  r.width = 60;
  r.out.clear();
  r.event(evaluated_at(50));
  CHECK(r.out == "\r\x1b[Kevaluated step 50: accuracy 0.5, loss 1.25\n");
  r.out.clear();
  r.now += 0.2;
  r.console.redraw({job_progress::phase::training, 60, {}, 0.25, 0, -1, {}});
  CHECK(r.out == "\rstep 60  loss 0.25  after 0:01  accuracy 0.5 at 50\x1b[K");
  r.out.clear();
  r.progress(60);
  CHECK(r.out.empty());
}

TEST_CASE("each JSON line is an object with an event, and numbers that are not finite are null") {
  recorded r{speech::json};
  r.event({.what = job_event::kind::started, .step = 0, .max_steps = 100, .text = "a fresh start"});
  r.event({.what = job_event::kind::progress,
           .step = 4,
           .max_steps = 100,
           .loss = std::numeric_limits<double>::quiet_NaN()});
  r.event({.what = job_event::kind::warning, .step = 4, .text = "\"quoted\"\nand \xff broken"});
  r.console.finish(train_result{.global_step = 4, .steps_run = 4, .metrics = {{"loss", 0.5}}, .seconds = 2});
  CHECK(r.out
        == "{\"event\":\"started\",\"global_step\":0,\"max_steps\":100,\"message\":\"a fresh start\",\"seconds\":0.0}\n"
           "{\"event\":\"progress\",\"global_step\":4,\"max_steps\":100,\"loss\":null,\"steps_per_second\":0.0,"
           "\"seconds\":0.0}\n"
           "{\"event\":\"warning\",\"global_step\":4,\"message\":\"\\\"quoted\\\"\\nand \xef\xbf\xbd broken\"}\n"
           "{\"event\":\"finished\",\"global_step\":4,\"metrics\":{\"loss\":0.5},\"seconds\":2.0,\"steps_run\":4}\n");
  CHECK(r.err == "");
}

TEST_CASE("[MET-35] arrays are lists within lists in JSON lines, and tables below the line of a result") {
  const std::map<std::string, tensor> arrays{
      {"confusion", tensor::of<double>({2, 2}, {3, 1, 0, std::numeric_limits<double>::infinity()})},
      {"recall", tensor::of<double>({3}, {1, 0.5, 0})}};
  const std::string nested = "\"arrays\":{\"confusion\":[[3.0,1.0],[0.0,null]],\"recall\":[1.0,0.5,0.0]}";
  recorded json{speech::json};
  json.event({.what = job_event::kind::progress, .step = 4, .metrics = {{"accuracy", 0.5}}, .arrays = arrays});
  json.event({.what = job_event::kind::evaluated, .step = 4, .metrics = {{"accuracy", 0.5}}, .arrays = arrays});
  json.console.finish(
      evaluation_result{.global_step = 4, .metrics = {{"accuracy", 0.5}}, .batches = 2, .arrays = arrays});
  CHECK(json.out
        == "{\"event\":\"progress\",\"global_step\":4,\"loss\":0.0,\"steps_per_second\":0.0,\"metrics\":"
           "{\"accuracy\":0.5}," + nested
             + ",\"seconds\":0.0}\n{\"event\":\"evaluated\",\"global_step\":4,\"metrics\":{\"accuracy\":0.5}," + nested
             + ",\"seconds\":0.0}\n{\"event\":\"finished\",\"global_step\":4,\"metrics\":{\"accuracy\":0.5},"
               "\"seconds\":0.0,\"batches\":2," + nested + "}\n");
  recorded plain{speech::plain};
  plain.console.finish(
      evaluation_result{.global_step = 4, .metrics = {{"accuracy", 0.5}}, .batches = 2, .arrays = arrays});
  CHECK(plain.out == "step 4, 2 batches in 0.0 s: accuracy 0.5\nconfusion\n         0    1\n    0    3    1\n    1 "
                     "   0  inf\nrecall\n    1  0.5    0\n");
}

TEST_CASE("a confusion matrix has the classes' names below a result, and at an evaluation those of the lowest recall") {
  const std::map<std::string, tensor> arrays{{"confusion_matrix", tensor::of<double>({2, 2}, {3, 1, 0, 4})}};
  recorded plain{speech::plain};
  plain.console.name_classes({.texts = {{"classes", {"class_ids", {"shirt", "bag"}}}}});
  auto e = evaluated_at(20);
  e.arrays = arrays;
  plain.event(e);
  plain.console.finish(train_result{.global_step = 20, .steps_run = 4, .metrics = {{"loss", 0.5}}, .arrays = arrays});
  CHECK(plain.out
        == "evaluated step 20: accuracy 0.5, loss 1.25; lowest recall shirt 0.75, bag 1\n"
           "finished at step 20, 4 steps in 0.0 s: loss 0.5\nconfusion_matrix: labels in rows, predictions in columns\n"
           "         shirt  bag  recall\n  shirt      3    1   0.750\n  bag        0    4   1.000\n");
}

TEST_CASE(
    "a table takes the width of the terminal: where the names of classes do not fit, columns have their numbers") {
  recorded r{speech::terminal};
  r.width = 24;
  r.console.name_classes({.texts = {{"classes", {"class_ids", {"shirt", "bag"}}}}});
  const evaluation_result result{
      .global_step = 4, .batches = 2, .arrays = {{"confusion_matrix", tensor::of<double>({2, 2}, {3, 1, 0, 4})}}};
  r.console.finish(result);
  CHECK(has(r.out, "           0  1  recall\n  0 shirt  3  1   0.750\n  1 bag    0  4   1.000\n"));
  r.width = 22;
  r.out.clear();
  r.console.finish(result);
  CHECK(has(r.out, "\nconfusion_matrix\n  [2, 2]: lowest\n  recall shirt 0.75,\n  bag 1\n"));
}

TEST_CASE("a terminal's lines are wrapped at words, and elsewhere stay whole") {
  const job_event started{
      .what = job_event::kind::started, .step = 936, .max_steps = 1000, .text = "resumed from runs/a/model.ckpt-936"};
  const train_result result{.global_step = 1000,
                            .steps_run = 64,
                            .metrics = {{"accuracy", 0.5}, {"loss", 1.25}},
                            .remark = "ended early: no increase"};
  recorded narrow{speech::terminal}, plain{speech::plain};
  for (auto* r : {&narrow, &plain}) {
    r->width = 30;
    r->event(started);
    r->console.finish(result);
  }
  CHECK(narrow.out
        == "started at step 936, to\n  step 1000: resumed from\n  runs/a/model.ckpt-936\n"
           "ended early: no increase\nfinished at step 1000, 64\n  steps in 0.0 s:\n  accuracy 0.5, loss 1.25\n");
  CHECK(plain.out
        == to_text(started)
               + "\nended early: no increase\nfinished at step 1000, 64 steps in 0.0 s: accuracy 0.5, loss 1.25\n");
}

TEST_CASE("words of classes that control a terminal are as wide as they are shown") {
  recorded r{speech::terminal};
  r.console.name_classes({.texts = {{"classes", {"class_ids", {"a\x1b", "b"}}}}});
  r.console.finish(evaluation_result{
      .global_step = 4, .batches = 2, .arrays = {{"confusion_matrix", tensor::of<double>({2, 2}, {3, 1, 0, 4})}}});
  CHECK(has(r.out, "         a\\x1b  b  recall\n  a\\x1b      3  1   0.750\n  b          0  4   1.000\n"));
}

TEST_CASE("a first signal says at once what it waits for and what a second one does, to people only") {
  const job_progress now{
      .now = job_progress::phase::training, .step = 50, .max_steps = 100, .loss = 0.25, .committed_step = 40};
  const auto said = stopping_text(now, {}, "SIGINT") + "\n";
  recorded terminal{speech::terminal}, plain{speech::plain}, json{speech::json}, quiet{speech::terminal, true};
  terminal.width = 120;
  terminal.console.redraw(now);
  terminal.out.clear();
  for (auto* r : {&terminal, &plain, &json, &quiet})
    r->console.stopping(now, "SIGINT");
  CHECK(terminal.out == "\r\x1b[K" + said);
  CHECK(plain.out == "");
  CHECK(plain.err == said);  // Programs read the lines of standard output.
  CHECK(json.out + json.err + quiet.out + quiet.err == "");
}

TEST_CASE("after a first signal the terminal's line has no goal any more") {
  recorded r{speech::terminal};
  job_progress now{
      .now = job_progress::phase::training, .step = 50, .max_steps = 100, .loss = 0.25, .steps_per_second = 10};
  r.width = 120;
  r.console.stopping(now, "SIGINT");
  r.out.clear();
  now.now = job_progress::phase::draining;
  now.step = 52;
  r.console.redraw(now);
  CHECK(r.out == "\rstep 52  saving  10 steps/s  loss 0.25  after 0:00\x1b[K");
}

TEST_CASE("the terminal's line has a metric of training where there is room") {
  recorded r{speech::terminal};
  r.width = 80;
  r.event({.what = job_event::kind::progress, .step = 50, .metrics = {{"accuracy", 0.75}, {"auc", 0.5}}});
  r.console.redraw({job_progress::phase::training, 50, 100, 0.25, 10, -1, {}});
  CHECK(r.out == "\r50%  step 50/100  10 steps/s  loss 0.25  accuracy 0.75  0:05 left\x1b[K");
}

TEST_CASE("a JSON line of a checkpoint names its iteration where it is not 0") {
  recorded r{speech::json};
  r.event({.what = job_event::kind::saved, .step = 4, .text = "m/model.ckpt-4", .checkpoint = checkpoint_id{4}});
  r.event({.what = job_event::kind::saved,
           .step = 4,
           .text = "m/model.ckpt-4-iteration-2",
           .checkpoint = checkpoint_id{4, 2}});
  CHECK(r.out
        == "{\"event\":\"saved\",\"global_step\":4,\"checkpoint\":\"m/model.ckpt-4\",\"seconds\":0.0}\n"
           "{\"event\":\"saved\",\"global_step\":4,\"checkpoint\":\"m/model.ckpt-4-iteration-2\",\"iteration\":2,"
           "\"seconds\":0.0}\n");
}

TEST_CASE("quiet leaves the result, warnings and errors") {
  recorded r{speech::plain, true};
  r.progress(10);
  r.event(evaluated_at(10));
  r.event({.what = job_event::kind::warning, .text = "look out"});
  r.console.fail({errc::nan_loss, "the loss is not finite", {"try a lower rate"}, "replica/0", 7});
  CHECK(r.out.empty());
  CHECK(
      r.err
      == "warning: look out\nerror: nan_loss: the loss is not finite (replica/0, step 7)\n  note: try a lower rate\n");
}

TEST_CASE("nothing is written any more once nobody reads") {
  recorded r{speech::plain};
  r.readable = false;
  r.event(evaluated_at(10));
  r.readable = true;
  r.event(evaluated_at(20));
  CHECK(r.out.empty());
}

TEST_CASE("what a job tells is printed visibly, but for JSON, which has escapes of its own") {
  recorded plain{speech::plain}, json{speech::json};
  for (auto* r : {&plain, &json}) {
    r->event({.what = job_event::kind::saved, .step = 20, .text = "m\x1b[31m/model.ckpt-20"});
    r->console.warn("from \x07");
    r->console.fail({errc::data_loss, "a\x1b]0;b", {"c\x1b"}});
  }
  CHECK(plain.out == "saved m\\x1b[31m/model.ckpt-20\n");
  CHECK(plain.err == "warning: from \\x07\nerror: data_loss: a\\x1b]0;b\n  note: c\\x1b\n");
  CHECK(has(json.out, "m\\u001b[31m"));
  CHECK_FALSE(has(json.err, "\x1b"));
}

TEST_CASE("the lines of candidates are redrawn in place with the progress line, and go with it") {
  recorded r{speech::terminal};
  r.width = 80;
  job_progress now{.now = job_progress::phase::training, .step = 5, .loss = 0.25};
  now.candidates = {{.spec = "a", .loss = 1, .leads = true}, {.spec = "b", .loss = 2}};
  r.console.redraw(now);
  CHECK(r.out == "\r* a  loss 1\x1b[K\n  b  loss 2\x1b[K\nstep 5  loss 0.25  after 0:00\x1b[K");
  r.out.clear();
  r.now += 1;
  now.candidates.pop_back();
  r.console.redraw(now);
  CHECK_MESSAGE(r.out == "\x1b[2A\r* a  loss 1\x1b[K\nstep 5  loss 0.25  after 0:01\x1b[K\x1b[J",
                "the line of a candidate that has left is taken away");
  r.out.clear();
  r.event(evaluated_at(5));
  CHECK(r.out == "\x1b[1A\r\x1b[Jevaluated step 5: accuracy 0.5, loss 1.25\n");
  r.out.clear();
  r.event(evaluated_at(6));
  CHECK(r.out == "evaluated step 6: accuracy 0.5, loss 1.25\n");
}

}  // namespace troupe::cli
