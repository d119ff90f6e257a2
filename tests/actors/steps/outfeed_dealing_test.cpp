// An outfeed of an evaluation, whose batches are dealt to several replicas.
#include "support/outfeed_fixture.hpp"

namespace troupe::test {

using steps = std::vector<int64_t>;

namespace {

struct dealing_outfeed : outfeed_alone {
  void start_dealing(int32_t count) {
    options.groups[0].mode = mode::evaluate;
    options.log_every = 0;
    for (int32_t r = 0; r < count; ++r)
      options.groups[0].replicas.push_back({node_id{r}, "replica/" + std::to_string(r), {}, {r, count}});
    drain = spawn(outfeed, options, chief.as<progress_sink_actor>());
    tell(drain, begin{1, 0, {}});
  }
  /// Replica r has computed its own batches from `own` on.
  void computed(int32_t r, int64_t own, int64_t count = 1) {
    step_report x{1, node_id{r}, own};
    for (int64_t i = own; i < own + count; ++i) {
      const int64_t number = r + i * std::ssize(options.groups[0].replicas);
      x.losses.push_back(static_cast<double>(number));
      x.watched.push_back({number, {tensor::scalar(static_cast<float>(number))}});
    }
    tell(drain, x);
  }
  std::vector<int64_t> shown() {
    std::vector<int64_t> all;
    for (const auto& p : chief.all<progress>())
      for (const auto& w : p.watched) {
        CHECK(w.values.at(0).as<float>()[0] == static_cast<float>(w.step));
        all.push_back(w.step);
      }
    return all;
  }
};

}  // namespace

TEST_CASE_FIXTURE(dealing_outfeed, "batches are passed on in the order of the data, whoever is ahead") {
  start_dealing(3);
  computed(1, 0, 2);
  CHECK(chief.count<progress>() == 0);
  computed(0, 0);
  CHECK(shown() == steps{0, 1});
  CHECK(chief.last<progress>().step == 2);
  CHECK(chief.last<progress>().loss.mean == 0.5);
  computed(0, 1);
  CHECK(chief.last<progress>().step == 2);
  computed(2, 0, 3);
  CHECK(shown() == steps{0, 1, 2, 3, 4, 5});
  CHECK(chief.last<progress>().step == 6);
}

TEST_CASE_FIXTURE(dealing_outfeed, "the earliest end is that of all, and is told after the batches before it") {
  start_dealing(2);
  computed(0, 0, 2);
  tell(drain, stream_end{1, node_id{0}, 2, {errc::out_of_range, "the data ended"}});
  CHECK(chief.count<stream_end>() == 0);
  computed(1, 0);
  CHECK(shown() == steps{0, 1, 2});
  CHECK(chief.count<stream_end>() == 0);
  tell(drain, stream_end{1, node_id{1}, 1, {errc::out_of_range, "the data ended"}});
  REQUIRE(chief.count<stream_end>() == 1);
  CHECK(chief.last<stream_end>().step == 3);
}

TEST_CASE_FIXTURE(dealing_outfeed,
                  "a replica that cannot compute its batch ends all, once those before it are passed on") {
  start_dealing(2);
  computed(0, 0);
  tell(drain, stream_end{1, node_id{1}, 1, {errc::invalid_argument, "label 12"}, end_kind::failed});
  CHECK(chief.count<stream_end>() == 0);
  computed(1, 0);
  CHECK(chief.count<stream_end>() == 0);
  computed(0, 1);
  REQUIRE(chief.count<stream_end>() == 1);
  CHECK(chief.last<stream_end>().step == 3);
  CHECK(shown() == steps{0, 1, 2});
}

TEST_CASE_FIXTURE(dealing_outfeed, "a repeated report changes nothing") {
  start_dealing(2);
  computed(0, 0, 2);
  computed(0, 0, 2);
  computed(1, 0);
  CHECK(shown() == steps{0, 1, 2});
  CHECK(chief.last<progress>().step == 3);
}

}  // namespace troupe::test
