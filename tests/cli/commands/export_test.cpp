// troupe export as a process, and troupe predict and inspect on its exports.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

namespace troupe::cli {

using test::has;

namespace {

std::string without_newline(std::string text) {
  REQUIRE(text.ends_with("\n"));
  text.pop_back();
  return text;
}

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{directory})
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// A project with checkpoints of steps 0, 32 and 64; those of 32 and 64 were evaluated.
struct trained_project : small_project {
  trained_project() {
    const auto trained = run_program(
        train({"--max-steps", "64", "--set", "optimizer.rate=0.01", "--set", "keep_best.metric=loss", "--set",
               "run.save_checkpoints_steps=32", "--set", "evaluate.throttle_secs=0", "--quiet"}));
    REQUIRE_MESSAGE(trained.status == 0, trained.err);
  }
  outcome exported(std::vector<std::string> more = {}) const { return run_program(command("export", std::move(more))); }
  /// The --set arguments that name the project's data, for a command without a configuration.
  std::vector<std::string> data_alone() const {
    std::vector<std::string> all;
    std::istringstream lines{contents(config())};
    std::string table;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("["))
        table = line.substr(1, line.find(']') - 1);
      else if ((table == "input" || table == "evaluate") && has(line, " = ")) {
        auto value = line.substr(line.find(" = ") + 3);
        std::erase(value, '"');
        all.insert(all.end(), {"--set", table + "." + line.substr(0, line.find(" = ")) + "=" + value});
      }
    }
    return all;
  }
};

}  // namespace

TEST_CASE(
    "export prints the path of a numbered directory, from which predict gives the same bytes without the "
    "configuration") {
  const trained_project project;
  const auto made = project.exported();
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK(made.err == "");
  const auto path = without_newline(made.out);
  CHECK(path.starts_with(project.path("model") + "/export/latest/"));
  CHECK(path.substr(path.rfind('/') + 1).find_first_not_of("0123456789") == std::string::npos);
  CHECK(names_in(path)
        == std::vector<std::string>{"graph.json", "manifest.json", "preparation.json", "signature.json",
                                    "weights.safetensors"});

  const auto before = run_program(project.command("predict", {"--quiet"}));
  std::vector<std::string> arguments{"predict", "--export", path, "--quiet"};
  for (const auto& a : project.data_alone())
    arguments.push_back(a);
  const auto after = run_program(arguments);
  CHECK_MESSAGE(after.status == 0, after.err);
  CHECK(after.out == before.out);
  CHECK(has(after.out, "class_ids"));
  const auto spoken = run_program(
      project.command("predict", {"--export", path, "--limit", "2", "--set", "model_dir=none"}));
  CHECK_MESSAGE(spoken.status == 0, spoken.err);
  CHECK(has(spoken.err, "2 results in "));
  CHECK(has(spoken.err, " from " + path + "\n"));
}

TEST_CASE("of a directory predict takes the newest export, and inspect lists them all") {
  const trained_project project;
  const auto older = without_newline(project.exported({"--step", "32"}).out);
  const auto newer = without_newline(project.exported({"--step", "64"}).out);
  const auto predicted = [&](const std::string& path) {
    const auto made = run_program(project.command("predict", {"--export", path, "--limit", "2"}));
    CHECK_MESSAGE(made.status == 0, made.err);
    CHECK(has(made.err, " from " + (path == older ? older : newer)));
    return made.out;
  };
  const auto from_newer = predicted(newer);
  CHECK(predicted(older) != from_newer);
  CHECK(predicted(project.path("model") + "/export/latest") == from_newer);
  CHECK(predicted(project.path("model")) == from_newer);
  const auto shown = nlohmann::json::parse(run_program({"inspect", project.path("model"), "--json"}).out);
  const auto inside = [&](const std::string& path) { return path.substr(project.path("model").size() + 1); };
  CHECK(shown.at("exports") == nlohmann::json{inside(older), inside(newer)});
  CHECK(has(run_program({"inspect", project.path("model")}).out,
            "2 exports\n  " + inside(older) + "\n  " + inside(newer) + "\n"));
}

TEST_CASE("export takes the checkpoint of --step, the best evaluated one, an output directory and assets") {
  const trained_project project;
  const auto step_of = [](const outcome& made) {
    REQUIRE_MESSAGE(made.status == 0, made.err);
    const auto shown = run_program({"inspect", without_newline(made.out), "--json"});
    CHECK(shown.status == 0);
    return nlohmann::json::parse(shown.out).at("global_step").get<int64_t>();
  };
  CHECK(step_of(project.exported({"--step", "32"})) == 32);
  CHECK(step_of(project.exported({"--checkpoint", project.path("model") + "/model.ckpt-32"})) == 32);
  CHECK(step_of(project.exported({"--step", "best"})) == 64);
  const auto made = project.exported(
      {"--output", project.path("exports"), "--asset", "lists/config.toml=" + project.config()});
  REQUIRE_MESSAGE(made.status == 0, made.err);
  const auto path = without_newline(made.out);
  CHECK(path.starts_with(project.path("exports") + "/"));
  CHECK(contents(path + "/assets.extra/lists/config.toml") == contents(project.config()));
}

TEST_CASE("evaluate, experiment and export say which damaged checkpoint they pass over") {
  const trained_project project;
  for (const auto& name : names_in(project.path("model")))
    if (name.starts_with("model.ckpt-64-"))
      std::filesystem::resize_file(project.path("model/" + name), 100);
  for (const auto& arguments :
       {project.command("evaluate", {}), project.command("export", {}), project.command("predict", {"--limit", "1"}),
        project.command("experiment",
                        {"--schedule", "evaluate", "--max-steps", "64", "--set", "experiment.eval_delay_secs=0"})}) {
    const auto result = run_program(arguments);
    CHECK_MESSAGE(result.status == 0, result.err);
    CHECK_MESSAGE(has(result.err, "warning: model.ckpt-64 is passed over: "), arguments.front(), result.err);
  }
}

TEST_CASE("export --onnx writes an ONNX file too, or says why not after the path of the export") {
  const trained_project project;
  const auto made = project.exported({"--onnx", project.path("model.onnx")});
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK(has(contents(project.path("model.onnx")), "probabilities"));
  const auto nowhere = project.exported({"--onnx", project.path("gone") + "/model.onnx"});
  CHECK(nowhere.status == 1);
  CHECK(nowhere.out.starts_with(project.path("model") + "/export/latest/"));
  CHECK(has(nowhere.err, project.path("gone")));
  CHECK(has(nowhere.err, nowhere.out.substr(0, nowhere.out.size() - 1) + " is exported all the same"));
}

TEST_CASE("export refuses what cannot be, with a status of 2 for misuse, and leaves nothing") {
  const trained_project project;
  const auto misused = [&](std::vector<std::string> more, const std::string& message) {
    const auto made = project.exported(std::move(more));
    CHECK(made.status == 2);
    CHECK(made.out == "");
    CHECK(has(made.err, message));
  };
  misused({"--step", "bets"},
          "--step: 'bets' names no checkpoint: it is newest, best, a step such as 390, or a path such as "
          "runs/fashion/model.ckpt-390");
  misused({"--evaluation", "nope"}, "there is no evaluation named 'nope'");
  misused({"--asset", "x"}, "--asset must be PATH=FILE, not 'x'");
  misused({"--asset", "x=a", "--asset", "x=b"}, "--asset x is given twice");
  misused({"--output", ""}, "--output must name a directory");
  misused({"--onnx", ""}, "--onnx must name a file");
  const auto failed = [&](std::vector<std::string> more, const std::string& message) {
    const auto made = project.exported(std::move(more));
    CHECK(made.status == 1);
    CHECK(made.out == "");
    CHECK(has(made.err, message));
  };
  failed({"--step", "5"}, "there is no checkpoint to export in " + project.path("model"));
  failed({"--model-dir", project.path("none")}, "there is no checkpoint to export in " + project.path("none"));
  failed({"--model-dir", project.path("none"), "--step", "best"}, project.path("none"));
  failed({"--asset", "x=" + project.path("gone")}, project.path("gone"));
  failed({"--asset", "../x=" + project.config()},
         "an extra asset needs a relative path without '.' and '..', not '../x'");
  CHECK(names_in(project.path("model") + "/export/latest").empty());
}

TEST_CASE("predict refuses an export that is none or damaged, and flags that would name another model") {
  const trained_project project;
  const auto path = without_newline(project.exported().out);
  const auto refused = [&](std::vector<std::string> more, int status, const std::string& message) {
    const auto predicted = run_program(project.command("predict", std::move(more)));
    CHECK(predicted.status == status);
    CHECK(predicted.out == "");
    CHECK(has(predicted.err, message));
  };
  refused({"--export", project.path("data")}, 1,
          project.path("data") + " is not an exported model: it has no graph.json");
  refused({"--export", path, "--step", "3"}, 2, "--step cannot be given together with --export");
  std::filesystem::resize_file(path + "/weights.safetensors",
                               std::filesystem::file_size(path + "/weights.safetensors") - 1);
  refused({"--export", path}, 1, path + "/weights.safetensors");
  const auto shown = run_program({"inspect", path});
  CHECK(shown.status == 1);
  CHECK(has(shown.out, path + "/weights.safetensors"));
}

TEST_CASE("inspect shows what an exported model takes and yields") {
  const trained_project project;
  const auto path = without_newline(project.exported().out);
  const auto shown = run_program({"inspect", path});
  CHECK(shown.status == 0);
  CHECK(has(shown.out, path + ": an exported model, "));
  CHECK(has(shown.out, "  from " + project.path("model") + "/model.ckpt-64\n"));
  CHECK(has(shown.out, "signature serving_default\n  takes   pixels "));
  CHECK(has(shown.out, "  yields  class_ids "));
  CHECK(has(shown.out, "dnn/logits/kernel"));
}

TEST_CASE("export --help names its flags") {
  const auto help = run_program({"export", "--help"});
  CHECK(help.status == 0);
  for (const auto* flag :
       {"--checkpoint newest|best|N|PATH", "--output DIR", "--onnx FILE", "--asset PATH=FILE", "--config FILE"})
    CHECK(has(help.out, flag));
  CHECK(has(run_program({"--help"}).out, "export       writes that checkpoint's model"));
}

}  // namespace troupe::cli
