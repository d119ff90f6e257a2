// The program runs troupe inspect and troupe checkpoints on the model directory of a finished job.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace troupe::cli {

using test::has;

namespace {

/// A project with checkpoints of steps 0, 8 and 16.
struct trained_project : small_project {
  trained_project() { REQUIRE(run_program(train({"--max-steps", "16"})).status == 0); }
  std::string model(const std::string& name = "") const { return path("model") + name; }
  nlohmann::json json_of(std::vector<std::string> arguments, int status = 0) const {
    arguments.push_back("--json");
    const auto result = run_program(std::move(arguments));
    CHECK(result.status == status);
    return nlohmann::json::parse(result.out);
  }
  void flip(const std::string& name, std::streamoff at) const {
    std::fstream file{model(name), std::ios::in | std::ios::out | std::ios::binary};
    file.seekg(at);
    const char c = static_cast<char>(file.get() ^ 1);
    file.seekp(at);
    file.put(c);
  }
};

}  // namespace

TEST_CASE_FIXTURE(trained_project, "inspect shows a directory, a checkpoint and its shard, for people and as JSON") {
  const auto directory = run_program({"inspect", model()});
  CHECK(directory.status == 0);
  CHECK(directory.err.empty());
  CHECK(has(directory.out, "3 checkpoints, the newest of step 16\n"));
  CHECK(json_of({"inspect", model()})["checkpoints"][1]["step"] == 8);
  const auto checkpoint = json_of({"inspect", model("/model.ckpt-16"), "--values"});
  CHECK(checkpoint["whole"] == true);
  const auto bytes = parameters("model", 16);
  const auto& first = checkpoint["tensors"][0];
  CHECK(first["bytes"].get<size_t>() * 4 <= first["base64"].get<std::string>().size() * 3);
  CHECK(has(bytes.substr(0, 4096), first["name"].get<std::string>()));
  CHECK(json_of({"inspect", model("/model.ckpt-16-00000-of-00001.safetensors")})["tensors"].size()
        == checkpoint["tensors"].size());
}

TEST_CASE_FIXTURE(trained_project,
                  "inspect shows several paths one after the other, as JSON in a list, and ends as the worst of them") {
  const auto both = run_program({"inspect", model("/model.ckpt-8"), model("/model.ckpt-16")});
  CHECK(both.status == 0);
  const auto first = run_program({"inspect", model("/model.ckpt-8")}).out,
             second = run_program({"inspect", model("/model.ckpt-16")}).out;
  CHECK(both.out == first + "\n" + second);
  const auto list = json_of({"inspect", model("/model.ckpt-8"), model("/model.ckpt-16")});
  REQUIRE(list.size() == 2);
  CHECK(list[0] == json_of({"inspect", model("/model.ckpt-8")}));
  CHECK(list[1] == json_of({"inspect", model("/model.ckpt-16")}));
  const auto partly = run_program({"inspect", model("/model.ckpt-9"), model("/model.ckpt-16")});
  CHECK(partly.status != 0);
  CHECK(has(partly.err, "model.ckpt-9"));
  CHECK(has(partly.out, second));
}

TEST_CASE_FIXTURE(trained_project, "what is damaged exits with 1, names file, tensor and offset, and shows the rest") {
  const auto offset = json_of({"inspect", model("/model.ckpt-8")})["tensors"][0]["offset"].get<int64_t>();
  flip("/model.ckpt-8-00000-of-00001.safetensors", offset + 1);
  CHECK(run_program({"inspect", model("/model.ckpt-8")}).status == 0);
  const auto verified = run_program({"inspect", model("/model.ckpt-8"), "--verify"});
  CHECK(verified.status == 1);
  CHECK(has(verified.out, "damaged: " + model("/model.ckpt-8-00000-of-00001.safetensors") + ", tensor "));
  CHECK(has(verified.out, ", offset " + std::to_string(offset) + ": has the checksum "));
  CHECK(has(verified.out, "global_step"));
  const auto all = json_of({"checkpoints", "verify", model()}, 1);
  CHECK(all["checkpoints"][0]["whole"] == true);
  CHECK(all["checkpoints"][1]["whole"] == false);
  CHECK(run_program({"checkpoints", "list", model()}).status == 0);
  CHECK(run_program({"checkpoints", "verify", model(), "16"}).status == 0);
  CHECK(run_program({"checkpoints", "verify", model(), "8"}).status == 1);
  std::ofstream{model("/model.ckpt-8.manifest.json"), std::ios::trunc} << "{\"format\": ";
  const auto cut = run_program({"inspect", model("/model.ckpt-8")});
  CHECK(cut.status == 1);
  CHECK(has(cut.out, "model.ckpt-8.manifest.json, offset 11: "));
  CHECK(has(cut.out, "global_step"));
}

TEST_CASE_FIXTURE(
    trained_project,
    "checkpoints delete takes steps, refuses the newest without --force, and a run goes on from what is left") {
  std::filesystem::create_directory(model() + "/checkpoint.tmp");
  const auto hindered = run_program({"checkpoints", "delete", model(), "0"});
  CHECK(hindered.status == 1);
  CHECK(has(hindered.err, "checkpoint.tmp: Is a directory"));
  CHECK_FALSE_MESSAGE(has(hindered.err, "--force"), hindered.err);
  std::filesystem::remove(model() + "/checkpoint.tmp");
  CHECK(run_program({"checkpoints", "delete", model(), "0"}).out == "deleted step 0\n");
  const auto newest = run_program({"checkpoints", "delete", model(), "16"});
  CHECK(newest.status == 1);
  CHECK(has(newest.err, "model.ckpt-16 is the newest checkpoint"));
  CHECK(has(newest.err, "--force"));
  const auto absent = run_program({"checkpoints", "delete", model(), "5"});
  CHECK(absent.status == 1);
  CHECK(has(absent.err, "no checkpoint of step 5"));
  CHECK(json_of({"checkpoints", "delete", model(), "16", "--force"})["deleted"] == nlohmann::json{16});
  CHECK(run_program(train({"--max-steps", "16", "--json"})).events().front()["global_step"] == 8);
}

TEST_CASE("lists mark the best checkpoint, and it is deleted with --force only: nothing takes its place") {
  const small_project project;
  // A loss that is better where it is greater makes the first checkpoint the best one.
  const auto run = run_program(project.train({"--max-steps", "16", "--set", "keep_best.metric=loss", "--set",
                                              "keep_best.smaller_is_better=false", "--set", "throttle_secs=0"}));
  REQUIRE_MESSAGE(run.status == 0, run.err);
  const auto best = run_program({"evaluate", project.path("model"), "--step", "best", "--json"}).events().back();
  const auto step = best["global_step"].dump();
  REQUIRE(step != "16");
  const auto listed = nlohmann::json::parse(run_program({"checkpoints", "list", project.path("model"), "--json"}).out);
  for (const auto& c : listed.at("checkpoints"))
    CHECK(c.at("best") == (c.at("step").dump() == step));
  CHECK(has(run_program({"checkpoints", "list", project.path("model")}).out, "  listed, the best\n"));
  const auto refused = run_program({"checkpoints", "delete", project.path("model"), step});
  CHECK(refused.status == 1);
  CHECK_MESSAGE(has(refused.err, "model.ckpt-" + step + " is the best checkpoint of "), refused.err);
  CHECK(has(refused.err, "--force deletes it all the same"));
  CHECK(run_program({"checkpoints", "delete", project.path("model"), step, "--force"}).status == 0);
}

TEST_CASE("while a job runs its directory can be inspected, its owner is named, and nothing can be deleted") {
  const small_project project;
  program running{project.train({"--max-steps", "100000000", "--set", "save_checkpoints_steps=100000000", "--json"})};
  REQUIRE(running.wait_for("\"progress\""));
  const std::string owner = "process " + std::to_string(running.id());
  const auto shown = run_program({"inspect", project.path("model"), "--verify"});
  CHECK(shown.status == 0);
  CHECK(has(shown.out, "in use by " + owner));
  const auto refused = run_program({"checkpoints", "delete", project.path("model"), "0", "--force"});
  CHECK(refused.status == 1);
  CHECK(has(refused.err, "in use by " + owner));
  running.send(SIGKILL);
  running.finish();
  CHECK_FALSE(has(run_program({"inspect", project.path("model")}).out, "in use"));
}

TEST_CASE("inspect shows the plan, the graphs and the program of a configuration, and leaves nothing behind") {
  const small_project project;
  const auto config = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"inspect", "--config", project.config()});
    return run_program(std::move(more));
  };
  CHECK(has(config({}).out, "infeed/0 => replica/0"));
  CHECK(config({"--plan"}).out == config({}).out);
  CHECK(has(config({"--graph", "train"}).out, "dnn/hiddenlayer_0/kernel"));
  CHECK(has(config({"--graph", "predict"}).out, "(predict)"));
  CHECK(config({"--dot"}).out.starts_with("digraph "));
  CHECK(has(config({"--program", "--graph", "evaluate"}).out, "dnn/logits/kernel"));
  CHECK(has(config({"--program"}).out, " FLOPs\n"));
  CHECK(has(config({"--profile", "--steps", "3"}).out, ", the mean of 3\n"));
  CHECK(nlohmann::json::parse(config({"--profile", "--graph", "predict", "--steps", "1", "--json"}).out)["mode"]
        == "predict");
  CHECK(nlohmann::json::parse(config({"--graph", "train", "--json", "--set", "model.hidden_units=2"}).out)["parameters"]
            .is_number());
  std::ifstream made{project.path("model")};
  CHECK_FALSE(made.is_open());
}

TEST_CASE("inspect lays a configuration out on hosts and cores, with its own batches or a given one") {
  const small_project project;
  const auto config = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"inspect", "--config", project.config()});
    return run_program(std::move(more));
  };
  const auto wide = config({"--hosts", "8", "--cores", "8", "--input-mode", "per_replica", "--batch", "1024"});
  CHECK(wide.status == 0);
  CHECK(has(wide.out,
            "64 replicas on 8 hosts of 8 cores, input mode per_replica\n"
            "train: 1024 rows a step; 8 inputs, each reads 8 batches of 16 rows; a replica gets 16\n"));
  CHECK(has(wide.out, "     7     7       63      7      7  0 to 15\n"));
  const auto own = nlohmann::json::parse(
      config({"--cores", "4", "--json", "--set", "input.batch_size=40", "--set", "evaluate.batch_size=20"}).out);
  CHECK(own["modes"][0]["batch"] == 40);
  CHECK(own["modes"][1]["batch"] == 20);
  CHECK(own["modes"][2]["batch"] == 20);
  const auto uneven = config({"--cores", "8", "--batch", "12"});
  CHECK(uneven.status == 2);
  CHECK(has(uneven.err, "train: a batch of 12 rows cannot be divided evenly among 8 replicas"));
  const auto others = config({"--cores", "8", "--batch", "16", "--set", "run.replicas=4"});
  CHECK(others.status == 2);
  CHECK(has(others.err, "replicas must be 8 or left out, not 4"));
  const auto partly = config({"--hosts", "2", "--batch", "16"});
  CHECK(partly.status == 0);
  CHECK(has(partly.out, "cannot evaluate: input mode per_host would read the data on each of 2 hosts"));
}

TEST_CASE("misuse of inspect and checkpoints exits with 2 and says what would be right") {
  const auto refused = [](std::vector<std::string> arguments, const std::string& part) {
    CAPTURE(part);
    const auto result = run_program(std::move(arguments));
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(has(result.err, part));
  };
  refused({"inspct", "x"}, "did you mean inspect?");
  refused({"inspect"}, "takes PATHs, or a --config");
  refused({"inspect", "a", "--verfy"}, "unknown flag --verfy; did you mean --verify?");
  refused({"inspect", "a", "b", "--dot"}, "--dot is about one PATH, the model directory of a search");
  const test::temporary_directory empty;
  refused({"inspect", empty.path, "--dot"},
          "--dot draws the model directory of a search, and " + empty.path + " is none");
  refused({"inspect", "a", "--values"}, "--values needs --json");
  refused({"inspect", "--config", "x", "--graph", "trian"}, "did you mean train?");
  refused({"inspect", "a", "--profile"}, "are about a --config");
  refused({"inspect", "--config", "x", "--steps", "3"}, "--steps is about --profile");
  refused({"inspect", "--config", "x", "--profile", "--steps", "0"},
          "--steps must be a whole number of at least 1, not '0'");
  refused({"inspect", "--config", "x", "--profile", "--program"}, "--profile cannot be given together with --program");
  refused({"inspect", "a", "--hosts", "2"}, "--hosts, --cores, --input-mode and --batch are about a --config");
  refused({"inspect", "--config", "x", "--hosts", "2", "--program"}, "cannot be given together with --plan");
  refused({"inspect", "--config", "x", "--cores", "0"}, "--cores must be a whole number of at least 1, not '0'");
  refused({"inspect", "--config", "x", "--input-mode", "per_hots"}, "did you mean per_host?");
  refused({"inspect", "/dev/null"}, "is neither a model directory nor a checkpoint");
  refused({"checkpoints"}, "takes list, verify or delete");
  refused({"checkpoints", "lits", "d"}, "did you mean list?");
  refused({"checkpoints", "list"}, "takes a model directory");
  refused({"checkpoints", "delete", "d"}, "takes the steps");
  refused({"checkpoints", "delete", "d", "newest"}, "not 'newest'");
  refused({"checkpoints", "delete", "d", "8-iteration-0"}, "as in 390-iteration-2, not '8-iteration-0'");
  refused({"checkpoints", "list", "d", "--force"}, "--force is about delete");
  const auto absent = run_program({"inspect", "/nowhere/at/all"});
  CHECK(absent.status == 1);
  CHECK(has(absent.err, "/nowhere/at/all"));
}

TEST_CASE("a signal ends a long look at once, with its status") {
  const small_project project;
  for (const auto& [signal, status] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    CAPTURE(status);
    program running{{"inspect", "--config", project.config(), "--profile", "--steps", "1000000000"}};
    // Waits until the program has blocked the signal: before that, the signal would kill it.
    for (bool takes = false; !takes;) {
      std::ifstream state{"/proc/" + std::to_string(running.id()) + "/status"};
      REQUIRE(state.is_open());
      for (std::string line; std::getline(state, line);)
        takes = takes
                || (line.starts_with("SigBlk:") && (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) == 1);
    }
    running.send(signal);
    CHECK(running.finish().status == status);
  }
}

}  // namespace troupe::cli
