// When a replica lets its engine carry, what its parts of a snapshot say of carried states, and where loops begin.
#include "support/replica_fixture.hpp"
#include "support/wrapped_engine.hpp"

namespace troupe::test {

namespace {

/// An engine with a carried state of one number, which counts the steps that count.
class counting_engine final : public wrapped_engine {
 public:
  explicit counting_engine(std::shared_ptr<step_engine> inner) : wrapped_engine(std::move(inner)) {}

  std::vector<int> carried;         ///< The arena of each call of `carry`.
  std::vector<bool> begins;         ///< Of each step, whether a loop began with it.
  std::vector<bool> begins_of_run;  ///< The same of the run.

  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    saw(in, arena);
    return wrapped_engine::gradients(step, in, arena);
  }
  step_status expose(int64_t step, const batch_feeds& in, int arena) override {
    saw(in, arena);
    return wrapped_engine::expose(step, in, arena);
  }
  step_status evaluate(int64_t step, const batch_feeds& in, int arena) override {
    saw(in, arena);
    return wrapped_engine::evaluate(step, in, arena);
  }
  void carry(int arena) override {
    carried.push_back(arena);
    *count_[arena] = *count_[from_] + 1;
  }
  std::vector<stored_piece> pieces(int arena) const override {
    auto all = wrapped_engine::pieces(arena);
    all.push_back({.name = "count",
                   .dims = {1},
                   .first = 0,
                   .elements = {dtype::float32,
                                {1},
                                std::shared_ptr<const std::byte>{
                                    count_[arena], reinterpret_cast<const std::byte*>(count_[arena].get())}},
                   .carried = true});
    return all;
  }

 private:
  void saw(const batch_feeds& in, int arena) {
    begins.push_back(in.begins_loop);
    begins_of_run.push_back(in.begins_run);
    from_ = arena;
  }
  std::shared_ptr<float> count_[2] = {std::make_shared<float>(0.0f), std::make_shared<float>(0.0f)};
  int from_ = 0;
};

struct carrying_replica : replica_alone {
  std::shared_ptr<counting_engine> counts = std::make_shared<counting_engine>(engine);

  carrying_replica() { options.engine = counts; }
  void start_in(loop_span loop, int64_t step = 0) {
    worker = spawn(replica, options);
    tell(worker, connect_reports{out.as<report_sink_actor>()});
    tell(worker, connect_parts{out.as<part_sink_actor>()});
    tell(worker, connect_source{0_edge, source.as<credit_source_actor>()});
    tell(worker, begin{1, step, {}, 1, loop});
  }
  /// The carried number in the part of that state; nothing if it has none.
  std::optional<float> count_at(int64_t step) {
    for (const auto& part : out.all<snapshot_part>())
      for (const auto& piece : part.pieces)
        if (part.step == step && piece.name == "count")
          return piece.elements.as<float>()[0];
    return std::nullopt;
  }
};

using flags = std::vector<bool>;

}  // namespace

TEST_CASE_FIXTURE(carrying_replica,
                  "the rows in a part are those of its state, while later steps go on in the other arena") {
  start_in({0, 100});
  grant(6, {{2, mark_snapshot}});
  feed(0, 6);
  CHECK(counts->carried == std::vector<int>{0, 0, 1, 1, 1, 1});
  CHECK(count_at(2) == 2);
}

TEST_CASE_FIXTURE(carrying_replica, "a retired replica carries in place, and what its part says stays as it was") {
  start_in({0, 100});
  tell(worker, retire{1, 3});
  grant(6, {{4, mark_snapshot}});
  feed(0, 6);
  CHECK(engine->forward == steps{3, 4, 5});
  CHECK(counts->carried.size() == 6);
  CHECK(count_at(4) == 4);
}

TEST_CASE_FIXTURE(carrying_replica, "a step that is not applied carries nothing") {
  start_in({0, 100});
  engine->before_step = [](int64_t step) { return step == 3 ? step_status::not_finite : step_status::ok; };
  grant(6);
  feed(0, 6);
  CHECK(counts->begins.size() == 4);
  CHECK(counts->carried.size() == 3);
}

TEST_CASE_FIXTURE(carrying_replica, "a state that is only shown is shown without what it carries") {
  start_in({0, 100});
  grant(4, {{2, mark_show}});
  feed(0, 4);
  REQUIRE(out.count<snapshot_part>() == 1);
  CHECK_FALSE(count_at(2));
}

TEST_CASE_FIXTURE(carrying_replica,
                  "loops begin where begin and set_loop say, also for an attempt that enters one midway") {
  start_in({1, 3}, 5);
  tell(worker, set_loop{1, {10, 2}});
  tell(worker, set_loop{2, {6, 1}});  // Of another attempt.
  grant(14);
  feed(5, 9);
  CHECK(counts->begins == flags{false, false, true, false, false, true, false, true, false});
  CHECK(counts->begins_of_run == flags(9, false));
}

TEST_CASE_FIXTURE(carrying_replica, "the first batch of an evaluation begins everything, whatever its number") {
  options.mode = mode::evaluate;
  start_in({});
  grant(3);
  feed(0, 3);
  CHECK(counts->begins == flags{true, false, false});
  CHECK(counts->begins_of_run == flags{true, false, false});
  CHECK(counts->carried.size() == 3);
}

}  // namespace troupe::test
