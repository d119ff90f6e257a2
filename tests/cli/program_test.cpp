// The program on small data: its output, its files, and how signals end it.
#include "tests/cli/program.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

namespace troupe::cli {

using test::has;

namespace {

std::vector<std::string> names(const std::vector<nlohmann::json>& events) {
  std::vector<std::string> all;
  for (const auto& e : events)
    all.push_back(e.at("event"));
  return all;
}

}  // namespace

TEST_CASE("help prints the pages of the guide by their names, and the help of a command") {
  const auto list = run_program({"help"});
  CHECK(list.status == 0);
  CHECK(has(list.out, "\n  judge        Judge a model\n"));
  const auto page = run_program({"help", "judge"});
  CHECK(page.status == 0);
  CHECK(page.out.starts_with("Judge a model\n\nHow good a model is"));
  CHECK(has(run_program({"help", "configure"}).out, "\nrun.save_checkpoints_steps  "));
  CHECK(run_program({"help", "train"}).out == run_program({"train", "--help"}).out);
  CHECK(has(run_program({"help", "help"}).out, "troupe help first_model | less"));
}

TEST_CASE("with --json every line is an event, and the last one is finished") {
  const small_project project;
  const auto result = run_program(project.train({"--epochs", "2", "--json"}));
  CHECK(result.status == 0);
  CHECK(result.err == "");
  const auto events = result.events();
  REQUIRE(events.size() > 2);
  auto told = names(events);
  told.erase(std::find(told.begin(), told.end(), "saved"));  // The save of step 0 may be told at any time.
  CHECK(told
        == std::vector<std::string>{"started", "progress", "progress", "saved", "evaluated", "progress", "progress",
                                    "saved", "evaluated", "finished"});
  const auto& last = events.back();
  CHECK(last["global_step"] == 16);
  CHECK(last["steps_run"] == 16);
  CHECK(last["metrics"]["accuracy"].is_number());
  CHECK(last["metrics"]["loss"].is_number());
  CHECK_FALSE(last["metrics"].contains("global_step"));
  CHECK(last["seconds"].get<double>() > 0);
  CHECK(last["metrics"] == events[events.size() - 2]["metrics"]);
}

TEST_CASE(
    "[reduce_on_plateau] reduces the learning rate once evaluations are no better, and counts on where an earlier run "
    "stood") {
  const small_project project;
  // No loss improves by 1,000: every evaluation after the first is one without improvement, and the second of them
  // reduces the rate.
  const std::vector<std::string> how{
      "--set", "reduce_on_plateau.min_delta=1000", "--set", "reduce_on_plateau.patience=1",
      "--set", "reduce_on_plateau.factor=0.5",     "--set", "run.save_checkpoints_steps=4",
      "--set", "evaluate.throttle_secs=0"};
  const auto run = [&](const std::string& until) {
    auto arguments = how;
    arguments.insert(arguments.end(), {"--max-steps", until});
    const auto result = run_program(project.train(arguments));
    CHECK_MESSAGE(result.status == 0, result.err);
    return result.out + result.err;
  };
  CHECK_FALSE(has(run("8"), "learning rates"));
  CHECK(has(run("12"), "from step 12 on learning rates are multiplied by 0.5"));
  CHECK(has(run("20"), "from step 20 on learning rates are multiplied by 0.25"));

  const auto refused = [&](const std::string& set) {
    const auto result = run_program(project.train({"--max-steps", "24", "--set", set}));
    CHECK(result.status == 2);
    return result.err;
  };
  CHECK(has(refused("reduce_on_plateau.factor=1"), "reduce_on_plateau.factor must be a number in (0, 1), not '1'"));
  CHECK(has(refused("reduce_on_plateau.patience=-1"),
            "reduce_on_plateau.patience must be a whole number of at least 0, not '-1'"));
  CHECK(has(refused("reduce_on_plateau.evaluation=x"),
            "reduce_on_plateau needs an evaluation beside training named 'x'; there are others"));
}

TEST_CASE("evaluate takes the checkpoint of a prefix, of any directory") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "8", "--set", "run.save_checkpoints_steps=4"})).status == 0);
  const auto newest = run_program(project.evaluate({})), by_step = run_program(project.evaluate({"--step", "4"}));
  REQUIRE(newest.status == 0);
  const auto by_prefix = run_program(project.evaluate({"--checkpoint", project.path("model") + "/model.ckpt-4"}));
  CHECK_MESSAGE(by_prefix.status == 0, by_prefix.err);
  const auto metrics = [](const outcome& o) { return o.out.substr(o.out.find("accuracy ")); };
  CHECK(metrics(by_prefix) == metrics(by_step));
  CHECK(metrics(by_prefix) != metrics(newest));
  const auto elsewhere = run_program(project.evaluate(
      {"--model-dir", project.path("other"), "--checkpoint", project.path("model") + "/model.ckpt-4"}));
  CHECK_MESSAGE(elsewhere.status == 0, elsewhere.err);
  CHECK(metrics(elsewhere) == metrics(by_step));

  const auto none = run_program(project.evaluate({"--checkpoint", project.path("model") + "/model.ckpt-5"}));
  CHECK(none.status == 1);
  const auto no_prefix = run_program(project.evaluate({"--checkpoint", project.path("model")}));
  CHECK(no_prefix.status == 2);
  CHECK(has(no_prefix.err, "names no checkpoint: it is newest, best, a step such as 390"));
  const auto both = run_program(project.evaluate({"--step", "4", "--checkpoint", "x"}));
  CHECK(both.status == 2);
  CHECK(has(both.err, "--step and --checkpoint cannot be given together"));
}

TEST_CASE("elsewhere than on a terminal each line is plain text") {
  const small_project project;
  const auto result = run_program(project.train({"--max-steps", "8"}));
  CHECK(result.status == 0);
  CHECK(has(result.out, "started at step 0, to step 8: a fresh start\n"));
  CHECK(has(result.out, "saved " + project.path("model") + "/model.ckpt-8\n"));
  CHECK(has(result.out, "evaluated step 8: accuracy "));
  CHECK(has(result.out, "finished at step 8, 8 steps in "));
  CHECK_FALSE(has(result.out, "\r"));
  CHECK_FALSE(has(result.out, "\x1b"));
}

TEST_CASE(
    "a classifier with a confusion matrix ends with a table of its classes by their words, and so does an evaluation "
    "of it") {
  const small_project project;
  const std::vector<std::string> counted{"--set", "model.confusion_matrix=true", "--set",
                                         "model.vocabulary=a,b,c,d,e,f,g,h,i,j"};
  auto arguments = counted;
  arguments.insert(arguments.end(), {"--max-steps", "8"});
  const auto trained = run_program(project.train(arguments));
  CHECK_MESSAGE(trained.status == 0, trained.err);
  CHECK(has(trained.out, "; lowest recall "));
  for (const auto& out : {trained.out, run_program(project.evaluate(counted)).out}) {
    const std::string title = "\nconfusion_matrix: labels in rows, predictions in columns\n";
    REQUIRE(has(out, title));
    std::istringstream table{out.substr(out.find(title) + title.size())};
    std::string line, header;
    std::getline(table, header);
    CHECK(header.ends_with("  recall"));
    double total = 0;
    for (const char name : std::string{"abcdefghij"}) {
      REQUIRE(std::getline(table, line));
      CHECK(line.starts_with(std::string{"  "} + name + "  "));
      std::istringstream cells{line.substr(3)};
      double count = 0;
      for (int i = 0; i < 10 && cells >> count; ++i)
        total += count;
    }
    CHECK(total == 64);
  }
}

TEST_CASE("a job that goes on from a checkpoint whose verdict is damaged says so") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "8"})).status == 0);
  std::ofstream{project.path("model/model.ckpt-8.verdict.json")} << "{\"half\": ";
  const auto again = run_program(project.train({"--max-steps", "16"}));
  CHECK(again.status == 0);
  CHECK(has(again.err, "warning: what was found out after the commit of model.ckpt-8 is lost"));
  CHECK(has(again.out, "finished at step 16"));
}

TEST_CASE("a configuration is read from a pipe to its end, however slowly it comes") {
  const small_project project;
  std::ifstream file{project.config()};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  auto arguments = project.train({"--max-steps", "8", "--json"});
  std::replace(arguments.begin(), arguments.end(), project.config(), "/dev/fd/" + std::to_string(ends[0]));
  program running{arguments};
  for (const char c : text)
    REQUIRE(::write(ends[1], &c, 1) == 1);
  ::close(ends[1]);
  const auto result = running.finish();
  ::close(ends[0]);
  CHECK_MESSAGE(result.status == 0, result.err);
  CHECK(result.events().back()["global_step"] == 8);
}

TEST_CASE("a model directory whose name is no text is trained in, evaluated, shown and gone on in") {
  const small_project project;
  const auto directory = project.path("caf\xe9-\xff");
  const auto first = run_program(project.train({"--max-steps", "8", "--model-dir", directory, "--json"}));
  CHECK_MESSAGE(first.status == 0, first.err);
  CHECK(first.events().back()["metrics"]["accuracy"].is_number());
  const auto second = run_program(project.train({"--max-steps", "16", "--model-dir", directory}));
  CHECK_MESSAGE(second.status == 0, second.err);
  CHECK(has(second.out, "finished at step 16"));
  CHECK(run_program(project.evaluate({"--model-dir", directory, "--json"})).status == 0);
  const auto shown = run_program({"inspect", directory, "--json"});
  CHECK_MESSAGE(shown.status == 0, shown.err);
  const auto report = nlohmann::json::parse(shown.out);
  for (const auto& event_file : report["event_files"]) {
    const auto log = run_program({"inspect", directory + "/" + event_file.get<std::string>(), "--json"});
    CHECK_MESSAGE(log.status == 0, log.out);
  }
}

TEST_CASE("a number of checkpoints to keep that is beyond any is as good as all, and not another number") {
  const small_project project;
  REQUIRE(
      run_program(project.train({"--max-steps", "24", "--quiet", "--set", "run.keep_checkpoint_max=4294967297"})).status
      == 0);
  for (const int64_t step : {0, 8, 16, 24})
    CHECK_FALSE(project.parameters("model", step).empty());
}

TEST_CASE("--quiet leaves one line") {
  const small_project project;
  const auto result = run_program(project.train({"--max-steps", "8", "--quiet"}));
  CHECK(result.out.starts_with("finished at step 8"));
  CHECK(result.out.find('\n') == result.out.size() - 1);
}

TEST_CASE(
    "a finished directory is neither trained nor evaluated again: it says why, and has the results that are there") {
  const small_project project;
  const auto first = run_program(project.train({"--max-steps", "8", "--json"}));
  REQUIRE(first.status == 0);
  const auto again = run_program(project.train({"--max-steps", "8", "--json"}));
  CHECK(again.status == 0);
  const auto events = again.events();
  CHECK(names(events) == std::vector<std::string>{"started", "finished"});
  CHECK(events.back()["steps_run"] == 0);
  CHECK(has(events.back()["remark"].get<std::string>(), "nothing to train"));
  const auto before = first.events().back()["metrics"], now = events.back()["metrics"];
  REQUIRE(now.size() == before.size());
  for (const auto& [name, value] : before.items())
    CHECK_MESSAGE(now[name].get<float>() == value.get<float>(), name);
  CHECK(has(run_program(project.train({"--max-steps", "8"})).out, "nothing to train"));
}

TEST_CASE("evaluate tells the metrics of the newest checkpoint, or of the one at a step") {
  const small_project project;
  const auto trained = run_program(project.train({"--max-steps", "16", "--json"})).events();
  const auto newest = run_program(project.evaluate({"--json"}));
  CHECK(newest.status == 0);
  REQUIRE(newest.events().size() == 1);
  CHECK(newest.events()[0]["event"] == "finished");
  CHECK(newest.events()[0]["global_step"] == 16);
  CHECK(newest.events()[0]["metrics"] == trained.back()["metrics"]);
  CHECK(newest.events()[0]["batches"] == 2);
  CHECK(run_program(project.evaluate({"--json", "--step", "8"})).events().at(0)["global_step"] == 8);
  CHECK(run_program(project.evaluate()).out.starts_with("step 16, 2 batches in "));

  const auto absent = run_program(project.evaluate({"--step", "9", "--json"}));
  CHECK(absent.status == 1);
  CHECK(has(absent.err, "has no checkpoint of step 9"));
  CHECK(absent.events().back()["event"] == "failed");
  const auto empty = run_program(project.evaluate({"--model-dir", project.path("empty")}));
  CHECK(empty.status == 1);
  CHECK(has(empty.err, "empty has no checkpoint to evaluate"));
}

TEST_CASE("evaluate reads the test files alone, and format idx the files that are named") {
  const small_project project;
  REQUIRE(run_program(project.train({"--max-steps", "16", "--quiet"})).status == 0);
  const auto newest = run_program(project.evaluate({"--json"})).events().at(0);
  for (const char* file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
    std::filesystem::rename(project.path("data/") + file, project.path(file));
  const auto without = run_program(project.evaluate({"--json"}));
  CHECK(without.status == 0);
  CHECK(without.events().at(0)["metrics"] == newest["metrics"]);

  const std::vector<std::string> named{"--set", "input.format=idx",
                                       "--set", "evaluate.images=" + project.path("data/t10k-images-idx3-ubyte"),
                                       "--set", "evaluate.labels=" + project.path("data/t10k-labels-idx1-ubyte")};
  auto arguments = project.evaluate({"--json"});
  arguments.insert(arguments.end(), named.begin(), named.end());
  CHECK(run_program(arguments).events().at(0)["metrics"] == newest["metrics"]);
  arguments = project.train({"--max-steps", "24", "--json", "--set",
                             "input.images=" + project.path("train-images-idx3-ubyte"), "--set",
                             "input.labels=" + project.path("train-labels-idx1-ubyte")});
  arguments.insert(arguments.end(), named.begin(), named.end());
  const auto trained = run_program(arguments);
  CHECK_MESSAGE(trained.status == 0, trained.err);
  CHECK(trained.events().back()["steps_run"] == 8);
  const auto missing = run_program(project.evaluate({"--set", "input.format=idx"}));
  CHECK(missing.status == 2);
  CHECK(has(missing.err, "evaluate.images is missing: input.format is idx"));
}

TEST_CASE("--debug-numerics names what a loss that is not finite came of, and without it the error names the flag") {
  const small_project project;
  const std::vector<std::string> too_fast{
      "--max-steps",        "8", "--model-dir", "none", "--set", "optimizer.name=gradient_descent", "--set",
      "optimizer.rate=1e30"};
  const auto without = run_program(project.train(too_fast));
  CHECK(without.status == 1);
  CHECK(has(without.err, "error: nan_loss: the loss is not finite (replica/0, step "));
  CHECK(has(without.err, "\n  note: debug_numerics (--debug-numerics) names the first"));

  auto arguments = too_fast;
  arguments.emplace_back("--debug-numerics");
  const auto with = run_program(project.train(arguments));
  CHECK(with.status == 1);
  CHECK(has(with.err, "error: nan_loss: the loss is not finite; the first operation with such a result is "));
  CHECK(has(with.err, "\n  note: operand variable "));
  CHECK_FALSE(has(with.err, "--debug-numerics"));
  arguments.back() = "--set";
  arguments.emplace_back("run.debug_numerics=true");
  CHECK(run_program(project.train(arguments)).err == with.err);
}

TEST_CASE("a signal saves, closes and exits with its status, and the run that goes on ends in the same bits") {
  for (const auto& [signal, status, name] : {std::tuple{SIGINT, 130, "SIGINT"}, std::tuple{SIGTERM, 143, "SIGTERM"}}) {
    CAPTURE(name);
    const small_project project;
    program running{project.train({"--max-steps", "100000000", "--set", "save_checkpoints_steps=100000000", "--json"})};
    REQUIRE(running.wait_for("\"progress\""));
    running.send(signal);
    const auto stopped = running.finish();
    CHECK(stopped.status == status);
    const auto last = stopped.events().back();
    CHECK(last["event"] == "stopped");
    CHECK(last["signal"] == name);
    const auto at = last["global_step"].get<int64_t>();
    REQUIRE(at > 0);
    CHECK(last["checkpoint"] == project.path("model") + "/model.ckpt-" + std::to_string(at));

    const std::string end = std::to_string(at + 20);
    const auto resumed = run_program(project.train({"--max-steps", end, "--json"}));
    REQUIRE(resumed.status == 0);
    const auto events = resumed.events();  // The first may be a warning about changed settings.
    const auto begun = std::find_if(events.begin(), events.end(),
                                    [](const auto& e) { return e["event"] == "started"; });
    CHECK((*begun)["global_step"] == at);
    REQUIRE(run_program(project.train({"--max-steps", end, "--set", "save_checkpoints_steps=100000000", "--model-dir",
                                       project.path("whole")}))
                .status
            == 0);
    const auto bits = project.parameters("whole", at + 20);
    CHECK_FALSE(bits.empty());
    CHECK((project.parameters("model", at + 20) == bits));
  }
}

TEST_CASE("a second signal ends the program with the status of the first") {
  const small_project project;
  program running{project.train({"--max-steps", "100000000", "--set", "save_checkpoints_steps=100000000", "--json"})};
  REQUIRE(running.wait_for("\"progress\""));
  running.send(SIGTERM);
  running.send(SIGINT);
  // If both signals are pending at once, the one with the lower number is delivered first.
  const int status = running.finish().status;
  CHECK((status == 143 || status == 130));
}

TEST_CASE("a reader of standard output that goes away costs no checkpoint") {
  const small_project project;
  program running{project.train({"--max-steps", "400"})};
  REQUIRE(running.wait_for("started"));
  running.stop_reading();
  const auto result = running.finish();
  CHECK(result.status == 0);
  CHECK(result.err == "");
  CHECK(run_program(project.evaluate()).out.starts_with("step 400,"));
}

TEST_CASE(
    "a model directory that another process trains in is refused, naming that process, and free again when it dies") {
  const small_project project;
  program running{project.train({"--max-steps", "100000000", "--set", "save_checkpoints_steps=100000000", "--json"})};
  REQUIRE(running.wait_for("\"progress\""));
  const auto refused = run_program(project.train({"--max-steps", "8", "--json"}));
  CHECK(refused.status == 1);
  CHECK(has(refused.err, project.path("model") + " is in use by process " + std::to_string(running.id())));
  CHECK(refused.events().back()["event"] == "failed");
  running.send(SIGKILL);
  running.finish();
  CHECK(run_program(project.train({"--max-steps", "8"})).status == 0);
}

TEST_CASE("standard output that was closed from the start is no file to print into") {
  const small_project project;
  program running{project.train({"--max-steps", "16"}), program::output::closed};
  CHECK(running.finish().status == 1);  // The result could not be printed; the model is saved.
  CHECK(run_program(project.evaluate()).out.starts_with("step 16,"));
}

}  // namespace troupe::cli
