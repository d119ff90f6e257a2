// A search without actors: a trainer that answers the commands of `search`, and a disk that outlives its process.
#pragma once

#include "ensemble/names.hpp"
#include "ensemble/search.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

/// The process ended here.
struct crash {};

struct simulated_search {
  // -- the program: the same for every process ---------------------------------------------

  using builders = std::vector<subnetwork_spec>;
  std::function<builders(int64_t iteration)> generate = [](int64_t) { return builders{{"a"}}; };
  std::vector<strategy> strategies{strategy::grow()};
  std::vector<std::string> ensemblers{"mean"};
  search_rules rules = {};
  /// The AdaNet loss of a candidate in a tick.
  std::function<float(const std::string& spec, int64_t tick)> loss = [](const std::string&, int64_t) { return 1.f; };
  /// Its score in an evaluation.
  std::function<double(const std::string& spec)> score = [](const std::string&) { return 1.; };
  std::optional<int64_t> save_every = {};   ///< Ticks between commits within an iteration.
  std::optional<int64_t> input_ticks = {};  ///< Ticks of the input of a process.
  struct own_stop {
    std::string builder;
    int64_t step = 0;
    stop_cause cause = stop_cause::hook;
  };
  /// These stop in each iteration after so many steps of their own; `dropped` is a step that is not finite.
  std::vector<own_stop> stops = {};

  // -- what outlives a process --------------------------------------------------------------

  struct commit {
    checkpoint_id id;
    std::string books;
  };
  std::vector<commit> commits = {};
  std::map<std::string, std::string> files = {};

  // -- what happened ------------------------------------------------------------------------

  std::vector<generator_reports> seen = {};  ///< By the generator, at each iteration that was planned.
  int64_t ticks = 0, evaluations = 0;        ///< Of all processes.
  std::vector<choice> choices = {};
  int64_t actions = 0;                   ///< Commits, writes of files, evaluations and plans.
  std::optional<int64_t> crash_at = {};  ///< The action before which the process ends.

  /// A process that goes on from the newest commit to its end.
  end_search run() {
    process p{*this};
    return p.run();
  }
  /// Processes that go on until one does not crash.
  end_search run_again_and_again() {
    for (;;) {
      try {
        return run();
      } catch (const crash&) {
        crash_at.reset();
      }
    }
  }

  search_books books() const {
    auto read = commits.empty() ? expected<search_books>{} : parse_books(commits.back().books, "books");
    REQUIRE_MESSAGE(read, read.error().message);
    return *read;
  }
  /// The winner of the iteration that the newest commit leaves open, chosen on the fly.
  architecture open_winner() const {
    const auto all = books();
    candidate_scores scores;
    for (const auto& candidate : all.candidates)
      scores.push_back({{"adanet_loss", score(candidate.what.spec)}});
    const auto chosen = choose(rules.choice, all.iteration(), contenders_of(all), scores);
    REQUIRE_MESSAGE(chosen, chosen.error().message);
    return grown(all, *chosen, {}).winners.back().recipe;
  }

 private:
  struct process {
    simulated_search& world;
    search the_search{world.rules};
    int64_t tick = 0, first_tick = 0;
    iteration_specs specs = {};
    std::map<std::string, loss_average> averages = {};  ///< Of the new candidates that have not left.
    std::vector<own_stop> still_to_stop = {};

    explicit process(simulated_search& w) : world(w), first_tick(w.books().tick) {}

    void act() {
      if (world.crash_at == world.actions++)
        throw crash{};
    }
    static void require(const expected<void>& done) { REQUIRE_MESSAGE(done, done.error().message); }

    end_search run() {
      begin(world.books());
      if (!world.commits.empty())
        write_files();
      for (;;) {
        const auto command = the_search.wanted();
        if (const auto* train = std::get_if<train_until>(&command))
          make_tick(*train);
        else if (std::holds_alternative<score_candidates>(command))
          evaluate();
        else if (std::holds_alternative<report_specs>(command))
          report();
        else if (const auto* growth = std::get_if<grow_into>(&command))
          grow(*growth);
        else
          return std::get<end_search>(command);
      }
    }

    void begin(search_books books) {
      const int64_t iteration = books.iteration();
      world.seen.resize(std::max(world.seen.size(), static_cast<size_t>(iteration) + 1));
      world.seen[static_cast<size_t>(iteration)] = reports_before(books.reports, iteration);
      act();
      auto planned = specs_of(iteration, world.generate(iteration), books.previous(), world.strategies,
                              world.ensemblers);
      REQUIRE_MESSAGE(planned, planned.error().message);
      specs = std::move(*planned);
      tick = books.tick;
      still_to_stop = world.stops;
      require(the_search.begin(std::move(books), specs));
      averages.clear();
      const auto begun = the_search.books_at(tick);
      for (size_t i = iteration > 0 ? 1 : 0; i < begun.candidates.size(); ++i)
        if (const auto& candidate = begun.candidates[i]; !candidate.stop)
          averages[candidate.what.spec] = candidate.average;
    }

    void make_tick(const train_until& train) {
      if (train.until != tick && world.input_ticks && tick - first_tick == *world.input_ticks)
        return require(the_search.input_ended(tick));
      if (train.until != tick) {
        ++tick;
        ++world.ticks;
        for (auto& [spec, average] : averages)
          average.update(world.loss(spec, tick), .9f);
        tell_stops(train);
        require(the_search.reached(tick));
      }
      const auto* now = std::get_if<train_until>(&the_search.wanted());
      if (now && (now->until == tick || (world.save_every && tick % *world.save_every == 0)))
        save();
    }

    void tell_stops(const train_until& train) {
      std::erase_if(still_to_stop, [&](const own_stop& stop) {
        if (tick - train.begins_at != stop.step)
          return false;
        const auto spec = subnetwork_spec_name(train.iteration, stop.builder);
        if (stop.cause == stop_cause::dropped)
          drop(train.iteration, stop.builder);
        else
          require(the_search.stopped(spec, {stop.cause, stop.step}));
        return true;
      });
    }

    void drop(int64_t iteration, const std::string& builder) {
      for (const size_t reader : readers_of(specs, iteration, builder))
        averages.erase(specs.candidates[reader].spec);
      require(the_search.dropped(subnetwork_spec_name(iteration, builder), tick, "the loss is nan"));
    }

    void save() {
      require(the_search.measured(tick, averages));
      commit();
      require(the_search.committed(tick));
    }

    void commit() {
      const auto books = the_search.books_at(tick);
      act();
      const checkpoint_id id{books.tick, books.iteration()};
      if (world.commits.empty() || world.commits.back().id != id)
        world.commits.push_back({id, {}});
      world.commits.back().books = books_text(books);
      write_files();
    }

    void write_files() {
      act();
      for (const auto& file : derived_files(world.books()))
        world.files[file.path] = file.text;
    }

    void evaluate() {
      act();
      ++world.evaluations;
      candidate_scores scores;
      for (const auto& candidate : the_search.books_at(tick).candidates)
        scores.push_back({{"adanet_loss", world.score(candidate.what.spec)}});
      require(the_search.scored(scores));
    }

    void report() {
      act();
      ++world.evaluations;
      const auto books = the_search.books_at(tick);
      std::vector<materialized_report> reports;
      if (books.iteration() > 0)
        reports.push_back(report_of_previous({{"adanet_loss", world.score(books.winners.back().spec)}}));
      for (const auto& subnetwork : books.subnetworks)
        reports.push_back(report_of(subnetwork.builder, {.hparams = {{"builder", subnetwork.builder}}}, {}));
      the_search.reported(std::move(reports));
    }

    void grow(const grow_into& growth) {
      const auto next = growth;  // `begin` replaces the command.
      begin(next.books);
      commit();
      world.choices.push_back(next.chosen);
      require(the_search.committed(tick));
    }
  };
};

}  // namespace troupe::test
