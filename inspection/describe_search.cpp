#include "inspection/describe_search.hpp"

#include "ensemble/names.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

namespace {

std::string text_of(const std::optional<spec_stop>& stop) { return stop ? to_text(*stop) : ""; }

finished_iteration describe(const search_books::winner& x) {
  finished_iteration made{.winner = x.recipe, .spec = x.spec, .why = x.why};
  for (const auto& c : x.candidates)
    made.candidates.push_back({.spec = c.spec, .score = c.score, .lost = c.lost});
  return made;
}

candidate_description describe(const search_books::candidate& x) {
  candidate_description made{.spec = x.what.spec, .members = x.what.recipe.members, .stop = text_of(x.stop)};
  if (x.average.count > 0)
    made.score = static_cast<double>(x.average.value);
  return made;
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
  const auto newest = checkpoint_store::open(files, directory, {.read_only = true}).and_then([](const auto& store) {
    return store->inspect_newest();
  });
  if (!newest)
    return fail(newest.error());
  const auto text = newest->blobs.find(std::string{search_books_blob});
  if (text == newest->blobs.end())
    return found{};
  return parse_books(text->second, newest->prefix).map([](const search_books& books) {
    return found{describe_search(books)};
  });
}

}  // namespace troupe
