// The program runs troupe convert, inspects TensorFlow's directories, and reads [warm_start] from a configuration.
#include "tests/cli/program.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace troupe::cli {

using test::has;

namespace {

const std::string golden = TROUPE_SOURCE_ROOT "/tests/golden/tensorflow-v2";

}  // namespace

TEST_CASE_FIXTURE(
    small_project,
    "an Estimator's model directory is inspected, converted, and written back, and nothing is overwritten") {
  const auto shown = run_program({"inspect", golden + "/estimator", "--verify"});
  CHECK(shown.status == 0);
  CHECK(has(shown.out, "2 checkpoints, the newest of step 6, all whole"));
  CHECK(has(shown.out, "listed, TensorFlow's"));
  CHECK(run_program({"inspect", golden + "/types.index"}).status == 0);
  CHECK(has(run_program({"inspect", golden + "/types"}).out, "bfloat16"));

  const auto done = run_program({"convert", golden + "/estimator", path("mine")});
  CHECK_MESSAGE(done.status == 0, done.err);
  CHECK(has(done.out, "estimator/model.ckpt-6 (tensorflow), step 6, to " + path("mine/model.ckpt-6") + " (troupe)\n"));
  CHECK(has(done.out, "left out: dnn/head/beta1_power: Troupe computes this power from the step\n"));
  CHECK(run_program({"inspect", path("mine"), "--verify"}).status == 0);
  const auto twelfth = run_program({"convert", golden + "/estimator", path("twelfth"), "--step", "12", "--json"});
  CHECK(nlohmann::json::parse(twelfth.out)["step"] == 12);

  const auto again = run_program({"convert", golden + "/estimator", path("mine")});
  CHECK(again.status == 1);
  CHECK(has(again.err, "holds checkpoints already"));
  CHECK(run_program({"convert", path("mine"), path("back")}).status == 0);
  CHECK(has(run_program({"inspect", path("back/model.ckpt-6")}).out, "beta2_power"));
  CHECK(run_program({"convert", path("mine"), path("like"), "--like", golden + "/estimator"}).status == 0);
  CHECK(has(run_program({"inspect", path("like/model.ckpt-6")}).out, "dnn/logits/kernel/t_0/Adam_1"));
  CHECK(run_program({"convert", path("mine"), path("w.safetensors")}).status == 0);
  CHECK(run_program({"inspect", path("w.safetensors")}).status == 0);
}

TEST_CASE_FIXTURE(small_project, "convert says what is misuse: flags, formats, numbers and paths") {
  const auto misuse = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "convert");
    const auto result = run_program(std::move(arguments));
    CHECK(result.status == 2);
    return result.err;
  };
  CHECK(has(misuse({}), "convert takes FROM and TO"));
  CHECK(has(misuse({"a"}), "convert takes FROM and TO"));
  CHECK(has(misuse({"a", "b", "c"}), "unexpected argument 'c': convert takes FROM TO"));
  CHECK(has(misuse({"a", "b", "--format", "tensorflw"}),
            "--format must be troupe, tensorflow or safetensors, not 'tensorflw'; did you mean tensorflow?"));
  CHECK(has(misuse({"a", "b", "--step", "x"}), "--step must be a whole number of at least 0, not 'x'"));
  CHECK(has(misuse({"a", "b", "--beta1", "1"}), "--beta1 must be a number in [0, 1), not '1'"));
  CHECK(has(misuse({"a", "b", "--formt", "x"}), "unknown flag --formt; did you mean --format?"));
  CHECK(run_program({"convert", path("none"), path("b")}).status == 1);
  CHECK(has(run_program({"convert", "--help"}).out, "place in TO is listed with the reason"));
}

TEST_CASE_FIXTURE(
    small_project,
    "a job begins with the variables that [warm_start] names, of a run of ours and of what it was converted to") {
  REQUIRE(run_program(train({"--max-steps", "8"})).status == 0);
  REQUIRE(run_program({"convert", path("model"), path("tf")}).status == 0);
  const auto kernel = [&](const std::string& run, int64_t step) {
    const auto shown = nlohmann::json::parse(
        run_program({"inspect", path(run + "/model.ckpt-" + std::to_string(step)), "--json", "--values"}).out);
    for (const auto& t : shown["tensors"])
      if (t["name"] == "dnn/logits/kernel")
        return t["base64"].get<std::string>();
    return std::string{};
  };
  for (const std::string from : {"model", "tf"}) {
    const auto begun = run_program(train({"--max-steps", "1", "--seed", "99", "--model-dir", path("from_" + from),
                                          "--set", "warm_start.ckpt_to_initialize_from=" + path(from)}));
    CHECK_MESSAGE(begun.status == 0, begun.err);
    CHECK(has(begun.out, ": a warm start with "));
    CHECK(kernel("from_" + from, 0) == kernel("model", 8));
  }
  const auto evaluated = run_program(
      evaluate({"--model-dir", path("nothing"), "--set", "warm_start.ckpt_to_initialize_from=" + path("tf")}));
  CHECK_MESSAGE(evaluated.status == 0, evaluated.err);
  const auto without = run_program(evaluate({"--model-dir", path("nothing")}));
  CHECK(without.status == 1);
  const auto there = run_program(train({"--max-steps", "9", "--model-dir", path("tf")}));
  CHECK(there.status == 1);
  CHECK(has(there.err, "tf/model.ckpt-8 is a TensorFlow checkpoint: `troupe convert "));
}

TEST_CASE_FIXTURE(small_project,
                  "a [warm_start] that cannot be is refused with its line, and a key that does not exist with the one "
                  "that is meant") {
  const auto refused = [&](const std::string& text) {
    std::ifstream before{config()};
    const std::string whole{std::istreambuf_iterator<char>{before}, {}};
    std::ofstream{path("other.toml")} << whole << "\n" << text;
    const auto result = run_program(
        {"train", "--config", path("other.toml"), "--max-steps", "1", "--model-dir", path("new")});
    CHECK(result.status == 2);
    return result.err;
  };
  CHECK(has(refused("[warm_start]\nfreeze = true\n"), "warm_start.ckpt_to_initialize_from is missing"));
  CHECK(has(refused("[warm_start]\nckpt_to_initialise_from = \"x\"\n"),
            "did you mean warm_start.ckpt_to_initialize_from?"));
  const std::string from = "[warm_start]\nckpt_to_initialize_from = \"x\"\n";
  CHECK(has(refused(from + "vars_to_warm_start = \"a(\"\n"),
            "warm_start.vars_to_warm_start: 'a(' is no regular expression"));
  CHECK(has(refused(from + "[[warm_start.names]]\nvariable = \"a\"\n"),
            "warm_start.names[0].previous is missing: what does the checkpoint call 'a'?"));
  CHECK(has(refused(from + "[[warm_start.names]]\nprevious = \"a\"\n"),
            "warm_start.names[0].variable is missing: which variable is meant?"));
  CHECK(has(refused(from
                    + "[[warm_start.names]]\nvariable = \"a\"\nprevious = \"b\"\n[[warm_start.names]]\nvariable = "
                      "\"a\"\nprevious = \"c\"\n"),
            "warm_start.names[1].variable: 'a' is given twice"));
  CHECK(has(refused(from + "[[warm_start.vocabularies]]\nvariable = \"a\"\nnew_words = [\"x\"]\n"),
            "warm_start.var_name_to_vocab_info['a'] needs old_vocab or old_words"));
  const auto nowhere = run_program(train(
      {"--max-steps", "1", "--model-dir", path("new"), "--set", "warm_start.ckpt_to_initialize_from=" + path("gone")}));
  CHECK(nowhere.status == 1);
  CHECK(has(nowhere.err, "warm_start.ckpt_to_initialize_from: there is no checkpoint " + path("gone")));
}

}  // namespace troupe::cli
