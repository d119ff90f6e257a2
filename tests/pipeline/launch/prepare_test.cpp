#include "pipeline/launch/prepared_job.hpp"

#include "support/small_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// Forwards every call, and counts how often it is opened.
class counted_node final : public dataset_node {
 public:
  counted_node(std::shared_ptr<const dataset_node> inner, int& opened) : inner_(std::move(inner)), opened_(opened) {}
  element_spec spec() const override { return inner_->spec(); }
  std::string to_text() const override { return inner_->to_text(); }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop_remainder) const override { return inner_->elements(drop_remainder); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    ++opened_;
    return inner_->iterate(options);
  }

 private:
  std::shared_ptr<const dataset_node> inner_;
  int& opened_;
};

}  // namespace

TEST_CASE("the function of a model is called once a mode and job, however many replicas share its graph") {
  std::map<mode, int> calls;
  small_job_options o{.max_steps = 6, .replicas = 4, .evaluates = true};
  const auto build = o.source.build;
  o.source.build = [&calls, build](graph& g, const features& x, const labels& y, mode m) {
    ++calls[m];
    return build(g, x, y, m);
  };
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.wait(std::chrono::hours{1}));
  CHECK(calls == std::map<mode, int>{{mode::train, 1}, {mode::evaluate, 1}});
}

TEST_CASE("a source is opened once by a job that trains to its end, and once for each of two hosts") {
  for (int32_t hosts : {1, 2}) {
    CAPTURE(hosts);
    int opened = 0;
    small_job_options o{.max_steps = 6, .replicas = 2, .hosts = hosts};
    o.input = dataset{std::make_shared<counted_node>(o.input.node(), opened)};
    simulated_job job{prepare_small(o), 1};
    const auto result = job.wait(std::chrono::hours{1});
    REQUIRE(result);
    REQUIRE(result->has_value());
    CHECK(opened == hosts);
  }
}

}  // namespace troupe::test
