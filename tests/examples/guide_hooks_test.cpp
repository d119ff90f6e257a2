// The programs of docs/guide/hooks.md and docs/guide/test.md. The pages quote their output; this test also runs them
// under sanitizers.
#include "tests/examples/example_program.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE(
    "the guide's hooks see the steps that they asked for, hear of every save, and end the job at an evaluated state") {
  temporary_directory directory;
  example_program program{{EXAMPLE_GUIDE_HOOK_ORDERS, directory / "model"}};
  CHECK(program.finish() == 0);
  const auto& said = program.text();
  CAPTURE(said);
  CHECK(has(said, "step 100: loss 0."));
  CHECK(has(said, "checkpoint of step 0: "));
  CHECK(has(said, "checkpoint of step 150: "));
  CHECK(has(said, "saved " + (directory / "model/model.ckpt-150")));
  CHECK(has(said, "from step 200 on learning rates are multiplied by 0.1"));
  const auto ended = said.find("stopped at step ");
  REQUIRE(ended != std::string::npos);
  const auto step = std::stoll(said.substr(ended + 16));
  CHECK(step % 150 == 0);
  CHECK(step < 900);
  CHECK(has(said, "evaluated step " + std::to_string(step)));
  const auto next = (step / 100 + 1) * 100;
  CHECK_FALSE(has(said, "step " + std::to_string(next) + ": loss"));

  example_program again{{EXAMPLE_GUIDE_HOOK_ORDERS, directory / "model"}};
  CHECK(again.finish() == 0);
  CAPTURE(again.text());
  CHECK(has(again.text(), "started at step " + std::to_string(step)));
  const auto first = again.text().find(": loss");
  REQUIRE(first != std::string::npos);
  CHECK(again.text().substr(0, first).ends_with("step " + std::to_string(next)));
  CHECK_FALSE(has(again.text(), "multiplied by 0.1"));  // It is in the checkpoint.
}

TEST_CASE("the guide's tests of a model, a hook and an input hold") {
  example_program program{{EXAMPLE_GUIDE_OWN_TESTS}};
  CHECK_MESSAGE(program.finish() == 0, program.text());
  CHECK(has(program.text(), "all hold"));
  CHECK_FALSE(has(program.text(), "FAILED"));
}

}  // namespace troupe::test
