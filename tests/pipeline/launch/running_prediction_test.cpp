#include "pipeline/launch/launcher.hpp"
#include "support/small_job.hpp"
#include "support/troubled_dataset.hpp"

#include <doctest/doctest.h>

#include <future>

namespace troupe::test {

namespace {

/// Records its requests, and answers each at once unless it is silent.
class asked_prediction final : public running_prediction {
 public:
  explicit asked_prediction(int64_t ahead, bool silent = false) : running_prediction(ahead), silent_(silent) {}
  std::vector<int64_t> asked;
  void end(std::optional<error> cause) { queue()->ended(std::move(cause)); }

 private:
  void ask(int64_t until) override {
    asked.push_back(until);
    for (; !silent_ && made_ < until; ++made_)
      queue()->batch({made_, {}});
  }
  bool wait() override { return false; }

  bool silent_;
  int64_t made_ = 0;
};

}  // namespace

TEST_CASE("a consumer asks for one batch at a time where none is wanted ahead, and else for half a window at once") {
  const auto asked_for = [](int64_t ahead) {
    asked_prediction p{ahead};
    for (int64_t i = 0; i < 12; ++i)
      CHECK((*p.next())->step == i);
    return p.asked;
  };
  using steps = std::vector<int64_t>;
  CHECK(asked_for(0) == steps{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(asked_for(1) == steps{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
  CHECK(asked_for(8) == steps{9, 14, 19});
  CHECK(asked_for(100) == steps{101});
}

TEST_CASE("a predictor that does not answer is an error that stays, whatever comes late") {
  asked_prediction p{2, true};
  const auto first = p.next();
  REQUIRE_FALSE(first);
  CHECK(first.error().category == errc::deadline_exceeded);
  p.end(std::nullopt);
  CHECK(p.next().error() == first.error());
}

TEST_CASE("an input that does not look at its stop holds up a prediction no longer than the job's deadlines") {
  std::promise<void> release;
  auto basis = small_basis({.keeps = false});
  basis.deadlines.silence = std::chrono::milliseconds{50};
  // Long enough for the predictor to answer before the consumer gives up, also on a busy machine.
  basis.deadlines.stop = std::chrono::milliseconds{300};
  const auto until = release.get_future().share();
  const dataset input{std::make_shared<troubled_stage>(small_dataset(20).batch(8).last_stage(), 0, [until] {
    until.wait();
    return expected<void>{};
  })};
  auto prepared = prepare(prediction_job{.basis = basis, .input = input});
  REQUIRE(prepared.has_value());
  auto p = local_launcher{}.predict(*prepared);
  const auto late = p->next();
  p.reset();  // Leaves behind the actors that it cannot end.
  release.set_value();
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().category == errc::deadline_exceeded);
  CHECK(late.error().source == "predictor");
}

TEST_CASE("a cancelled prediction drops what was made, but one whose results were all taken has just ended") {
  asked_prediction p{4};
  REQUIRE(p.next()->has_value());
  SUBCASE("in the middle") {
    p.cancel();
    CHECK(p.next().error().category == errc::cancelled);
  }
  SUBCASE("behind the end") {
    p.end(std::nullopt);
    while (*p.next()) {}
    p.cancel();
    CHECK_FALSE(*p.next());
  }
}

TEST_CASE("the first of several ends counts, and follows the results before it") {
  asked_prediction p{0};
  REQUIRE(p.next()->has_value());
  p.end(error{errc::data_loss, "first"});
  p.end(error{errc::aborted, "second"});
  CHECK(p.next().error().message == "first");
}

}  // namespace troupe::test
