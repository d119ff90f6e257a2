// A chief whose stand-in nodes answer every request: a whole job in which nothing is computed.
#pragma once

#include "support/chief_fixture.hpp"

#include <set>

namespace troupe::test {

/// A job with every role. The stand-ins make steps as soon as they are granted, and commit a save as soon as its books
/// arrive.
struct answering_nodes : chief_alone {
  static constexpr int64_t last_step = 40;

  answering_nodes() {
    options.max_steps = last_step;
    options.save_steps = 10;
    options.recovery = {.attempts_max = 2, .first_delay_secs = 1};
    options.evaluations = {{.throttle_secs = 0}};
    for (const auto what : {role::summary_writer, role::eval_summary_writer, role::evaluator, role::callbacks})
      add(what);
  }

  // -- what the nodes know -------------------------------------------------------------
  int32_t attempt = 1;
  int64_t reached = 0, granted_to = 0, stream_ends = INT64_MAX;
  std::set<int64_t> durable;                    ///< Steps of the commits.
  std::set<int64_t> pending, with_books;        ///< Saves requested in this attempt; those whose books have arrived.
  std::set<int64_t> watches;                    ///< States that hooks are shown.
  std::set<std::pair<uint8_t, int64_t>> marks;  ///< The marks of all attempts, with their kinds.
  needs wanted = {.steps = {{.first = 5, .every = 10, .gate = true}}, .holds = {.evaluated = true}};

  int64_t stride = last_step;  ///< Steps that one call of `answer` makes at most.
  std::set<role> silent;       ///< Roles whose nodes answer nothing.

  bool alive(node_id id) {
    return !agent->nodes.at(id).address()->get()->getf(caf::abstract_actor::is_terminated_flag);
  }
  bool alive(role what) { return alive(number_of(what)); }
  /// The messages of type `M` that a living node has not answered; none if its role is silent.
  template <class M>
  std::vector<M> news(role what) {
    return silent.contains(what) ? std::vector<M>{} : fresh<M>(what);
  }
  /// As `news`, but for silent roles, too.
  template <class M>
  std::vector<M> fresh(role what) {
    auto& node = agent->nodes.at(number_of(what));
    auto& seen = answered_[{node.address()->id(), caf::type_id<M>::value}];
    const auto& all = node.template all<M>();
    std::vector<M> since(all.begin() + static_cast<std::ptrdiff_t>(seen), all.end());
    seen = all.size();
    return alive(what) ? since : std::vector<M>{};
  }

  // -- what they say -------------------------------------------------------------------
  void say_progress(int64_t to) {
    if (to <= reached)
      return;
    progress news{attempt, to, 1, 0.001, {to, 0.5, 0.5, {}}, {}, {}};
    for (const auto step : watches)
      if (step > reached && step <= to)
        news.watched.push_back({.step = step, .values = {}, .observed = {}});
    reached = to;
    tell(boss, std::move(news));
  }
  void say_committed(int64_t step) {
    pending.erase(step);
    durable.insert(step);
    tell(boss, committed{attempt, {step}, "/m/model.ckpt-" + std::to_string(step), {}});
  }
  void say_evaluated(const evaluate_at& x) {
    tell(boss, evaluated{x.attempt,
                         {x.which.step, x.which.iteration},
                         true,
                         {{"loss", 1.0 / static_cast<double>(x.which.step + 1)},
                          {"global_step", static_cast<double>(x.which.step)}},
                         3,
                         0.1,
                         {},
                         x.prefix});
  }
  void say_restored() {
    const int64_t newest = durable.empty() ? 0 : *durable.rbegin();
    std::map<std::string, std::string> positions;
    if (!durable.empty())
      positions["infeed/0"] = "batch " + std::to_string(newest);
    reached = granted_to = newest;
    pending.clear(), with_books.clear(), watches.clear();
    tell(boss, restored{attempt,
                        !durable.empty(),
                        {newest},
                        durable.empty() ? "" : "/m/model.ckpt-" + std::to_string(newest),
                        positions,
                        {},
                        {}});
  }

  // -- what they do when they are asked ------------------------------------------------
  /// Reads grants and the chief's books, which need no answer.
  void listen() {
    for (const auto& r : news<troupe::run>(role::replica)) {
      if (r.attempt != attempt)
        continue;
      granted_to = std::max(granted_to, r.until);
      for (const auto& m : r.marks) {
        for (const auto kind : {mark_snapshot, mark_watch, mark_end})
          if ((m.kinds & kind) != 0)
            marks.emplace(kind, m.step);
        if ((m.kinds & mark_snapshot) != 0 && m.step <= stream_ends)
          pending.insert(m.step);
        if ((m.kinds & mark_watch) != 0)
          watches.insert(m.step);
      }
    }
    for (const auto what : {role::summary_writer, role::checkpoint_writer})
      for (const auto& part : fresh<snapshot_part>(what))
        if (part.attempt == attempt) {
          with_books.insert(part.step);
          if (part.step <= reached || part.step == stream_ends)
            pending.insert(part.step);
        }
    for (const auto& x : fresh<abandon>(role::checkpoint_writer))
      std::erase_if(pending, [&](int64_t step) { return x.attempt == attempt && step > x.step; });
  }
  /// Lets each node answer what it was asked. False: there was nothing to answer.
  bool answer() {
    bool any = false;
    const auto does = [&any](auto&& all, auto&& f) {
      for (const auto& x : all) {
        any = true;
        f(x);
      }
    };
    listen();
    does(news<restore>(role::checkpoint_writer), [&](const restore& x) {
      attempt = x.attempt;
      stream_ends = INT64_MAX;
      say_restored();
    });
    listen();
    does(news<late_properties>(role::checkpoint_writer), [&](const late_properties& x) {
      tell(boss, late_properties_kept{x.attempt, x.id});
    });
    does(news<show_state>(role::checkpoint_writer), [&](const show_state& x) {
      tell(boss, state_shown{x.attempt, x.step});
    });
    does(news<settle>(role::checkpoint_writer), [&](const settle& x) {
      for (const auto step : x.steps)
        if (step > reached || !with_books.contains(step)) {
          pending.erase(step);
          tell(boss, save_failed{x.attempt, step, error{errc::aborted, "lacks a part"}});
        }
    });
    if (alive(role::checkpoint_writer) && !silent.contains(role::checkpoint_writer))
      for (const auto step : std::set<int64_t>{pending})
        if (with_books.contains(step) && step <= reached) {
          any = true;
          say_committed(step);
        }
    does(news<flush>(role::outfeed), [&](const flush& x) { tell(boss, flushed{x.number}); });
    for (const auto what : {role::infeed, role::replica})
      does(news<halt>(what), [&](const halt& x) { tell(boss, halted{x.attempt, number_of(what)}); });
    does(news<troupe::stop>(role::replica), [&](const troupe::stop& x) {
      stream_ends = reached;
      tell(boss, stream_end{x.attempt, number_of(role::replica), reached, error{errc::cancelled, "stopped"},
                            end_kind::stopped});
    });
    if (const auto to = std::min({granted_to, stream_ends, reached + stride});
        alive(role::replica) && alive(role::infeed) && to > reached) {
      any = true;
      if (alive(role::outfeed)) {
        say_progress(to);
      } else {
        tell(boss, step_report{attempt, number_of(role::replica), reached,
                               std::vector<double>(static_cast<size_t>(to - reached), 0.5)});
        reached = to;
      }
    }
    does(news<evaluate_at>(role::evaluator), [&](const evaluate_at& x) { say_evaluated(x); });
    does(news<troupe::record>(role::eval_summary_writer), [&](const troupe::record& x) {
      tell(boss, record_credit{attempt, x.number + 1 + initial_record_credit, number_of(role::eval_summary_writer)});
    });
    does(news<fact>(role::callbacks), [&](const fact& x) { answer_fact(x, wanted); });
    for (const auto what : {role::summary_writer, role::eval_summary_writer})
      does(news<finish_log>(what), [&](const finish_log&) {
        caf::anon_send_exit(node(what).address(), caf::exit_reason::user_shutdown);
        run();
      });
    return any;
  }
  /// Answers until the job has a result. False: it has none after `limit`, which exceeds every deadline.
  bool answer_all(std::chrono::seconds limit = std::chrono::seconds{400}) {
    for (const auto end = schedule.clock().now() + limit; !board->result && schedule.clock().now() < end;)
      if (!answer())
        let_pass(std::chrono::milliseconds{250});
    return board->result.has_value();
  }

 private:
  std::map<std::pair<caf::actor_id, caf::type_id_t>, size_t> answered_;
};

}  // namespace troupe::test
