// Checks that a plan can follow another one in a job that runs.
#include "plan/checked_plan.hpp"
#include "plan/refusals.hpp"

#include <tuple>

namespace troupe {

expected<void> check_successor(const checked_plan& now, const checked_plan& next) {
  const auto lives_on = [](const plan_node& n, const checked_plan& in) {
    const auto* driver = in.find(n.driver);
    return row_of(n.what).outlives_iteration && (n.what == role::chief || (driver && driver->what == role::chief));
  };
  for (const auto& [from, to, which] : {std::tuple{&now, &next, "next"}, std::tuple{&next, &now, "present"}})
    for (const auto& n : (*from)->nodes) {
      if (!lives_on(n, *from))
        continue;
      const auto* same = to->find(n.id);
      if (!same || same->what != n.what || same->name != n.name || same->driver != n.driver || same->place != n.place)
        return refuse(named(n) + " lives on from iteration to iteration, and the " + which + " plan has "
                      + (same ? named(*same) + ", " + an(same->what) + "," : "nobody") + " under its number");
    }
  return {};
}

}  // namespace troupe
