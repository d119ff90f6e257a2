// Networks whose layers a configuration lists, from training to predictions, and the configurations in examples/.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>

namespace troupe::cli {

using test::has;

namespace {

/// A small project whose model is a convolutional network.
struct network_project : small_project {
  std::string network = path("network.toml");

  explicit network_project(const std::string& second = "{type = \"max_pool\", size = 4}") {
    std::ofstream{network}
        << "[model]\ntype = \"sequential_classifier\"\nclasses = 10\ninput_shape = [28, 28, 1]\n"
        << "layers = [{type = \"conv2d\", filters = 4, kernel_size = 5, strides = 2, activation = \"relu\"},\n  "
        << second << ",\n"
        << "  {type = \"batch_norm\"}, {type = \"dropout\", rate = 0.2}]\n"
        << "[input]\ndata = \"" << path("data") << "\"\nbatch_size = 32\n[run]\nmodel_dir = \"" << path("model")
        << "\"\nseed = 3\nsave_checkpoints_steps = 8\nlog_step_count_steps = 4\n[evaluate]\nbatch_size = "
           "32\nthrottle_secs = 0\n";
  }
  outcome run(const std::string& command, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{command, "--config", network};
    all.insert(all.end(), more.begin(), more.end());
    return run_program(std::move(all));
  }
};

}  // namespace

TEST_CASE_FIXTURE(network_project,
                  "a network of a file is trained, evaluated, predicted from and inspected by that file") {
  const auto trained = run("train", {"--epochs", "8", "--json"});
  REQUIRE_MESSAGE(trained.status == 0, trained.err);
  const auto last = trained.events().back();
  CHECK(last["global_step"] == 64);
  CHECK(last["metrics"]["loss"].get<double>() < 2.2);  // A guess among ten classes gives 2.3.
  CHECK(last["seconds"].get<double>() > 0);
  const auto evaluated = run("evaluate", {"--json"});
  REQUIRE(evaluated.status == 0);
  CHECK(evaluated.events().at(0)["metrics"] == last["metrics"]);
  const auto predicted = run("predict", {"--keys", "class_ids", "--limit", "3"});
  CHECK(predicted.status == 0);
  CHECK(predicted.out.starts_with("class_ids\n"));
  const auto shown = run_program({"inspect", path("model") + "/model.ckpt-64"});
  for (const char* name : {"conv2d/kernel", "conv2d/bias", "batch_norm/moving_mean", "logits/kernel"})
    CHECK(has(shown.out, name));
  const auto program = run("inspect", {"--program"});
  CHECK(program.status == 0);
  CHECK(has(program.out, "max_pool"));
}

TEST_CASE_FIXTURE(network_project,
                  "a network that was stopped goes on bit for bit, its moving statistics and its dropout included") {
  program running{{"train", "--config", network, "--max-steps", "100000000", "--set",
                   "save_checkpoints_steps=100000000", "--json"}};
  REQUIRE(running.wait_for("\"progress\""));
  running.send(SIGINT);
  const auto stopped = running.finish();
  REQUIRE(stopped.status == 130);
  const auto at = stopped.events().back()["global_step"].get<int64_t>();
  const auto end = std::to_string(at + 11);
  REQUIRE(run("train", {"--max-steps", end, "--quiet"}).status == 0);
  REQUIRE(run("train", {"--max-steps", end, "--quiet", "--set", "save_checkpoints_steps=100000000", "--model-dir",
                        path("whole")})
              .status
          == 0);
  const auto bits = parameters("whole", at + 11);
  CHECK(has(bits, "batch_norm/moving_variance"));
  CHECK((parameters("model", at + 11) == bits));
}

TEST_CASE("a layer that does not fit the data is told with file, line, number, type and both shapes") {
  const network_project wrong{"{type = \"max_pool\", size = 13}"};
  const auto refused = wrong.run("train", {"--max-steps", "8"});
  CHECK(refused.status == 2);
  CHECK_MESSAGE(has(refused.err, "error: " + wrong.network
                                     + ":6: model.layers[1] (max_pool): max_pool: a window of {13, 13}, dilation {1, "
                                       "1}, does not fit float32 [batch, 12, 12, 4]"),
                refused.err);
  const network_project flat;
  const auto shaped = flat.run("train", {"--max-steps", "8", "--set", "model.input_shape=28,27"});
  CHECK(shaped.status == 2);
  CHECK(has(shaped.err, "an input_shape of [28, 27] does not hold the 784 numbers of an example"));
}

TEST_CASE("the tutorials in examples/tutorials/ search and are evaluated on data of their kind") {
  const small_project project;
  int64_t count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator{std::string{TROUPE_SOURCE_ROOT} + "/examples/tutorials"}) {
    CAPTURE(file.path().string());
    ++count;
    const auto run = [&](std::string command, std::vector<std::string> more = {}) {
      std::vector<std::string> all{std::move(command),
                                   "--config",
                                   file.path(),
                                   "--model-dir",
                                   project.path(file.path().stem().string()),
                                   "--set",
                                   "input.data=" + project.path("data"),
                                   "--set",
                                   "input.batch_size=4"};
      all.insert(all.end(), more.begin(), more.end());
      return run_program(all);
    };
    const auto searched = run("search",
                              {"--set", "search.max_iteration_steps=2", "--set", "run.save_checkpoints_steps=2"});
    CHECK_MESSAGE(searched.status == 0, searched.err);
    CHECK(has(searched.out, "winner in iteration"));
    const auto evaluated = run("evaluate");
    CHECK_MESSAGE(evaluated.status == 0, evaluated.err);
    CHECK(has(evaluated.out, "accuracy"));
  }
  CHECK(count == 3);
}

TEST_CASE("the configurations in examples/ are planned on data of their kind") {
  const small_project project;
  int64_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator{std::string{TROUPE_SOURCE_ROOT} + "/examples"}) {
    if (file.path().extension() != ".toml" || file.path().stem() == "fashion_mnist_search")
      continue;  // A search has no program of its own: each of its iterations has several.
    CAPTURE(file.path().string());
    ++count;
    const auto planned = run_program({"inspect", "--config", file.path(), "--program", "--set",
                                      "input.data=" + project.path("data"), "--set", "input.batch_size=32"});
    CHECK_MESSAGE(planned.status == 0, planned.err);
    CHECK(has(planned.out, "kernels"));
  }
  CHECK(count >= 3);
}

}  // namespace troupe::cli
