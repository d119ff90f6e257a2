#include "pipeline/launch/preparer.hpp"

#include "pipeline/launch/launcher.hpp"
#include "words/guarded.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

expected<std::shared_ptr<prepared_job>> make_next(const prepared_job& now, const newest& books) {
  checkpoint_info info{.id = books.id, .prefix = books.prefix, .blobs = books.blobs, .properties = books.properties};
  auto planned = plan_of(now.job, job_books{std::move(info)});
  if (!planned)
    return fail(planned.error());
  auto next = guarded("the model of the next plan", [&] { return prepare(now.job, std::move(*planned)); });
  if (!next)
    return next;
  const auto& iteration = (*next)->plan->iteration;
  if (!iteration.goes_on_from(books.id))
    return fail(errc::invalid_argument, "the planner has made a plan of iteration " + std::to_string(iteration.number)
                                            + ", which does not go on from " + books.prefix);
  if (auto possible = check_successor(now.plan, (*next)->plan); !possible)
    return fail(possible.error());
  (*next)->share_with(now);
  return next;
}

}  // namespace

preparer_actor::behavior_type preparer(preparer_actor::stateful_pointer<preparer_state> self,
                                       preparer_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  return {
      [self, &state](const prepare_plan& x) {
        auto& of = state.options;
        auto made = make_next(*of.present, x.books);
        prepared answer{x.attempt, of.place};
        if (made) {
          *of.next = *made;
          of.present = *made;
          answer.plan = std::make_shared<attempt_plan>(attempt_plan_of(*made));
        } else {
          answer.cause = std::move(made.error());
          if (answer.cause.source.empty())
            answer.cause.source = preparer_state::name;
        }
        self->send(of.asker, std::move(answer));
      },
  };
}

}  // namespace troupe
