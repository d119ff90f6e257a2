// Exports of words and of directory names that are not UTF-8.
#include "tests/exports/exported_case.hpp"
#include "tests/support/refused.hpp"

#include <troupe/exporter.hpp>

namespace troupe {

using namespace test;

TEST_CASE(
    "words that are not UTF-8 are refused by an export, and at its start by a job that would export hours later") {
  exported_case c;
  c.e.model.texts["kind"] = {"class_ids", {"a", "gr\xfc\xdf", "c"}};
  const std::string
      text = "the word 'gr\xef\xbf\xbd\xef\xbf\xbd' of 'kind' is not UTF-8, and an export needs its words to be";
  refused(export_model(c.e, c.how), errc::invalid_argument, text);
  const eval_spec plain{.input = small_dataset().batch(8), .throttle_secs = 0};
  auto exporting = plain;
  exporting.exporters = {latest_exporter()};
  refused(train_and_evaluate(c.e, small_training(9), exporting), errc::invalid_argument, text);
  CHECK_FALSE(posix_file_system()->info(c.directory / "run/export"));
  CHECK(train_and_evaluate(c.e, small_training(9), plain));
}

TEST_CASE(
    "an export of a model directory whose name is not UTF-8 has its checkpoint's name with the invalid bytes replaced, "
    "and stands when it is again") {
  exported_case c;
  const auto directory = c.directory / "r\xffn";
  std::filesystem::rename(c.directory / "run", directory);
  c.e.config.model_dir = directory;
  export_occasion occasion{.metrics = {{"loss", 0.5}}, .checkpoint = directory + "/model.ckpt-3"};
  const auto path = run_exporter({}, latest_exporter(), c.e, c.how, occasion);
  REQUIRE_MESSAGE(path, why(path));
  CHECK(opened(**path).checkpoint() == c.directory / "r\xef\xbf\xbdn/model.ckpt-3");
  occasion.again = true;
  CHECK(run_exporter({}, latest_exporter(), c.e, c.how, occasion) == path);
}

}  // namespace troupe
