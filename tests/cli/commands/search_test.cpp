// troupe search as a process: its help, and what it refuses before it runs.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

namespace troupe::cli {

using test::has;

namespace {

/// A project with a configuration of a search beside that of a training.
struct search_project : small_project {
  explicit search_project(const std::string& more = "") {
    std::ofstream{searched()} << "[search.generator]\nkind = \"linear\"\n[head]\ntype = \"multi_class_head\"\nclasses "
                                 "= 10\n[input]\ndata = \""
                              << path("data") << "\"\nbatch_size = 32\n[run]\nmodel_dir = \"" << path("model") << "\"\n"
                              << more;
  }
  std::string searched() const { return path("search.toml"); }
  outcome search(std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"search", "--config", searched()};
    all.insert(all.end(), more.begin(), more.end());
    return run_program(std::move(all));
  }
};

void refused(const outcome& done, const std::string& message) {
  CHECK(done.status == 2);
  CHECK_MESSAGE(has(done.err, message), done.err);
  CHECK(done.err.starts_with("error: "));
}

}  // namespace

TEST_CASE("troupe search has the flags of troupe train, two of its own, and the keys of [search]") {
  const auto help = run_program({"search", "--help"});
  CHECK(help.status == 0);
  CHECK(help.err == "");
  for (const char* flag : {"--config", "--set", "--model-dir", "--data", "--max-steps", "--epochs", "--batch-size",
                           "--seed", "--max-iterations", "--max-iteration-steps", "--json", "--quiet", "Exit status:"})
    CHECK_MESSAGE(has(help.out, flag), flag);
  CHECK(std::count(help.out.begin(), help.out.end(), '\n') <= 50);
  CHECK_FALSE(has(run_program({"train", "--help"}).out, "--max-iterations"));
  CHECK(has(run_program({"search", "--help", "search"}).out, "search.ensemblers[].adanet_lambda"));
  CHECK(run_program({"help", "search"}).out == help.out);
  CHECK(has(run_program({"--help"}).out, "\n  search "));
}

TEST_CASE("a configuration of the other command is refused with the name of the right one") {
  const search_project project;
  refused(
      run_program({"train", "--config", project.searched(), "--max-steps", "8"}),
      "search.toml:2: search.generator.kind belongs to a search, which troupe search runs: a search has no [model] to "
      "train or to check");
  refused(run_program(project.command("search", {"--max-steps", "8"})),
          "there is no [search] to say what to search: a [model] is trained by troupe train, not by troupe search");
  refused(run_program({"inspect", "--config", project.searched()}), "search.toml configures a search");
  refused(run_program({"search", "--max-steps", "8"}), "there is no [search] to say what to search");
  refused(run_program({"serach"}), "unknown command serach; did you mean search?");
}

TEST_CASE("a wrong flag or key of a search is refused before anything runs, and with --json as an event too") {
  const search_project project;
  refused(project.search(),
          "run.max_steps is missing: nothing says when to end; give --max-steps N or --epochs N, or "
          "--max-iterations N with --max-iteration-steps N");
  refused(project.search({"--max-iterations", "0"}),
          "--max-iterations: search.max_iterations must be a whole number of "
          "at least 1, or \"none\", not '0'");
  refused(project.search({"--max-iteration", "3"}), "unknown flag --max-iteration; did you mean --max-iterations?");
  refused(run_program(project.train({"--max-iterations", "3"})), "unknown flag --max-iterations");
  refused(project.search({"--max-steps", "8", "--set", "model.hidden_units=3"}),
          "--set: model.hidden_units belongs to troupe train");
  const auto event = project.search({"--json", "--set", "search.strategies=grow,shrink"});
  refused(event, "--set: search.strategies must be a list of some of grow, solo, all, not 'grow,shrink'");
  REQUIRE(event.events().size() == 1);
  CHECK(event.events()[0]["event"] == "failed");
  CHECK_FALSE(std::filesystem::exists(project.path("model")));
}

TEST_CASE("data of a search that are not there are an error that names the package with them") {
  const search_project project;
  const auto result = project.search({"--max-steps", "8", "--data", project.path("elsewhere")});
  CHECK(result.status == 1);
  CHECK(has(result.err, "elsewhere/train-images-idx3-ubyte"));
  CHECK(has(result.err, "dataset-fashion-mnist"));
}

}  // namespace troupe::cli
