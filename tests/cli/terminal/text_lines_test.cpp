#include "cli/terminal/lines.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace troupe::cli {

namespace {

job_event evaluated() {
  return {.what = job_event::kind::evaluated,
          .step = 234,
          .metrics = {{"accuracy", 0.8353},
                      {"accuracy_baseline", 0.1},
                      {"auc", 0.97},
                      {"average_loss", 0.4622},
                      {"global_step", 234},
                      {"label/mean", 0.5},
                      {"loss", 0.46221}},
          .arrays = {{"confusion_matrix", tensor::of<double>({2, 2}, {3, 1, 0, 4})}},
          .evaluation = "train"};
}

std::string in_window(const job_event& e, size_t window) { return event_text(e, {.window = window}); }

}  // namespace

TEST_CASE("a wide window, and what is none, has the whole line of an evaluation") {
  const std::string whole =
      "evaluated step 234 for train: accuracy 0.8353, accuracy_baseline 0.1, auc 0.97, average_loss 0.4622, "
      "label/mean 0.5, loss 0.4622; lowest recall 0 0.75, 1 1";
  CHECK(event_text(evaluated(), {}) == whole);
  CHECK(in_window(evaluated(), whole.size()) == whole);
}

TEST_CASE("as a window narrows an evaluation loses what is said twice, facts of the data, classes, metrics, the loss") {
  const std::string head = "evaluated step 234 for train", accuracy = head + ": accuracy 0.8353";
  const std::string recall = "; lowest recall 0 0.75, 1 1";
  const auto line = [](size_t window) { return in_window(evaluated(), window); };
  CHECK(line(154) == accuracy + ", accuracy_baseline 0.1, auc 0.97, label/mean 0.5, loss 0.4622" + recall);
  CHECK(line(133) == accuracy + ", accuracy_baseline 0.1, auc 0.97, loss 0.4622" + recall);
  CHECK(line(117) == accuracy + ", auc 0.97, loss 0.4622" + recall);
  CHECK(line(94) == accuracy + ", auc 0.97, loss 0.4622; lowest recall 0 0.75");
  CHECK(line(89) == accuracy + ", auc 0.97, loss 0.4622");
  CHECK(line(67) == accuracy + ", loss 0.4622");
  CHECK(line(57) == accuracy);
  CHECK(line(44) == head);
  CHECK(line(27) == "evaluated step 234 for t...");
}

TEST_CASE(
    "an evaluation is one line of at most the window's width, whatever the width, and a narrower one never has more") {
  auto odd = evaluated();
  odd.evaluation = "t\x1b[2J \xff";  // Printed as \x1b and \xff, which is wider.
  odd.metrics["x\x9b"] = 1;
  for (const auto& e : {evaluated(), odd}) {
    size_t before = 0;
    for (size_t window = 0; window < 220; ++window) {
      CAPTURE(window);
      const auto line = in_window(e, window);
      CHECK(columns_of(line) <= window);
      CHECK(line.find('\n') == std::string::npos);
      CHECK(columns_of(line) >= before);
      before = columns_of(line);
    }
  }
}

TEST_CASE(
    "an average_loss that is not printed like the loss stays as other metrics do, and heads' accuracies stay longer") {
  auto e = evaluated();
  e.arrays.clear();
  e.evaluation = "";
  e.metrics = {{"average_loss", 0.25},     {"late/accuracy", 0.5}, {"late/auc", 0.5},
               {"late/average_loss", 0.5}, {"late/loss", 0.5},     {"loss", 0.75}};
  const std::string head = "evaluated step 234: ";
  CHECK(in_window(e, 111) == head + "average_loss 0.25, late/accuracy 0.5, late/auc 0.5, late/loss 0.5, loss 0.75");
  CHECK(in_window(e, 90) == head + "average_loss 0.25, late/accuracy 0.5, late/loss 0.5, loss 0.75");
  CHECK(in_window(e, 50) == head + "late/accuracy 0.5, loss 0.75");
}

TEST_CASE("the result of a search has its winner with all members, and the indices that repeat it") {
  train_result result{.global_step = 60, .steps_run = 60, .metrics = {{"loss", 0.5}}, .seconds = 2};
  CHECK(finished_text(result, {}) == "finished at step 60, 60 steps in 2.0 s: loss 0.5");
  CHECK_FALSE(nlohmann::json::parse(finished_json(result)).contains("search"));
  result.search = search_result{.winner = {.candidate = "1_layer_dnn_grow",
                                           .ensembler = "mean",
                                           .members = {{0, "linear"}, {1, "1_layer_dnn"}},
                                           .iteration = 1,
                                           .global_step = 40},
                                .spec = "t1_1_layer_dnn_grow_mean",
                                .iteration = 2,
                                .replay_indices = {0, 2}};
  CHECK(finished_text(result, {})
        == "finished at step 60, 60 steps in 2.0 s: loss 0.5\nwinner in iteration 2: t1_1_layer_dnn_grow_mean, "
           "of 2 networks\n  linear of iteration 0\n  1_layer_dnn of iteration 1\nsearch.replay_indices = [0, 2] "
           "repeats these choices");
  const auto search = nlohmann::json::parse(finished_json(result))["search"];
  CHECK(search == nlohmann::json::parse(R"({"iteration": 2, "replay_indices": [0, 2], "winner": {
             "name": "t1_1_layer_dnn_grow_mean", "candidate": "1_layer_dnn_grow", "ensembler": "mean", "iteration": 1,
             "global_step": 40, "members": [{"iteration": 0, "builder": "linear"}, {"iteration": 1, "builder":
             "1_layer_dnn"}]}})"));
  CHECK(nlohmann::json::parse(stopped_json(result, "SIGINT"))["search"] == search);
  result.search = search_result{.winner = {.members = {{0, "linear"}}}, .spec = "t0_linear_grow_mean"};
  CHECK(finished_text(result, {})
            .ends_with("winner in iteration 0: t0_linear_grow_mean, of 1 network\n  "
                       "linear of iteration 0"));
}

TEST_CASE("a first signal waits for what the job's progress shows") {
  using phase = job_progress::phase;
  const job_scale scale{.evaluation_batches = {{"train", 20}}};
  const auto awaited = [&](const job_progress& now) {
    const std::string begin = "stopping by SIGINT once this is done: ", text = stopping_text(now, scale, "SIGINT");
    CHECK(text.starts_with(begin));
    return text.substr(begin.size(), text.find('\n') - begin.size());
  };
  const auto second = [](const job_progress& now, const job_scale& of) {
    const auto text = stopping_text(now, of, "SIGINT");
    return text.substr(text.find('\n') + 1);
  };
  job_progress now{.now = phase::training, .step = 50, .max_steps = 100, .committed_step = 40};
  now.evaluating = {{"", 40, 3}, {"train", 40, 12}};
  CHECK(awaited(now)
        == "saving the state of step 50 or of one soon after; giving up the evaluation of step 40 (3 batches done); "
           "giving up the evaluation of step 40 for train (12 of 20 batches done); the last calls of hooks");
  CHECK(second(now, scale)
        == "a second signal ends the program at once; the last state that is saved is that of step 40");
  now.evaluating.clear();
  now.committed_step = -1;
  CHECK(second(now, scale) == "a second signal ends the program at once; this run has saved nothing yet");
  CHECK(stopping_text(now, {.saves = false}, "SIGTERM")
        == "stopping by SIGTERM once this is done: reaching the state of step 50 or of one soon after; the last calls "
           "of hooks\na second signal ends the program at once");
  now.now = phase::recovering;
  CHECK(awaited(now) == "restoring the state that the job goes on from; the last calls of hooks");
  now.now = phase::draining;
  CHECK(awaited(now) == "saving the state of step 50 or of one soon after; the last calls of hooks");
  now.step = 100;
  CHECK(awaited(now) == "saving the state of step 100; the last calls of hooks");
  now.committed_step = 100;
  now.evaluating = {{"", 100, 3}};
  CHECK(awaited(now) == "giving up the evaluation of step 100 (3 batches done); the last calls of hooks");
  now.evaluating.clear();
  CHECK(awaited(now) == "exporters; the last calls of hooks");
  for (const auto ended : {phase::finished, phase::failed}) {
    now.now = ended;
    CHECK(stopping_text(now, scale, "SIGINT") == "");
  }
}

}  // namespace troupe::cli
