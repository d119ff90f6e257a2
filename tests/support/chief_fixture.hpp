// A chief whose nodes are stand-ins that record their messages and end when the test ends them.
#pragma once

#include "actors/chief/chief.hpp"
#include "support/fake_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

struct shown_job final : job_board {
  void run_ended(run_end x) override { runs.push_back(std::move(x)); }
  std::vector<run_end> runs;
  void variables(reading x) override { readings.push_back(std::move(x)); }
  std::vector<reading> readings;
  void status(const job_progress& now) override {
    if (phases.empty() || phases.back() != now.now)
      phases.push_back(now.now);
    newest = now;
  }
  void event(const job_event& what) override { events.push_back(what); }
  void report(const job_report& now) override { reports.push_back(now); }
  void finished(expected<train_result> x) override { result = std::move(x); }
  bool warned() const {
    return std::any_of(events.begin(), events.end(),
                       [](const job_event& e) { return e.what == job_event::kind::warning; });
  }
  std::vector<job_progress::phase> phases;  ///< The phases that the job went through, in order.
  job_progress newest;
  std::vector<job_event> events;
  std::vector<job_report> reports;
  std::optional<expected<train_result>> result;
};

/// Accepts every message that a chief sends to its nodes.
using stand_in_node = recorder<begin, departed, retire, troupe::run, rewind, halt, stop, probe, connect_parts,
                               connect_reports, connect_reader, connect_source, connect_reducer, connect_records, leave,
                               restore, troupe::stand_in, abandon, name_missing, name_newest, name_values, settle,
                               unlease, late_properties, snapshot_part, gone, flush, evaluate_at, export_at, apply_rule,
                               request, note, troupe::record, finish_log, fact, show_state, scale_rate, read_variables>;

/// An agent that starts a stand-in for every node.
struct agent_of_stand_ins : fake_agent {
  explicit agent_of_stand_ins(simulation& w) : world(w) {
    make = [this](node_id id) {
      nodes.insert_or_assign(id, world.keep(stand_in_node{world.system}));
      return nodes.at(id).address();
    };
  }

  simulation& world;
  std::vector<member> listed;              ///< The nodes of the plan.
  std::map<node_id, stand_in_node> nodes;  ///< The last stand-in that was started for each node.
};

/// A plan of these nodes and a chief. Its programs are for evaluation, so that it needs no reducer.
inline std::shared_ptr<const checked_plan> plan_of(const std::vector<member>& listed, node_id chief) {
  job_plan p;
  std::map<group_id, std::pair<size_t, int32_t>> programs;  // The program and the number of replicas of each group.
  std::map<role, int32_t> counts;
  std::set<std::string> names;
  const std::vector<std::string> data{std::string{data_port}};
  const auto feed = std::find_if(listed.begin(), listed.end(), [](const member& m) { return m.what == role::infeed; });
  p.datasets.push_back({"d", mode::evaluate});
  for (const auto& m : listed) {
    auto& n = p.nodes.emplace_back(plan_node{
        .id = m.id, .what = m.what, .name = m.name, .driver = chief, .group = m.group, .index = counts[m.what]++});
    if (!names.insert(n.name).second)
      n.name += "/" + std::to_string(static_cast<int32_t>(m.id));
    if (m.what == role::infeed) {
      n.dataset = 0;
      if (m.id == feed->id)
        n.out_ports = data;
    }
    if (m.what == role::replica) {
      const auto [program, added] = programs.try_emplace(m.group, p.programs.size(), 0);
      if (added)
        p.programs.push_back({"m", mode::evaluate, m.group});
      n.program = program->second.first;
      n.index = program->second.second++;
      n.in_ports = data;
      p.edges.push_back({.id = edge_id{static_cast<int32_t>(p.edges.size())},
                         .from = feed->id,
                         .to = m.id,
                         .how = divide::broadcast});
    }
  }
  p.nodes.push_back({.id = chief, .what = role::chief, .name = "chief"});
  add_service_edges(p, counts.contains(role::checkpoint_writer));
  auto checked = checked_plan::of(std::move(p));
  REQUIRE_MESSAGE(checked, (checked ? "" : to_text(checked.error())));
  return std::make_shared<checked_plan>(std::move(*checked));
}

/// The types of a replica's messages in order: those that connect it, then `Ms`.
template <class... Ms>
std::vector<caf::type_id_t> after_connecting() {
  return order_of<connect_reports, connect_parts, connect_source, Ms...>();
}

/// A chief with one replica and one infeed, which saves every 10 steps by default.
struct chief_alone : simulation {
  std::shared_ptr<agent_of_stand_ins> agent = std::make_shared<agent_of_stand_ins>(*this);
  std::shared_ptr<shown_job> board = std::make_shared<shown_job>();
  chief_options options;
  chief_actor boss;

  chief_alone() {
    options.board = board;
    options.max_steps = 100;
    options.save_steps = 10;
    options.directory = "/m";
    options.recovery.attempts_max = 0;
    options.deadlines = {.start = std::chrono::seconds{10},
                         .silence = std::chrono::seconds{20},
                         .save = std::chrono::seconds{30},
                         .evaluation = std::chrono::seconds{40},
                         .hooks = std::chrono::seconds{5},
                         .cut = std::chrono::seconds{1},
                         .stop = std::chrono::seconds{3}};
    for (const auto what : {role::checkpoint_writer, role::outfeed, role::replica, role::infeed})
      add(what);
  }
  void add(role what) {
    agent->listed.push_back(
        {node_id{static_cast<int32_t>(agent->listed.size())}, what, {}, std::string{to_string(what)}});
  }
  bool has(role what) const {
    return std::any_of(agent->listed.begin(), agent->listed.end(), [what](const member& m) { return m.what == what; });
  }
  /// The number of the first node of a role.
  node_id number_of(role what) const {
    return std::find_if(agent->listed.begin(), agent->listed.end(), [what](const member& m) { return m.what == what; })
        ->id;
  }
  stand_in_node& nth(role what, size_t n) {
    const auto m = std::find_if(agent->listed.begin(), agent->listed.end(),
                                [&](const member& x) { return x.what == what && n-- == 0; });
    REQUIRE(m != agent->listed.end());
    return agent->nodes.at(m->id);
  }
  stand_in_node& node(role what) { return nth(what, 0); }

  void start() {
    options.id = node_id{1000};
    options.nodes = {options.id, plan_of(agent->listed, options.id), {{0, spawn_agent(*this, *agent)}}};
    boss = spawn(chief, options);
    run();
  }
  void restore_at(int64_t step) {
    const bool found = step > 0;
    std::map<std::string, std::string> positions;
    if (found)
      positions["infeed/0"] = "batch " + std::to_string(step);
    tell(boss, restored{1, found, {step}, found ? "/m/model.ckpt-" + std::to_string(step) : "", positions, {}, {}});
    if (has(role::callbacks))
      answer_hooks();
  }
  /// Starts a job in its phase of training; its first state is not committed.
  void train() {
    start();
    restore_at(0);
    REQUIRE(phase() == job_progress::phase::training);
  }
  job_progress::phase phase() const { return board->phases.back(); }
  void reach(int64_t step) { tell(boss, progress{1, step, 1, 0.001, {step, 0.5, 0.5, {}}, {}, {}}); }
  void commit(int64_t step) { tell(boss, committed{1, {step}, "/m/model.ckpt-" + std::to_string(step), {}}); }
  /// Answers one fact for the hooks. `wanted`: their needs, the answer to the fact at the beginning.
  void answer_fact(const fact& f, const needs& wanted = {}) {
    if (f.what == fact::begin_at)
      tell(boss, hooks_ready{f.number, wanted.steps, wanted.holds, !wanted.values.empty(), wanted.last});
    else if (f.what == fact::end_at)
      tell(boss, hooks_ended{f.number});
    else
      tell(boss, answered{f.number, f.at, f.gate});
  }
  /// Answers all facts that were sent so far.
  void answer_hooks(const needs& wanted = {}) {
    auto& facts = node(role::callbacks).all<fact>();
    for (; answered_facts < facts.size(); ++answered_facts)
      answer_fact(fact{facts[answered_facts]}, wanted);
  }
  size_t answered_facts = 0;
  void kill(role what) {
    caf::anon_send_exit(node(what).address(), caf::exit_reason::kill);
    run();
  }
  void answer_flush() {
    if (node(role::outfeed).count<flush>() > 0)
      tell(boss, flushed{node(role::outfeed).last<flush>().number});
  }
  int64_t granted() { return node(role::replica).last<troupe::run>().until; }
  /// Reports each grant as reached, up to `step`.
  void reach_up_to(int64_t step) {
    for (int64_t before = -1; granted() < step && granted() != before;)
      reach(before = granted());
    REQUIRE(granted() >= step);
    reach(step);
  }
  /// The steps of the marks of these kinds in all grants so far.
  std::vector<int64_t> marked(mark_kinds kinds) {
    std::vector<int64_t> steps;
    for (const auto& r : node(role::replica).all<troupe::run>())
      for (const auto& m : r.marks)
        if ((m.kinds & kinds) == kinds)
          steps.push_back(m.step);
    return steps;
  }
  /// Runs the job to its end with nodes that fulfil every request. `evaluate` answers for the evaluators after each
  /// commit.
  void let_finish(const std::function<void(int64_t)>& evaluate = {}) {
    for (int round = 0; round < 200 && !board->result; ++round) {
      if (!board->phases.empty() && granted() > reached_so_far)
        reach(reached_so_far = granted());
      for (const auto step : marked(mark_snapshot))
        if (committed_so_far.insert(step).second) {
          commit(step);
          if (evaluate)
            evaluate(step);
        }
      if (has(role::callbacks))
        answer_hooks();
      for (const auto what : {role::summary_writer, role::eval_summary_writer})
        if (has(what) && node(what).count<finish_log>() > 0)
          caf::anon_send_exit(node(what).address(), caf::exit_reason::user_shutdown), run();
      answer_flush();
    }
    REQUIRE(board->result);
  }
  int64_t reached_so_far = 0;
  std::set<int64_t> committed_so_far;
};

}  // namespace troupe::test
