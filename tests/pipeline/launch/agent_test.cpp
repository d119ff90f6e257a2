// An agent in simulation. Its driver is a recorder.
#include "pipeline/launch/agent.hpp"

#include "pipeline/launch/node_maker.hpp"
#include "pipeline/launch/simulated_launcher.hpp"
#include "support/prediction_case.hpp"
#include "support/recorder.hpp"
#include "support/simulated_job.hpp"
#include "support/small_job.hpp"

#include <caf/send.hpp>
#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// The agent of a small job in a world of its own; a recorder takes the place of its driver.
struct agent_alone {
  std::shared_ptr<prepared_job> job = prepare_small({.replicas = 2, .reducers = true});
  std::shared_ptr<simulated_world> world = std::make_shared<simulated_world>(1);
  launched_nodes launched{*world, job};
  agent_actor agent = launched.driven().agents.at(0);
  node_id chief = job->plan.find(role::chief, no_node)->id;
  recorder<started> driver{world->system()};

  ~agent_alone() {
    caf::anon_send_exit(driver.address(), caf::exit_reason::kill);
    caf::anon_send_exit(agent, caf::exit_reason::kill);
    run();
  }
  void run() {
    while (world->crank()) {}
  }
  template <class M>
  void tell(M message) {
    caf::send_as(caf::actor_cast<caf::actor>(driver.address()), agent, std::move(message));
    run();
  }
  node_id id_of(role what) const { return job->plan.find(what, chief)->id; }
  started start(int32_t attempt, std::vector<named_node> nodes) {
    const auto before = driver.count<started>();
    tell(start_nodes{attempt, chief, std::move(nodes)});
    REQUIRE(driver.count<started>() == before + 1);
    return driver.last<started>();
  }
  bool alive(const std::string& name) const {
    const auto node = world->node(name);
    return node && !node->get()->getf(caf::abstract_actor::is_terminated_flag);
  }
};

}  // namespace

TEST_CASE_FIXTURE(agent_alone,
                  "an agent starts nodes in the order of the message, and its one answer has a handle of each") {
  const auto answer = start(1, {{id_of(role::outfeed)}, {id_of(role::reducer)}, {id_of(role::replica)}});
  CHECK(answer.attempt == 1);
  CHECK(answer.place == 0);
  REQUIRE(answer.nodes.size() == 3);
  CHECK(answer.nodes[1].id == id_of(role::reducer));
  CHECK(answer.nodes[2].handle == world->node("replica/0"));
  for (const auto* name : {"outfeed", "reducer", "replica/0"})
    CHECK(alive(name));
}

TEST_CASE_FIXTURE(
    agent_alone,
    "every attempt begins with an answered message, which lifts the cancellation, also where it starts nobody") {
  const auto& of_chief = job->switches.at(chief);
  start(1, {});
  const auto reads = of_chief.stop->token();
  tell(cancel{chief, cancel::reads});
  CHECK(reads.stop_requested());
  CHECK_FALSE(of_chief.cancel->load());
  tell(cancel{chief, cancel::work});
  CHECK(of_chief.cancel->load());
  CHECK(start(2, {}).attempt == 2);
  CHECK_FALSE(of_chief.cancel->load());
  CHECK_FALSE(of_chief.stop->token().stop_requested());
}

TEST_CASE_FIXTURE(agent_alone, "whoever is started under a number takes the place of the one before, which ends") {
  const auto first = start(1, {{id_of(role::replica)}}).nodes[0].handle;
  const auto second = start(2, {{id_of(role::replica)}}).nodes[0].handle;
  CHECK(first->get()->getf(caf::abstract_actor::is_terminated_flag));
  CHECK_FALSE(second->get()->getf(caf::abstract_actor::is_terminated_flag));
  tell(end_nodes{{{id_of(role::replica)}, {id_of(role::infeed)}}});
  CHECK(second->get()->getf(caf::abstract_actor::is_terminated_flag));
}

TEST_CASE_FIXTURE(agent_alone, "nodes end with their driver, those of others do not, and all end with their agent") {
  recorder<started> other{world->system()};
  start(1, {{id_of(role::outfeed)}});
  caf::send_as(caf::actor_cast<caf::actor>(other.address()), agent, start_nodes{1, chief, {{id_of(role::reducer)}}});
  run();
  caf::anon_send_exit(driver.address(), caf::exit_reason::kill);
  run();
  CHECK_FALSE(alive("outfeed"));
  CHECK(alive("reducer"));
  caf::anon_send_exit(agent, caf::exit_reason::kill);
  run();
  CHECK_FALSE(alive("reducer"));
  caf::anon_send_exit(other.address(), caf::exit_reason::kill);
  run();
}

TEST_CASE("[DF-63] a predictor that is sent away takes its nodes with it") {
  for (const auto* who : {"predictor", "agent"}) {
    CAPTURE(who);
    job_basis basis{.source = std::make_shared<const model>(echo_model()), .config = {}};
    const auto job = prepare(
        prediction_job{.basis = basis, .input = dataset_over(fake_batches(30, 2)), .batches_ahead = 2});
    REQUIRE(job);
    simulated_launcher launcher{7};
    const auto running = launcher.predict(*job);
    const auto first = running->next();
    REQUIRE(first);
    REQUIRE(first->has_value());
    CHECK(launcher.world().nodes_started() == 5);
    REQUIRE(launcher.world().kill(who));
    CHECK(launcher.world().left().empty());
  }
}

}  // namespace troupe::test
