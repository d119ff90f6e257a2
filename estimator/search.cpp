// The calls of a search.
#include "ensemble/graphs/models.hpp"
#include "estimator/describe.hpp"
#include "estimator/launched_by.hpp"
#include "pipeline/plan/search_plan.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/file_system.hpp"
#include "words/checkpoint_books.hpp"
#include "words/text.hpp"

#include <troupe/search/searcher.hpp>

namespace troupe {

namespace {

/// What stands for a model where settings are described. Nothing builds it: the plans of a search have models of their
/// own.
model no_model() {
  return {"search", [](graph& g, const features&, const labels&, mode m) {
            g.invalid({errc::state, "a search has no model of its own"});
            return model_spec{.mode = m};
          }};
}

struct found_commit {
  checkpoint_info info;
  search_books books;
};

expected<checkpoint_info> find_info(const checkpoint_store& store, const checkpoint_choice& which) {
  if (which.step >= 0 && which.iteration >= 0)
    return store.inspect({which.step, which.iteration});
  if (which.step >= 0)
    return store.read_step(which.step).map([](const auto& reader) { return reader->info(); });
  auto newest = store.inspect_newest();
  if (!newest)
    return newest;
  const auto best = read_books(newest->properties).best;
  if (which.best && !best)
    return fail(errc::not_found, "no checkpoint was kept as the best one (keep_best)");
  return best && (which.best || best->in_use) ? store.inspect(best->id) : newest;
}

expected<found_commit> find_commit(const searcher& s, const checkpoint_ref& which,
                                   const std::shared_ptr<file_system>& files) {
  if (auto valid = validate(which); !valid)
    return fail(valid.error());
  auto directory = s.config.model_dir;
  if (which.what == checkpoint_ref::kind::path)
    directory = parent_of(which.path);
  if (!directory)
    return fail(errc::invalid_argument, "the winner of a search is in its model directory, and model_dir is not given");
  auto store = checkpoint_store::open(files, *directory, {.read_only = true});
  if (!store)
    return fail(store.error());
  auto info = find_info(**store, choice_of(which));
  if (!info)
    return fail(info.error());
  const auto text = info->blobs.find(std::string{search_books_blob});
  if (text == info->blobs.end())
    return fail(errc::failed_precondition, info->prefix + " is not of a search: it has no books of one");
  auto books = parse_books(text->second, info->prefix);
  if (!books)
    return fail(books.error());
  return found_commit{std::move(*info), std::move(*books)};
}

/// The metrics of all candidates of the commit that have not left, by an evaluation without an event file.
expected<candidate_scores> scores_in(const searcher& s, const shared_basis& basis, const found_commit& commit,
                                     const std::vector<contender>& all) {
  composite_parts parts;
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].dropped)
      parts.candidates.push_back(commit.books.candidates[i].what);
  auto config = s.config;
  config.model_dir.reset();
  const auto found = evaluate(
      estimator{composite_model(basis, std::move(parts)), config},
      {.input = *s.search.evaluator->input, .steps = s.search.evaluator->steps},
      commit.info.prefix.empty() ? checkpoint_ref{} : checkpoint_ref::of_path(commit.info.prefix));
  if (!found)
    return fail(found.error());
  candidate_scores scores;
  for (const auto& one : all)
    scores.push_back(metrics_of(found->metrics, one.spec));
  return scores;
}

/// The winner of the books: of an open iteration `leader`, or the candidate that leads by the rules of the search.
expected<candidate_spec> winner_in(const searcher& s, const shared_basis& basis, const found_commit& commit,
                                   const std::string& leader) {
  const auto& books = commit.books;
  for (const auto& candidate : books.candidates)
    if (candidate.what.spec == leader)
      return candidate.what;
  if (books.candidates.empty()) {
    if (books.winners.empty())
      return fail(errc::failed_precondition, commit.info.prefix + " has no candidate yet");
    return candidate_spec{books.winners.back().spec, books.winners.back().recipe};
  }
  const auto rules = choice_rules_of(s.search);
  const auto all = contenders_of(books);
  const auto scores = wants_scores(rules, books.iteration(), all) ? scores_in(s, basis, commit, all)
                                                                  : expected<candidate_scores>{};
  if (!scores)
    return fail(scores.error());
  auto chosen = choose(rules, books.iteration(), all, *scores);
  if (!chosen)
    return fail(chosen.error());
  return books.candidates[chosen->winner].what;
}

expected<estimator> find_winner(const searcher& s, const checkpoint_ref& which,
                                const std::shared_ptr<file_system>& files, const std::string& leader = {}) {
  auto commit = find_commit(s, which, files);
  const bool is_new = !commit && commit.error().category == errc::not_found
                      && which.what == checkpoint_ref::kind::newest;
  if (!commit && !is_new)
    return fail(commit.error());
  if (is_new)
    commit = found_commit{};
  auto basis = basis_of(s.search, commit->books);
  if (!basis)
    return fail(basis.error());
  if (is_new)
    if (auto entered = specs_of(**basis).and_then([&](const auto& specs) { return enter_specs(commit->books, specs); });
        !entered)
      return fail(entered.error());
  auto winner = winner_in(s, *basis, *commit, leader);
  if (!winner)
    return fail(winner.error());
  return estimator{winner_model(*basis, *winner), s.config};
}

/// As `exporting_of`, of the ensemble whose metrics the evaluation shows. Where the job does not know who leads, as at
/// the best checkpoint of an earlier iteration, averages decide, as no evaluation is made within an exporter.
exporting exporting_winner(searcher s, const eval_spec& spec) {
  s.search.evaluator.reset();
  return [s = std::move(s), spec](const export_surroundings& in, const export_occasion& now) {
    const auto which = now.checkpoint.empty() ? checkpoint_ref{} : checkpoint_ref::of_path(now.checkpoint);
    return find_winner(s, which, in.files, in.leader).and_then([&](const estimator& winner) {
      return exporting_of(winner, spec)(in, now);
    });
  };
}

}  // namespace

expected<training_job> describe(const searcher& s, const train_spec& training, const eval_specs& evaluations) {
  if (auto valid = validate(s.search); !valid)
    return fail(valid.error());
  auto job = describe(estimator{no_model(), s.config}, training, evaluations);
  if (!job)
    return job;
  if (!job->basis.config.saves())
    return fail(errc::invalid_argument,
                "a search needs checkpoints, from which it grows: give a model_dir, and a save_checkpoints_steps or "
                "save_checkpoints_secs that is not none");
  for (size_t i = 0; i < job->evaluations.size(); ++i)
    if (job->evaluations[i].exports)
      job->evaluations[i].exports = exporting_winner(s, evaluations.all()[i]);
  become_search(*job, s.search);
  return job;
}

expected<job> start_by(launcher& by, const searcher& s, const train_spec& training, const eval_specs& evaluations,
                       const start_options& options) {
  return start_by(by, describe(s, training, evaluations), options);
}

expected<job> start(const searcher& s, const train_spec& training, const eval_specs& evaluations,
                    const start_options& options) {
  local_launcher local;
  return start_by(local, s, training, evaluations, options);
}

expected<train_result> train(const searcher& s, const train_spec& training) {
  return train_and_evaluate(s, training, {});
}

expected<train_result> train_and_evaluate(const searcher& s, const train_spec& training,
                                          const eval_specs& evaluations) {
  auto running = start(s, training, evaluations);
  return running ? running->wait() : expected<train_result>{fail(running.error())};
}

expected<estimator> winner_of(const searcher& s, const checkpoint_ref& which) {
  return find_winner(s, which, posix_file_system());
}

}  // namespace troupe
