#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/checkpoints.hpp>
#include <troupe/delete_checkpoints.hpp>
#include <troupe/estimator.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace troupe {

using namespace test;

namespace {

/// A job of four steps that saved at steps 2 and 4.
struct kept_job {
  kept_job() {
    const auto data = *dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {12, 4})}},
                                             {{"y", tensor::zeros(dtype::int32, {12})}});
    const estimator e{dnn_classifier({.hidden_units = {5}, .classes = 3}),
                      {.model_dir = path, .save_checkpoints_steps = 2}};
    const auto result = train(e, {.input = data.batch(4).repeat(), .max_steps = 4});
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  }
  temporary_directory directory;
  std::string path = directory / "m";
};

int64_t step_of(const expected<std::map<std::string, tensor>>& variables) {
  REQUIRE_MESSAGE(variables.has_value(), (variables ? "" : to_text(variables.error())));
  return variables->at("global_step").as<int64_t>()[0];
}

void damage_file(const std::string& path) {
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(-1, std::ios::end);
  file.put('?');
}

}  // namespace

TEST_CASE_FIXTURE(kept_job, "the newest checkpoint is the one that the state file names") {
  CHECK(find_checkpoint(path) == path + "/model.ckpt-4");
  REQUIRE(delete_checkpoints(path, {{4}}, {.newest_too = true}));
  CHECK(find_checkpoint(path) == path + "/model.ckpt-2");
  REQUIRE(delete_checkpoints(path, {{0}, {2}}, {.newest_too = true}));
  CHECK(find_checkpoint(path).error()
        == error{errc::not_found, path + " holds no checkpoint that its state file names"});
  CHECK(find_checkpoint(path + "/none").error()
        == error{errc::not_found, path + "/none does not exist, and neither does a checkpoint in it"});
  CHECK_FALSE(std::filesystem::exists(path + "/none"));
}

TEST_CASE("a directory of TensorFlow's is told to be converted, whatever is asked of it") {
  const temporary_directory directory;
  const auto path = directory / "tf";
  std::filesystem::copy(TROUPE_GOLDEN_DIR "/tensorflow-v2/estimator", path);
  const auto said = [](const auto& found) { return found ? std::string{} : to_text(found.error()); };
  for (const auto& text : {said(find_checkpoint(path)), said(find_checkpoint(path, checkpoint_ref::best())),
                           said(load_variables(path)), said(load_variables(path, checkpoint_ref::of_step(6)))}) {
    CAPTURE(text);
    CHECK(text.starts_with("failed_precondition: " + path + "/model.ckpt-"));
    CHECK(has(text, " is a TensorFlow checkpoint: `troupe convert " + path + " NEW_DIRECTORY` makes one of it"));
  }
  std::filesystem::remove(path + "/model.ckpt-12.index");
  std::filesystem::remove(path + "/model.ckpt-6.index");
  CHECK(has(said(find_checkpoint(path)), "holds no checkpoint that its state file names"));
}

TEST_CASE_FIXTURE(kept_job,
                  "variables are tensors by name, of the newest step or of another, with the optimizer's slots") {
  const auto variables = load_variables(path);
  CHECK(step_of(variables) == 4);
  CHECK(variables->at("dnn/hiddenlayer_0/kernel").dims() == shape{4, 5});
  CHECK(variables->at("dnn/hiddenlayer_0/kernel").type() == dtype::float32);
  CHECK(variables->at("dnn/logits/bias/Adam").dims() == shape{3});
  CHECK(step_of(load_variables(path, checkpoint_ref::of_step(2))) == 2);
  CHECK_MESSAGE(step_of(load_variables(path + "/model.ckpt-2")) == 2, "the prefix that listeners are told");
  const auto bytes = inspect_checkpoint(path + "/model.ckpt-4", {.values = true});
  REQUIRE(bytes);
  CHECK(bytes->tensors.size() == variables->size());
  for (const auto& t : bytes->tensors) {
    const auto value = variables->at(t.name).bytes();
    CHECK(*t.value == std::string(reinterpret_cast<const char*>(value.data()), value.size()));
  }
}

TEST_CASE_FIXTURE(kept_job,
                  "a step that is absent, or damaged, is an error that names it, and no other step takes its place") {
  CHECK(load_variables(path, checkpoint_ref::of_step(3)).error()
        == error{errc::not_found, "there is no " + path + "/model.ckpt-3.manifest.json; " + path
                                      + " holds model.ckpt-0, model.ckpt-2, model.ckpt-4"});
  CHECK(load_variables(path + "/none").error().category == errc::not_found);
  damage_file(path + "/model.ckpt-4-00000-of-00001.safetensors");
  const auto damaged = load_variables(path);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().category == errc::data_loss);
  CHECK(has(damaged.error().message, "model.ckpt-4-00000-of-00001.safetensors"));
  CHECK(step_of(load_variables(path, checkpoint_ref::of_step(2))) == 2);
}

}  // namespace troupe
