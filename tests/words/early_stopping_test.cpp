#include <troupe/early_stopping.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

namespace troupe::test {

namespace {

evaluation_point point(int64_t step, double loss, double accuracy) {
  return {step, {{"accuracy", accuracy}, {"loss", loss}}};
}

/// The evaluations in the specification's examples.
const evaluation_history four{point(1000, .8, .5), point(2000, .7, .6), point(3000, .4, .7), point(3500, .41, .68)};

bool stops(const stop_rule& rule, const evaluation_history& history = four) {
  const auto verdict = decide(rule, history);
  REQUIRE_MESSAGE(verdict, verdict.error().message);
  return verdict->has_value();
}

std::string reason(const stop_rule& rule, const evaluation_history& history = four) {
  return decide(rule, history)->value_or("goes on");
}

std::string why(const expected<void>& checked) { return checked ? "" : checked.error().message; }

}  // namespace

TEST_CASE(
    "[EST-69] rules of the four kinds stop at the evaluations that the specification lists, and not before min_steps") {
  CHECK(stops(stop_if_higher("accuracy", .6)));
  CHECK_FALSE(stops(stop_if_higher("accuracy", .8)));
  CHECK_FALSE(stops(stop_if_higher("accuracy", .6, {.min_steps = 4000})));
  CHECK(stops(stop_if_no_increase("accuracy", 500)));
  CHECK_FALSE(stops(stop_if_no_increase("accuracy", 1500)));
  CHECK(stops(stop_if_no_decrease("loss", 500)));
  CHECK(stops(stop_if_lower("loss", .5)));
  CHECK_FALSE(stops(stop_if_lower("loss", .3)));
}

TEST_CASE("[EST-70] a value that did not improve for long enough stops a job, though it improved later") {
  const evaluation_history later{point(1000, .8, .5), point(2000, .8, .5), point(3000, .8, .5), point(4000, .1, .9)};
  CHECK(stops(stop_if_no_increase("accuracy", 2000), later));
  CHECK(stops(stop_if_no_decrease("loss", 2000), later));
  CHECK_FALSE(stops(stop_if_no_increase("accuracy", 2001), later));
}

TEST_CASE(
    "[EST-71] a metric that no evaluation has is an error that lists those that there are; without evaluations nothing "
    "stops") {
  const auto verdict = decide(stop_if_higher("auc", .6), four);
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().category == errc::key_missing);
  CHECK(verdict.error().message
        == "the rule 'auc higher than 0.6' asks for the metric 'auc', which the evaluation of step 1000 does not "
           "have; it has accuracy, loss");
  CHECK_FALSE(stops(stop_if_higher("auc", .6), {}));
  CHECK_FALSE(stops(stop_if("anything", [](const evaluation_history&) { return true; }), {}));
}

TEST_CASE("a change of at most the margin is none, and patience counts evaluations") {
  const evaluation_history slow{point(1, .8, .50), point(2, .8, .51), point(3, .8, .52), point(4, .8, .53)};
  CHECK_FALSE(stops(stop_if_no_increase("accuracy", 1), slow));
  CHECK(stops(stop_if_no_increase("accuracy", 1, {.min_delta = .015}), slow));
  CHECK(stops(stop_if_no_increase("accuracy", 1, {.min_delta = .1, .patience = 3}), slow));
  CHECK_FALSE(stops(stop_if_no_increase("accuracy", 1, {.min_delta = .1, .patience = 4}), slow));
  CHECK_FALSE_MESSAGE(stops(stop_if_no_increase("accuracy", 2, {.min_delta = .015}), slow),
                      "from .50 on, .52 is an increase");
}

TEST_CASE("a verdict names the rule, the value and the step") {
  CHECK(reason(stop_if_higher("accuracy", .6)) == "accuracy higher than 0.6: accuracy was 0.7 at step 3000");
  CHECK(reason(stop_if_lower("loss", .5, {.evaluation = "test", .min_steps = 10}))
        == "loss lower than 0.5 in evaluation 'test' from step 10 on: loss was 0.4 at step 3000");
  CHECK(reason(stop_if_no_increase("accuracy", 500, {.min_delta = .01}))
        == "no increase of accuracy by more than 0.01 within 500 steps: accuracy was 0.7 at step 3000 and no "
           "better up to step 3500");
  CHECK(reason(stop_if_no_decrease("loss", 400, {.patience = 1}))
        == "no decrease of loss within 400 steps: loss was 0.4 at step 3000 and no better up to step 3500");
  CHECK(reason(stop_if("enough", [](const evaluation_history& h) { return h.size() == 4; })) == "enough, at step 3500");
}

TEST_CASE("a predicate that throws is an error that names the rule") {
  const auto verdict = decide(
      stop_if("mine", [](const evaluation_history&) -> bool { throw std::runtime_error{"no such key"}; }), four);
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().category == errc::state);
  CHECK(verdict.error().message == "the rule 'mine' threw: no such key");
}

TEST_CASE("a value that is no number never stops a job as higher or lower, and counts as no improvement") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const evaluation_history lost{point(1, nan, nan), point(2, nan, nan)};
  CHECK_FALSE(stops(stop_if_higher("accuracy", 0), lost));
  CHECK_FALSE(stops(stop_if_lower("loss", 0), lost));
  CHECK(stops(stop_if_no_increase("accuracy", 1), lost));
  CHECK_FALSE(stops(stop_if_no_increase("accuracy", 2), {point(1, nan, nan), point(2, .5, .5), point(3, .5, .6)}));
}

TEST_CASE("a rule that cannot be is refused with its value") {
  CHECK(why(validate(stop_if_higher("accuracy", .6))).empty());
  CHECK(why(validate(stop_if_higher("", .6))) == "the rule ' higher than 0.6': there is no metric");
  CHECK(why(validate(stop_if_higher("a", std::numeric_limits<double>::infinity())))
            .ends_with("the threshold must be finite"));
  CHECK(why(validate(stop_if_no_increase("a", 0)))
        == "the rule 'no increase of a within 0 steps': max_steps must be at least 1, not 0");
  CHECK(
      why(validate(stop_if_no_increase("a", 1, {.min_delta = -1}))).ends_with("min_delta must be at least 0, not -1"));
  CHECK(why(validate(stop_if_no_increase("a", 1, {.patience = 0}))).ends_with("patience must be at least 1, not 0"));
  CHECK(why(validate(stop_if("p", {}))) == "the rule 'p': there is no predicate");
}

}  // namespace troupe::test
