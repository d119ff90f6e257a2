#include "storage/exports/export_json.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/exports/exporting_case.hpp"
#include "tests/support/delegating_file_system.hpp"
#include "tests/support/has.hpp"
#include "tests/support/refused.hpp"

#include <troupe/exporter.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {

using namespace test;

TEST_CASE("[EST-66] losses 0.5, 0.6, 0.4 are two exports; after a restart 0.45 is none") {
  exporting_case c;
  const auto best = best_exporter();
  CHECK(best.name == "best_exporter");
  const auto first = c.run(best, with_loss(0.5)), second = c.run(best, with_loss(0.6)),
             third = c.run(best, with_loss(0.4));
  CHECK(first);
  CHECK_FALSE(second);
  REQUIRE(third);
  CHECK(c.exports("best_exporter") == std::vector<std::string>{*first, *third});
  CHECK(opened(*third).evaluation().at("loss") == 0.4);
  // An exporter keeps nothing in memory: each of these runs could be one after a restart.
  CHECK_FALSE(c.run(best_exporter(), with_loss(0.45)));
  CHECK_FALSE(c.run(best_exporter(), with_loss(0.4)));
  CHECK(c.run(best_exporter(), with_loss(0.39)));
}

TEST_CASE(
    "[EST-66] a process that died after its export and before it noted the best one is not asked to do better than an "
    "older best") {
  exporting_case c;
  c.run(best_exporter(), with_loss(0.5));
  c.in.files = faulty_file_system::around(posix_file_system());
  static_cast<faulty_file_system&>(*c.in.files)
      .inject({.operation = file_operation::create, .path_contains = "best.json"});
  const auto died = run_exporter(c.in, best_exporter(), c.e, c.how, with_loss(0.3));
  REQUIRE_FALSE(died);
  CHECK(c.exports("best_exporter").size() == 2);
  c.in.files = posix_file_system();
  CHECK_FALSE(c.run(best_exporter(), with_loss(0.4)));
  CHECK(c.run(best_exporter(), with_loss(0.2)));
}

TEST_CASE(
    "[EST-66] the next process notes the best export of one that died before it did, and removes the exports beyond "
    "those that are kept") {
  exporting_case c;
  auto best = best_exporter();
  best.exports_to_keep = 2;
  const auto note = [&] {
    const auto path = c.directory / "run/export/best_exporter/best.json";
    return parse_best_json(*read_file(*posix_file_system(), path), path)->metrics.at("loss");
  };
  c.run(best, with_loss(0.5));
  const auto second = c.run(best, with_loss(0.4));
  c.in.files = faulty_file_system::around(posix_file_system());
  static_cast<faulty_file_system&>(*c.in.files)
      .inject({.operation = file_operation::create, .path_contains = "best.json"});
  REQUIRE_FALSE(run_exporter(c.in, best, c.e, c.how, with_loss(0.3)));
  c.in.files = posix_file_system();
  CHECK(c.exports("best_exporter").size() == 3);
  CHECK(note() == 0.4);
  // A command that is started again evaluates the same checkpoint. Its loss is no better than that of the existing
  // export.
  auto again = with_loss(static_cast<double>(0.3f));  // Event files store float32.
  again.again = true;
  CHECK_FALSE(c.run(best, again));
  CHECK(note() == 0.3);
  const auto left = c.exports("best_exporter");
  REQUIRE(left.size() == 2);
  CHECK(left.front() == *second);
  CHECK(opened(left.back()).evaluation().at("loss") == 0.3);
}

TEST_CASE(
    "exports that somebody removes with all that is beside them, between an export and the note of the best one, are "
    "made anew") {
  struct swept final : delegating_file_system {
    explicit swept(std::string from) : delegating_file_system(posix_file_system()), directory(std::move(from)) {}
    expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override {
      const bool now = path.ends_with("best.json.tmp") && !std::exchange(done, true);
      if (now && !is_late)
        std::filesystem::remove_all(directory);
      auto made = delegating_file_system::create_new(path);
      if (now && is_late)
        std::filesystem::remove_all(directory);
      return made;
    }
    std::string directory;
    bool is_late = false, done = false;
  };
  for (const bool is_late : {false, true}) {
    exporting_case c;
    const auto files = std::make_shared<swept>(c.directory / "run/export");
    files->is_late = is_late;
    c.in.files = files;
    const auto path = c.run(best_exporter(), with_loss(0.5));
    REQUIRE(path);
    CHECK(files->done);
    CHECK(opened(*path).evaluation().at("loss") == 0.5);
    CHECK(c.exports("best_exporter") == std::vector<std::string>{*path});
    CHECK(posix_file_system()->info(c.directory / "run/export/best_exporter/best.json"));
  }
}

TEST_CASE("a state file of the best exporter that is damaged is an error, which names it, and no export") {
  exporting_case c;
  REQUIRE(posix_file_system()->create_directories(c.directory / "run/export/best_exporter"));
  REQUIRE(write_file_atomically(*posix_file_system(), c.directory / "run/export/best_exporter", "best.json", "{}"));
  refused(run_exporter(c.in, best_exporter(), c.e, c.how, with_loss(0.3)), errc::data_loss,
          "export/best_exporter/best.json: it is not a troupe best export");
  CHECK(c.exports("best_exporter").empty());
}

TEST_CASE("the decision of the best exporter looks at its metric in its direction, and NaN is never better") {
  const auto best = best_exporter("b", {.metric = "accuracy", .smaller_is_better = false});
  CHECK(best.decide({.metrics = {{"accuracy", 0.5}}}, {}) == true);
  CHECK(best.decide({.metrics = {{"accuracy", 0.6}}}, metrics{{"accuracy", 0.5}}) == true);
  CHECK(best.decide({.metrics = {{"accuracy", 0.5}}}, metrics{{"accuracy", 0.5}}) == false);
  CHECK(best.decide({.metrics = {{"accuracy", 0.4}}}, metrics{{"accuracy", 0.5}}) == false);
  CHECK(best.decide({.metrics = {{"accuracy", std::nan("")}}}, {}) == false);
  CHECK(best.decide({.metrics = {{"accuracy", std::nan("")}}}, metrics{{"accuracy", 0.5}}) == false);
}

TEST_CASE(
    "[EST-67] results without the loss are refused by the best exporter, and a comparison takes the best and then the "
    "current result") {
  const auto lacking = best_exporter().decide({.metrics = {{"accuracy", 0.5}, {"auc", 0.7}}}, {});
  refused(lacking, errc::invalid_argument,
          "the exporter 'best_exporter' compares 'loss', and the evaluation has accuracy, auc");
  refused(best_exporter().decide({.metrics = {{"loss", 0.5}}}, metrics{{"auc", 0.7}}), errc::invalid_argument,
          "and the best evaluation so far has auc");
  exporter own{.name = "own", .rule = export_rule::best};
  own.better = [](const metrics& best, const metrics& current) { return current.at("f1") > best.at("f1") + 0.1; };
  CHECK(own.decide({.metrics = {{"f1", 0.75}}}, metrics{{"f1", 0.5}}) == true);
  CHECK(own.decide({.metrics = {{"f1", 0.55}}}, metrics{{"f1", 0.5}}) == false);
  CHECK(own.decide({.metrics = {{"f1", 0.1}}}, {}) == true);
  own.better = [](const metrics&, const metrics& current) { return current.at("none") > 0; };
  refused(own.decide({.metrics = {{"f1", 0.75}}}, metrics{{"f1", 0.5}}), errc::state,
          "an exception left the comparison of the exporter 'own'");
}

}  // namespace troupe
