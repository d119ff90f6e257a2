#include "inspection/describe_search.hpp"

#include "ensemble/names.hpp"
#include "storage/checkpoints/checkpoint_reader.hpp"

#include <cmath>

namespace troupe {

namespace {

std::string text_of(const std::optional<spec_stop>& stop) { return stop ? to_text(*stop) : ""; }

finished_iteration describe(const search_books::winner& x) {
  finished_iteration made{.winner = x.recipe, .spec = x.spec, .why = x.why};
  for (const auto& c : x.candidates)
    made.candidates.push_back({.spec = c.spec,
                               .score = c.score,
                               .loss = c.terms ? std::optional{c.terms->loss} : std::nullopt,
                               .penalty = c.terms ? std::optional{c.terms->penalty} : std::nullopt,
                               .complexity = c.complexity,
                               .lost = c.lost});
  return made;
}

candidate_description describe(const search_books::candidate& x) {
  candidate_description made{.spec = x.what.spec, .members = x.what.recipe.members, .stop = text_of(x.stop)};
  made.complexity = x.what.complexity;
  if (const auto terms = terms_of(x.average)) {
    made.score = static_cast<double>(x.average.value);
    made.loss = terms->loss;
    made.penalty = terms->penalty;
  }
  return made;
}

template <class T>
double sum_of_magnitudes(const tensor& x) {
  double sum = 0;
  for (const T value : x.as<T>())
    sum += std::abs(static_cast<double>(value));
  return sum;
}

/// The sum of the absolute values of a float variable; absent if there is none of that name. Errors: those of the
/// reader.
expected<std::optional<double>> norm_of(const checkpoint_reader& reader, const std::string& name) {
  const auto found = reader.one(name);
  if (!found)
    return fail(found.error());
  if (*found && (*found)->type() == dtype::float32)
    return sum_of_magnitudes<float>(**found);
  if (*found && (*found)->type() == dtype::float64)
    return sum_of_magnitudes<double>(**found);
  return std::nullopt;
}

/// The mixture weights of a candidate that was new in this iteration, see `candidate_description`.
expected<std::vector<double>> weights_of(const checkpoint_reader& reader, int64_t iteration,
                                         const candidate_description& candidate) {
  std::vector<double> weights;
  for (size_t member = 0; member < candidate.members.size(); ++member) {
    double sum = 0;
    for (size_t head = 0;; ++head) {
      const auto norm = norm_of(reader, mixture_weight_key(iteration, candidate.spec, member, head));
      if (!norm)
        return fail(norm.error());
      if (!*norm && head == 0)
        return std::vector<double>{};  // An ensembler without weights, or a candidate that has left.
      if (!*norm)
        break;
      sum += **norm;
    }
    weights.push_back(sum);
  }
  return weights;
}

/// Adds the weights, as far as they can be read: what is damaged is told with the checkpoint.
void add_weights(const checkpoint_store& store, const checkpoint_info& of, const search_books& books,
                 search_description& to) {
  const auto reader = store.read(of.id);
  if (!reader)
    return;
  const auto before = books.previous();
  for (auto& candidate : to.candidates) {
    const bool is_previous = before && before->spec == candidate.spec;
    candidate.weights = weights_of(**reader, is_previous ? before->made_in : books.iteration(), candidate)
                            .value_or(candidate.weights);
  }
}

}  // namespace

search_description describe_search(const search_books& books) {
  search_description made{.iteration = books.iteration(), .global_step = books.global_step};
  for (const auto& winner : books.winners)
    made.finished.push_back(describe(winner));
  for (const auto& s : books.subnetworks)
    made.subnetworks.push_back({subnetwork_spec_name(books.iteration(), s.builder), s.step, text_of(s.stop)});
  for (const auto& candidate : books.candidates)
    made.candidates.push_back(describe(candidate));
  return made;
}

expected<std::optional<search_description>> read_search(const std::shared_ptr<file_system>& files,
                                                        const std::string& directory) {
  using found = std::optional<search_description>;
  const auto store = checkpoint_store::open(files, directory, {.read_only = true});
  if (!store)
    return fail(store.error());
  const auto newest = (*store)->inspect_newest();
  if (!newest)
    return fail(newest.error());
  const auto text = newest->blobs.find(std::string{search_books_blob});
  if (text == newest->blobs.end())
    return found{};
  return parse_books(text->second, newest->prefix).map([&](const search_books& books) {
    auto made = describe_search(books);
    add_weights(**store, *newest, books, made);
    return found{std::move(made)};
  });
}

}  // namespace troupe
