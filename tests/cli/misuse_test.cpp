// Every kind of wrong command line, and the program's error for it.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace troupe::cli {

using test::has;

namespace {}  // namespace

TEST_CASE("misuse exits with 2 and one error that says what would be right") {
  const small_project project;
  const auto refused = [](std::vector<std::string> arguments, const std::string& part) {
    CAPTURE(part);
    const auto result = run_program(std::move(arguments));
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(has(result.err, part));
    CHECK(result.err.starts_with("error: "));
    CHECK_FALSE(has(result.err.substr(1), "error: "));
  };
  refused({"trian"}, "unknown command trian; did you mean train?");
  refused({"help", "juge"}, "did you mean judge?");
  refused({"help", "judge", "data"}, "unexpected argument 'data'");
  refused({"train"}, "model.hidden_units is missing");
  refused(project.train({"--max-step", "3"}), "unknown flag --max-step; did you mean --max-steps?");
  refused(project.train({"--epochs=3", "--verbsoe=3"}), "unknown flag --verbsoe");
  refused(project.train({"again"}), "unexpected argument 'again'");
  refused(project.train({"--max-steps"}), "--max-steps");
  refused(project.train(), "run.max_steps is missing");
  refused(project.train({"--max-steps", "many"}),
          "--max-steps: run.max_steps must be a whole number of at least 1, or \"none\", not 'many'");
  refused(project.train({"--epochs", "-1"}),
          "--epochs: input.epochs must be a whole number of at least 1, or \"none\", not '-1'");
  refused(project.train({"--set", "run.save_checkpoint_steps=3"}),
          "unknown key run.save_checkpoint_steps; did you mean run.save_checkpoints_steps?");
  refused(project.train({"--set", "seed"}), "--set takes key=value");
  refused(project.train({"--set", "seed=1"}), "key seed is ambiguous: it can be input.seed or run.seed");
  refused(project.train({"--max-steps", "9", "--batch-size", "300"}), "batch(300");
  refused({"train", "--config", project.path("none.toml")}, "none.toml cannot be read");
  refused({"train", "--config", project.path("")}, "cannot be read");
  refused(project.evaluate({"--step", "last"}),
          "--step: 'last' names no checkpoint: it is newest, best, a step such as 390, or a path such as "
          "runs/fashion/model.ckpt-390");
  refused(project.evaluate({"--step", "1", "--max-stpes", "2"}), "unknown flag --max-stpes; did you mean --max-steps?");
  refused(project.evaluate({"--epochs", "2"}), "unknown flag --epochs");
  refused(project.evaluate({"--batch-size", "0"}),
          "--batch-size: evaluate.batch_size must be a whole number of at least 1");
}

TEST_CASE("mistakes in a file are told with file and line, all at once") {
  const small_project project;
  const auto path = project.path("wrong.toml");
  std::ofstream{path} << "[model]\nhidden_unit = [3]\nclasses = \"ten\"\n";
  const auto result = run_program({"train", "--config", path});
  CHECK(result.status == 2);
  CHECK(result.err
        == "error: " + path + ":2: unknown key model.hidden_unit; did you mean model.hidden_units?\n  note: " + path
               + ":3: model.classes must be a whole number of at least 2, not 'ten'\n");
}

TEST_CASE("with --json a refusal is a failed event too") {
  const auto result = run_program({"train", "--json", "--max-step", "3"});
  CHECK(result.status == 2);
  REQUIRE(result.events().size() == 1);
  CHECK(result.events()[0]["event"] == "failed");
  CHECK(result.events()[0]["category"] == "invalid_argument");
  CHECK(has(result.err, "unknown flag --max-step"));
}

TEST_CASE("data that are not there are an error that names the package with them") {
  const small_project project;
  const auto result = run_program(project.train({"--max-steps", "8", "--json", "--data", project.path("elsewhere")}));
  CHECK(result.status == 1);
  CHECK(has(result.err, "elsewhere/train-images-idx3-ubyte"));
  CHECK(has(result.err, "dataset-fashion-mnist"));
  REQUIRE(result.events().size() == 1);
  CHECK(result.events()[0]["event"] == "failed");
  CHECK(result.events()[0]["category"] == "not_found");
}

TEST_CASE("help and version go to standard output") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"train", "--help"}, {"evaluate", "--help"}}) {
    const auto result = run_program(arguments);
    CHECK(result.status == 0);
    CHECK(result.err == "");
    CHECK(has(result.out, "Exit status:"));
    CHECK(has(result.out, "130"));
  }
  CHECK(has(run_program({"inspect", "--help"}).out, "--values"));
  CHECK(has(run_program({"checkpoints", "--help"}).out, "A deleted checkpoint cannot be brought back"));
  CHECK(has(run_program({"train", "--help", "run"}).out, "run.save_checkpoints_steps"));
  CHECK(run_program({"--version"}).out == "troupe " TROUPE_VERSION "\n");
  const auto nothing = run_program({});
  CHECK(nothing.status == 2);
  CHECK(has(nothing.err, "Usage: troupe COMMAND"));
}

}  // namespace troupe::cli
