// One model of a search with its variables and its program, for tests that run steps without actors.
#pragma once

#include "compute/engine/metric_totals.hpp"
#include "compute/engine/step_engine.hpp"
#include "compute/graph/graph.hpp"
#include "ensemble/graphs/models.hpp"
#include "tests/support/refused.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace troupe::test {

using tensors = std::map<std::string, tensor>;

/// The structure of `data` without the batch axis; names in `labels` are labels.
inline element_spec element_of(const tensors& data, const std::set<std::string>& labels = {"y"}) {
  element_spec element;
  for (const auto& [name, value] : data) {
    const auto dims = value.dims().extents();
    (labels.contains(name) ? element.labels : element.features).push_back({name, value.type(), shape{dims.subspan(1)}});
  }
  return element;
}

inline expected<std::unique_ptr<model_graph>> built(const model& m, const tensors& data, mode what = mode::train,
                                                    const std::set<std::string>& labels = {"y"}) {
  return build_graph(m, element_of(data, labels), what);
}

class group_run {
 public:
  group_run(const model& m, const tensors& data, mode what = mode::train, const std::set<std::string>& labels = {"y"}) {
    auto made = built(m, data, what, labels);
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    graph_ = std::move(*made);
    auto layout = layout_of(*graph_);
    REQUIRE_MESSAGE(layout, (layout ? "" : to_text(layout.error())));
    store_ = *parameter_store::create(*layout, 1);
    store_->initialise(7);
    program_options options{.batch = data.begin()->second.dims()[0], .seed = 7};
    if (what == mode::train)
      for (const auto& [name, value] : graph_->spec.predictions)
        if (value.rank() > 0 && !value.dims()[0].known())
          options.expose.push_back(name);
    auto planned = program::make(graph_->g, graph_->spec, store_->layout(), options);
    REQUIRE_MESSAGE(planned, (planned ? "" : to_text(planned.error())));
    program_ = std::move(*planned);
    gradient_ = allocate_buffer(std::max<int64_t>(store_->layout().gradient_bytes(), 64));
    std::memset(gradient_.get(), 0, static_cast<size_t>(store_->layout().gradient_bytes()));
  }

  /// One step of training; returns what it exposes.
  tensors train(const tensors& data, int64_t step = 0) {
    REQUIRE(gradients(data, step) == step_status::ok);
    program_->apply(step, {0, store_->layout().gradient_bytes()}, gradient_.get(), store_->arena(0), store_->arena(0));
    return outputs();
  }
  /// What it exposes at the state at hand, without a step.
  tensors show(const tensors& data) {
    REQUIRE(gradients(data) == step_status::ok);
    return outputs();
  }
  /// The first half of a step.
  step_status gradients(const tensors& data, int64_t step = 0) {
    const auto feeds = feeds_of(data);
    return program_->gradients(input(feeds, step), gradient_.get());
  }
  /// Computes the outputs of another mode.
  tensors run(const tensors& data) {
    const auto feeds = feeds_of(data);
    const auto status = program_->run(input(feeds, 0));
    REQUIRE_MESSAGE(status == step_status::ok,
                    (status == step_status::bad_input ? to_text(program_->last_error()) : ""));
    return outputs();
  }
  /// The metrics of one batch.
  std::map<std::string, double> evaluate(const tensors& data) {
    run(data);
    const auto described = program_->outputs();
    metric_totals totals{{described.begin(), described.end()}, functions_of(graph_->spec.metrics)};
    std::vector<tensor> values;
    for (size_t i = 0; i < described.size(); ++i)
      values.push_back(program_->output(static_cast<int32_t>(i)));
    totals.add(values);
    const auto results = totals.results();
    REQUIRE(results);
    return results->numbers;
  }
  double loss() const { return program_->loss(); }
  error last_error() const { return program_->last_error(); }

  /// The numbers that the last step recorded, by tag. Histograms are left out.
  std::map<std::string, double> recorded() const {
    std::map<std::string, double> numbers;
    const auto values = program_->recorded();
    size_t i = 0;
    for (const auto& s : contents_of(graph_->g).summaries) {
      if (s.what == summary_value::kind::text)
        continue;
      if (s.what == summary_value::kind::scalar)
        numbers[s.tag] = static_cast<double>(values[i].as<float>()[0]);
      ++i;
    }
    return numbers;
  }
  std::set<std::string> tags() const {
    std::set<std::string> all;
    for (const auto& s : contents_of(graph_->g).summaries)
      all.insert(s.tag);
    return all;
  }

  /// All variables, without slots.
  tensors variables() const {
    tensors all;
    const auto entries = store_->layout().entries();
    for (size_t i = 0; i < entries.size(); ++i)
      if (!entries[i].slot)
        all[entries[i].name] = copy(store_->view(0, static_cast<int32_t>(i)));
    return all;
  }
  std::vector<std::string> trainable() const {
    std::vector<std::string> names;
    for (const auto& entry : store_->layout().entries())
      if (entry.trainable)
        names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    return names;
  }
  /// Sets those variables that this model has.
  void load(const tensors& values) {
    for (const auto& [name, value] : values)
      if (store_->layout().find(name) >= 0)
        REQUIRE(store_->assign(name, value));
  }
  float number(const std::string& name) const {
    const int32_t entry = store_->layout().find(name);
    REQUIRE_MESSAGE(entry >= 0, name);
    return store_->view(0, entry).as<float>()[0];
  }

 private:
  static tensor copy(const tensor& t) { return tensor::copy_of(t.type(), t.dims(), t.bytes()); }
  std::vector<const std::byte*> feeds_of(const tensors& data) const {
    std::vector<const std::byte*> feeds;
    for (const auto& c : program_->inputs()) {
      REQUIRE_MESSAGE(data.contains(c.name), c.name);
      feeds.push_back(data.at(c.name).data());
    }
    return feeds;
  }
  step_input input(const std::vector<const std::byte*>& feeds, int64_t step) const {
    return {.step = step, .parameters = store_->arena(0), .shared = store_->shared(), .feeds = feeds, .record = true};
  }
  tensors outputs() const {
    tensors all;
    for (size_t i = 0; i < program_->outputs().size(); ++i)
      if (const auto& o = program_->outputs()[i]; o.what != program_output::kind::loss)
        all[o.what == program_output::kind::metric_sum ? to_string(o) : o.name] = program_->output(
            static_cast<int32_t>(i));
    return all;
  }

  std::unique_ptr<model_graph> graph_;
  std::shared_ptr<parameter_store> store_;
  std::unique_ptr<program> program_;
  std::shared_ptr<std::byte> gradient_;
};

inline tensors joined_tensors(tensors a, const tensors& b) {
  a.insert(b.begin(), b.end());
  return a;
}

}  // namespace troupe::test
