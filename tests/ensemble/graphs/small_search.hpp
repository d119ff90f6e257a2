// A small search whose groups are run by hand, step by step: each reads what others expose in the same step.
#pragma once

#include "tests/ensemble/graphs/group_run.hpp"

#include <troupe/nn.hpp>
#include <troupe/search/generators.hpp>

namespace troupe::test {

/// Eight rows of two features, with a class of two.
inline tensors small_data() {
  return {{"x", tensor::of<float>({8, 2}, {1, 0, 0, 0, 0, 1, 1, 1, .5f, .25f, -1, .5f, 2, -1, .1f, .9f})},
          {"y", tensor::of<int32_t>({8}, {1, 0, 1, 0, 1, 0, 1, 0})}};
}

/// A network with one hidden layer, which later builders may read as "hidden".
inline builder dense_builder(const std::string& name, int64_t units, double complexity = 1) {
  return {.name = name,
          .build = [units, complexity](graph& g, const build_context& c) -> subnetwork {
            const auto h = nn::dense(c.features["x"], {.units = units, .activation = relu, .name = "hidden"});
            g.scalar("complexity", g.constant(tensor::scalar(static_cast<float>(complexity))));
            return {.last_layer = h,
                    .logits = nn::dense(h, {.units = c.logits_dimension, .name = "logits"}),
                    .complexity = complexity,
                    .outputs = {{"hidden", h}},
                    .shared = units};
          },
          .optimizer = momentum{.rate = .1f}};
}

inline search_options small_options(std::vector<builder> builders = {dense_builder("a", 3), dense_builder("b", 5, 2)}) {
  return {.head = multi_class_head{.classes = 2},
          .subnetwork_generator = generators::list(std::move(builders)),
          .ensemblers = {complexity_regularized_ensembler{
              .optimizer = gradient_descent{.rate = .1f}, .adanet_lambda = .01, .use_bias = true}}};
}

inline shared_basis basis_with(const search_options& o, const search_books& books = {}) {
  auto made = basis_of(o, books);
  REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
  return *made;
}

/// The groups of one iteration.
struct small_search {
  shared_basis basis;
  iteration_specs specs;
  tensors data;
  std::optional<group_run> previous = {};
  std::map<std::string, group_run> subnetworks = {}, ensembles = {};  ///< By builder, by spec.
  tensors exposed = {};                                               ///< In the last step.

  explicit small_search(const search_options& o, const search_books& books = {}, const tensors& begin_with = {},
                        tensors its_data = small_data())
    : basis(basis_with(o, books)), data(std::move(its_data)) {
    auto all = specs_of(*basis);
    REQUIRE_MESSAGE(all, (all ? "" : to_text(all.error())));
    specs = std::move(*all);
    if (basis->previous()) {
      previous.emplace(previous_model(basis), data);
      previous->load(begin_with);
      exposed = previous->show(data);
    }
    for (const auto& s : specs.subnetworks) {
      const auto seen = joined_tensors(data, exposed);
      auto& run = subnetworks.emplace(s.builder, group_run{subnetwork_model(basis, s.builder), seen}).first->second;
      run.load(begin_with);
    }
    const auto shown = shown_now();
    for (const auto& c : candidates()) {
      auto& run = ensembles.emplace(c.spec, group_run{ensemble_model(basis, c), joined_tensors(data, shown)})
                      .first->second;
      run.load(begin_with);
    }
  }

  std::vector<candidate_spec> candidates() const {
    auto all = specs.candidates;
    if (basis->previous())
      all.erase(all.begin());
    return all;
  }
  /// What the groups expose at the state at hand.
  tensors shown_now() {
    tensors all = previous ? previous->show(data) : tensors{};
    const auto before = joined_tensors(data, all);
    for (auto& [name, run] : subnetworks)
      for (auto& [port, value] : run.show(before))
        all[port] = value;
    return all;
  }
  void train(int64_t steps) {
    for (int64_t s = 0; s < steps; ++s) {
      tensors seen = previous ? previous->train(data, s) : tensors{};
      const auto before = joined_tensors(data, seen);
      for (auto& [name, run] : subnetworks)
        for (auto& [port, value] : run.train(before, s))
          seen[port] = value;
      for (auto& [spec, run] : ensembles)
        run.train(joined_tensors(data, seen), s);
      exposed = std::move(seen);
    }
  }
  tensors variables() const {
    tensors all = previous ? previous->variables() : tensors{};
    for (const auto* groups : {&subnetworks, &ensembles})
      for (const auto& [name, run] : *groups)
        for (const auto& [variable, value] : run.variables())
          all[variable] = value;
    return all;
  }
  /// The books with which the next iteration begins, where candidate `winner` has won.
  search_books books_after(size_t winner) const {
    search_books books;
    books.winners = basis->winners;
    const auto& chosen = specs.candidates[winner];
    const bool again = basis->previous() && winner == 0;
    books.winners.push_back({chosen.spec, again ? basis->previous()->made_in : basis->iteration(), chosen.recipe, {}});
    return books;
  }
  composite_parts parts() const {
    composite_parts all{.candidates = specs.candidates};
    for (const auto& s : specs.subnetworks)
      all.subnetworks.push_back(s.builder);
    return all;
  }
};

/// The composite model over the variables of the groups.
inline group_run composite_of(const small_search& s, composite_parts parts) {
  group_run whole{composite_model(s.basis, std::move(parts)), s.data, mode::evaluate};
  whole.load(s.variables());
  return whole;
}

}  // namespace troupe::test
