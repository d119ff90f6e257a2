// A program that runs CAF: the job's actors live in its system, and an actor of its own hears of progress.
#include "examples/orders.hpp"

#include <troupe/caf.hpp>
#include <troupe/troupe.hpp>

#include <caf/all.hpp>

#include <iostream>

namespace tr = troupe;

using saved_atom = caf::atom_constant<caf::atom("saved")>;
using steps_atom = caf::atom_constant<caf::atom("steps")>;

/// Counts the checkpoints that are reported to it, and answers with the count when asked.
struct bookkeeper_state {
  int64_t saved = 0;
};
caf::behavior bookkeeper(caf::stateful_actor<bookkeeper_state>* self) {
  return {
      [self](saved_atom) { ++self->state.saved; },
      [self](steps_atom) { return self->state.saved; },
  };
}

struct tell_bookkeeper : tr::hook {
  explicit tell_bookkeeper(caf::actor who) : who_(std::move(who)) {}
  void on_event(const tr::job_event& e, tr::job_control&) override {
    if (e.what == tr::job_event::kind::saved)
      caf::anon_send(who_, saved_atom::value);
  }

 private:
  caf::actor who_;
};

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/inside_caf";
  // system begins
  caf::actor_system_config config;
  tr::add_troupe_types(config);
  caf::actor_system system{config};
  const auto books = system.spawn(bookkeeper);
  {
    const tr::estimator estimator{tr::linear_classifier({.classes = 2}),
                                  {.model_dir = directory, .save_checkpoints_steps = 100}};
    auto job = tr::start(system, estimator,
                         {.input = recent_orders().shuffle().batch(32).repeat(),
                          .max_steps = 300,
                          .hooks = {std::make_shared<tell_bookkeeper>(books)}});
    if (!job)
      return tr::print_error(job.error());
    if (const auto result = job->wait(std::chrono::minutes{5}); !result)
      return tr::print_error(result.error());
  }
  // The job and its actors are gone; the system and what lives in it are not.
  // system ends
  int64_t saved = 0;
  caf::scoped_actor self{system};
  self->request(books, std::chrono::seconds{10}, steps_atom::value)
      .receive([&](int64_t count) { saved = count; },
               [&](const caf::error& e) { std::cerr << system.render(e) << "\n"; });
  self->send_exit(books, caf::exit_reason::user_shutdown);
  std::cout << saved << " checkpoints\n";
  return saved > 0 ? 0 : 1;
}
