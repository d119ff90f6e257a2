#include "ensemble/reports.hpp"

#include "ensemble/names.hpp"
#include "tests/support/refused.hpp"

#include <cmath>
#include <limits>

namespace troupe::test {

namespace {

using metrics = std::map<std::string, double>;

materialized_report named(std::string name) { return {.name = std::move(name)}; }

/// The names of reports, with a star for those that are included: "previous_ensemble, a*".
std::string report_names(const std::vector<materialized_report>& reports) {
  std::string text;
  for (const auto& r : reports)
    text += (text.empty() ? "" : ", ") + r.name + (r.included ? "*" : "");
  return text;
}

/// The architecture of a winner with one new member.
architecture winning(int64_t iteration, const std::string& builder) {
  return {.members = {{iteration, builder}}, .iteration = iteration};
}

expected<search_reports> read_back(const search_reports& all) {
  return parse_reports(reports_text(all), std::string{reports_file});
}

void damaged_reports(const std::string& report, const std::string& names) {
  refused(parse_reports(R"([{"iteration_number": 0, "subnetwork_reports": [)" + report + "]}]", "reports"),
          errc::data_loss, "reports: " + names);
}

iteration_specs specs_with(int64_t iteration, const std::vector<strategy>& strategies,
                           const std::vector<std::string>& ensemblers = {"mean"}) {
  std::optional<previous_ensemble> previous;
  if (iteration > 0)
    previous = previous_ensemble{"t0_a_grow_mean", 0, {"a_grow", "mean", {{0, "a"}}, {0}}};
  const auto specs = specs_of(iteration, {{"a"}, {"b"}}, previous, strategies, ensemblers);
  REQUIRE(specs);
  return *specs;
}

}  // namespace

TEST_CASE("[ADA-22.4 accessor] an empty file has no reports, and appended iterations are read in order") {
  const auto empty = parse_reports("", "reports");
  REQUIRE(empty);
  CHECK(empty->empty());
  search_reports all = *empty;
  for (int64_t t = 0; t < 3; ++t) {
    materialized_report r{.name = "dnn_" + std::to_string(t),
                          .hparams = {{"layers", t}, {"rate", .1}, {"bias", true}, {"activation", "relu"}},
                          .attributes = {{"width", 2.0}},
                          .metrics = {{"loss", -.5}}};
    put_reports(all, t, {named("previous_ensemble"), r}, winning(t, r.name));
    const auto read = read_back(all);
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(*read == all);
    CHECK(read->size() == static_cast<size_t>(t) + 1);
  }
}

TEST_CASE("[ADA-22.4 accessor] strange bytes and text in any language survive, as names, keys and values") {
  materialized_report r{.name = "größe", .metrics = {{"точность", 1.0}}};
  r.hparams = {{"bytes", std::string{"\xff\xfe\0\x80", 4}},
               {"日本", "こんにちは"},
               {"quote\"\\\n", "\x1b[31m\x7f"},
               {"emoji", "🎭"},
               {"", ""}};
  const auto read = read_back({{r}});
  REQUIRE_MESSAGE(read, read.error().message);
  CHECK(*read == search_reports{{r}});
}

TEST_CASE("[ADA-22.4 accessor] a value that is none is an error that names its key") {
  damaged_reports(R"({"name": "a", "hparams": {"rate": null}, "attributes": {}, "metrics": {}, )"
                  R"("included_in_final_ensemble": true})",
                  "[0].subnetwork_reports[0].hparams.rate must be true, false, a number or a text, not null");
}

TEST_CASE("numbers keep kind and value: whole or not, the extreme ones, and those that JSON does not have") {
  using limits = std::numeric_limits<double>;
  materialized_report r{.name = "a"};
  r.metrics = {{"one", 1.0},
               {"count", int64_t{1}},
               {"least", INT64_MIN},
               {"most", INT64_MAX},
               {"tiny", limits::denorm_min()},
               {"huge", limits::max()},
               {"up", limits::infinity()},
               {"down", -limits::infinity()}};
  const auto read = read_back({{r}});
  REQUIRE_MESSAGE(read, read.error().message);
  CHECK(*read == search_reports{{r}});
  r.metrics = {{"loss", limits::quiet_NaN()}, {"word", "nan"}};
  const auto lost = read_back({{r}});
  REQUIRE(lost);
  CHECK(std::isnan(std::get<double>((*lost)[0][0].metrics.at("loss"))));
  CHECK(std::get<std::string>((*lost)[0][0].metrics.at("word")) == "nan");
}

TEST_CASE("the text of reports is one line with AdaNet's keys") {
  const search_reports all{
      {{.name = "linear", .hparams = {{"rate", .1}}, .metrics = {{"loss", .5}}, .included = true}}};
  CHECK(reports_text(all)
        == R"([{"iteration_number": 0, "subnetwork_reports": [{"attributes": {}, "hparams": {"rate": 0.1}, )"
           R"("included_in_final_ensemble": true, "metrics": {"loss": 0.5}, "name": "linear"}]}])");
}

TEST_CASE("a damaged report is refused with its place and the value") {
  const std::string rest = R"("attributes": {}, "metrics": {}, "included_in_final_ensemble": true})";
  damaged_reports("7", "[0].subnetwork_reports[0] must be an object, not 7");
  damaged_reports(R"({"name": "a", )" + rest, "[0].subnetwork_reports[0] lacks the key 'hparams'");
  damaged_reports(R"({"name": 1, "hparams": {}, )" + rest, "[0].subnetwork_reports[0].name must be a text, not 1");
  damaged_reports(R"({"name": "a", "hparams": {"x": [1]}, )" + rest,
                  "[0].subnetwork_reports[0].hparams.x must be true");
  damaged_reports(R"({"name": "a", "hparams": {"x": {"bytes": "0g"}}, )" + rest,
                  "[0].subnetwork_reports[0].hparams.x.bytes must be pairs of hexadecimal digits, not \"0g\"");
  refused(parse_reports("{}", "reports"), errc::data_loss, "reports: it must be a list, not {}");
}

TEST_CASE("when reports are read, their position is their iteration") {
  const auto read = parse_reports(
      R"([{"iteration_number": 5, "subnetwork_reports": []}, {"iteration_number": 0, "subnetwork_reports": )"
      R"([{"name": "a", "hparams": {}, "attributes": {}, "metrics": {}, "included_in_final_ensemble": false}]}])",
      "reports");
  REQUIRE(read);
  CHECK((*read)[1][0].iteration == 1);
}

TEST_CASE("reports of an iteration replace those of the same iteration (QUIRK-4)") {
  search_reports all;
  put_reports(all, 0, {named("a")}, winning(0, "a"));
  put_reports(all, 1, {named("b")}, winning(1, "b"));
  put_reports(all, 1, {named("c")}, winning(1, "c"));
  REQUIRE(all.size() == 2);
  CHECK(report_names(all[1]) == "c*");
  put_reports(all, 3, {named("d")}, winning(3, "d"));
  CHECK(all[2].empty());
}

TEST_CASE("a report is included if the winner has its subnetwork as a new member, never as the previous ensemble") {
  search_reports all;
  put_reports(all, 1, {named("previous_ensemble"), named("a"), named("b")},
              {.members = {{0, "b"}, {1, "a"}}, .iteration = 1});
  CHECK(report_names(all[1]) == "previous_ensemble, a*, b");
}

TEST_CASE("a generator is told of earlier iterations only, though later ones have reported by now") {
  search_reports all;
  for (int64_t t = 0; t < 3; ++t)
    put_reports(all, t, {named("a"), named("b")}, winning(t, t == 1 ? "b" : "a"));
  CHECK(reports_before(all, 0).all.empty());
  CHECK(report_names(reports_before(all, 2).all) == "a*, b, a, b*");
  CHECK(report_names(reports_before(all, 2).previous_ensemble) == "a*, b*");
  CHECK(reports_before({}, 5).all.empty());
}

TEST_CASE("metrics of the evaluation overwrite those of the builder") {
  const auto r = report_of("a", {.hparams = {{"rate", .1}}, .metrics = {{"loss", 9.0}, {"mine", 1.0}}}, {{"loss", 2.}});
  CHECK(r.metrics == report_values{{"loss", 2.0}, {"mine", 1.0}});
  CHECK(r.hparams == report_values{{"rate", .1}});
  CHECK(report_of_previous({{"loss", 3.}})
        == materialized_report{.name = "previous_ensemble", .metrics = {{"loss", 3.0}}});
}

TEST_CASE(
    "a subnetwork's report has the AdaNet loss of the ensemble whose only new member it is, that of the last "
    "ensembler") {
  using indices = std::vector<std::optional<size_t>>;
  CHECK(loss_sources(specs_with(0, {strategy::grow()}), 0) == indices{0, 1});
  CHECK(loss_sources(specs_with(1, {strategy::grow()}), 1) == indices{1, 2});
  CHECK(loss_sources(specs_with(0, {strategy::solo()}, {"mean", "learned"}), 0) == indices{2, 3});
  const indices none(2);
  CHECK_MESSAGE(loss_sources(specs_with(0, {strategy::all()}), 0) == none, "one candidate, two subnetworks");
  CHECK_MESSAGE(loss_sources(specs_with(0, {strategy::grow(), strategy::solo()}), 0) == none, "four candidates");
}

TEST_CASE("the previous ensemble reports first, without hparams, with its AdaNet loss") {
  const auto specs = specs_with(1, {strategy::grow()});
  const std::vector<metrics> of_candidates{
      {{"loss", 1}, {"adanet_loss", 1.5}}, {{"adanet_loss", 2}}, {{"adanet_loss", 3}}};
  const auto all = make_reports(specs, 1, {{.hparams = {{"depth", int64_t{1}}}}, {}}, {{{"loss", 5}}, {{"loss", 6}}},
                                of_candidates);
  REQUIRE(all.size() == 3);
  CHECK(all[0]
        == materialized_report{
            .iteration = 1, .name = "previous_ensemble", .metrics = {{"adanet_loss", 1.5}, {"loss", 1.0}}});
  CHECK(all[1].name == "a");
  CHECK(all[1].hparams == report_values{{"depth", int64_t{1}}});
  CHECK(all[1].metrics == report_values{{"adanet_loss", 2.0}, {"loss", 5.0}});
  CHECK(all[2].metrics == report_values{{"adanet_loss", 3.0}, {"loss", 6.0}});
}

TEST_CASE("a key that is not UTF-8 is refused, because JSON has no such keys") {
  CHECK(validate(subnetwork_report{.hparams = {{"größe", 1.0}}}));
  refused(validate(subnetwork_report{.metrics = {{"\xff", 1.0}}}), errc::invalid_argument, "of a report is not UTF-8");
}

}  // namespace troupe::test
