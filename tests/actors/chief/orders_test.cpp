// A chief receives messages of its neighbours in any order: in each phase, every three messages of different neighbours
// in every order. Afterwards the stand-ins answer every request.
#include "actors/chief/decisions.hpp"
#include "support/answering_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>

namespace troupe::test {

namespace {

/// A message that a neighbour may send now.
struct offer {
  std::string who, what;
  bool harmless = false;  ///< No request, failure or death: its time does not change the job's facts.
  std::function<void()> say;
  bool is_answer = false;  ///< Answers a request, so it is sent later if it is not sent now.
  bool is_later = false;   ///< Its neighbour has to give another answer first.
};

/// The phase of the chief, and the answers for which it waits.
enum class moment {
  starting,    ///< The checkpoint writer restores the state.
  restoring,   ///< The hooks begin.
  gated,       ///< Training waits for the evaluation of step 10.
  training,    ///< Training goes on; evaluation of step 10, commit of step 20 and hooks' answers are pending.
  shown,       ///< The state of step 7 is shown to the evaluator.
  draining,    ///< The last steps are granted; an evaluation and hooks' answers are pending.
  recovering,  ///< A replica has died; the delay before the next attempt runs. An evaluation of the failed one goes on.
  closing,     ///< The event files are being closed.
};
const std::pair<moment, std::string> moments[] = {{moment::starting, "starting"},     {moment::restoring, "restoring"},
                                                  {moment::gated, "gated"},           {moment::training, "training"},
                                                  {moment::shown, "shown"},           {moment::draining, "draining"},
                                                  {moment::recovering, "recovering"}, {moment::closing, "closing"}};

struct ordered_chief : answering_nodes {
  explicit ordered_chief(moment m) {
    if (m == moment::shown)
      options.evaluations[0].every_steps = 7;
    if (m != moment::gated && m != moment::recovering)
      wanted = {.steps = {{.first = 5, .every = 10}}};
    if (m == moment::training || m == moment::draining)
      options.evaluations[0].when = evaluation_mode::beside;
    stride = 1;
    start();
    if (m == moment::starting)
      return;
    news<restore>(role::checkpoint_writer);
    say_restored();
    if (m == moment::restoring)
      return;
    const std::set<role> behind{role::callbacks, role::evaluator, role::eval_summary_writer};
    switch (m) {
      case moment::gated:
      case moment::recovering:
        answer_until([&] { return reached >= 9; });
        silent = behind;
        answer_until([&] { return node(role::evaluator).count<evaluate_at>() > 0; });
        if (m == moment::gated)
          break;
        kill(role::replica);
        answer_until([&] { return phase() == job_progress::phase::recovering; });
        break;
      case moment::training:
      case moment::draining:
        answer_until([&] { return reached >= (m == moment::training ? 9 : 29); });
        silent = behind;
        answer_until([&] { return durable.contains(m == moment::training ? 10 : 30); });
        silent.insert(role::checkpoint_writer);
        answer_until([&] { return reached >= (m == moment::training ? 20 : last_step - 1); });
        break;
      case moment::shown:
        answer_until([&] {
          listen();
          return with_books.contains(0);
        });
        say_committed(0);
        answer_until([&] { return reached >= 6; });
        silent = behind;
        silent.insert(role::checkpoint_writer);
        answer_until([&] { return node(role::checkpoint_writer).count<show_state>() > 0; });
        break;
      default:
        answer_until([&] { return reached >= last_step; });
        silent = {role::callbacks, role::summary_writer, role::eval_summary_writer};
        answer_until([&] { return node(role::summary_writer).count<finish_log>() > 0; });
    }
    silent = {};
  }
  template <class F>
  void answer_until(const F& there) {
    for (int i = 0; i < 400 && !there(); ++i)
      if (!answer())
        let_pass(std::chrono::milliseconds{250});
    CAPTURE(reached);
    CAPTURE(granted_to);
    CAPTURE(board->events.size());
    CAPTURE(board->result ? board->result->has_value() ? "well" : to_text(board->result->error()) : "no end");
    CAPTURE(facts());
    REQUIRE(there());
  }
  /// All messages that neighbours may send now.
  std::vector<offer> offers() {
    std::vector<offer> all;
    listen();
    const auto add_offer = [&](std::string who, std::string what, bool harmless, std::function<void()> say) {
      all.push_back({std::move(who), std::move(what), harmless, std::move(say)});
    };
    const auto answer_offer = [&](std::string who, std::string what, std::function<void()> say) {
      const bool is_later = std::any_of(all.begin(), all.end(),
                                        [&](const offer& o) { return o.is_answer && o.who == who; });
      all.push_back({std::move(who), std::move(what), true, std::move(say), true, is_later});
    };
    for (const auto& x : news<restore>(role::checkpoint_writer))
      answer_offer("checkpoint_writer", "restored", [this, x] {
        attempt = x.attempt;
        say_restored();
      });
    for (const auto& f : news<fact>(role::callbacks))
      answer_offer("callbacks", "answer to fact " + std::to_string(f.number), [this, f] { answer_fact(f, wanted); });
    for (const auto& x : news<evaluate_at>(role::evaluator)) {
      answer_offer("evaluator", "evaluated " + std::to_string(x.which.step), [this, x] { say_evaluated(x); });
      add_offer("evaluator", "failed evaluation", false, [this, x] {
        tell(boss, evaluated{x.attempt,
                             {x.which.step, x.which.iteration},
                             false,
                             {},
                             0,
                             0,
                             error{errc::data_loss, "bad data"},
                             x.prefix});
      });
    }
    for (const auto& x : news<troupe::record>(role::eval_summary_writer))
      answer_offer("eval_summary_writer", "credit", [this, x] {
        tell(boss, record_credit{attempt, x.number + 1 + initial_record_credit, number_of(role::eval_summary_writer)});
      });
    if (granted_to > reached && alive(role::outfeed) && alive(role::replica)) {
      add_offer("outfeed", "progress " + std::to_string(granted_to), true,
                [this, to = granted_to] { say_progress(to); });
      add_offer("outfeed", "end of data", false, [this, at = granted_to] {
        stream_ends = at;
        std::erase_if(pending, [at](int64_t step) { return step > at; });
        for (const auto step : std::set<int64_t>{watches})
          if (step > at)
            watches.erase(step);
        say_progress(at);
        tell(boss, stream_end{attempt, number_of(role::replica), at, error{errc::out_of_range, "the data ended"},
                              end_kind::data});
      });
      add_offer("outfeed", "a failed step", false, [this, at = granted_to] {
        stream_ends = at;
        tell(boss, stream_end{attempt, number_of(role::replica), at, error{errc::aborted, "lost", {}, "replica/0", at},
                              end_kind::failed});
      });
    }
    for (const auto step : pending) {
      if (with_books.contains(step) || step > reached)
        add_offer("checkpoint_writer", "a failed save", false, [this, step] {
          pending.erase(step);
          tell(boss, save_failed{attempt, step, error{errc::unavailable, "the disk is away"}});
        });
      if (with_books.contains(step) && step <= granted_to)
        add_offer("checkpoint_writer", "committed " + std::to_string(step), true,
                  [this, step] { say_committed(step); });
      break;
    }
    for (const auto& x : news<show_state>(role::checkpoint_writer))
      answer_offer("checkpoint_writer", "state shown", [this, x] { tell(boss, state_shown{x.attempt, x.step}); });
    for (const auto what : {role::summary_writer, role::eval_summary_writer})
      for (const auto& x : news<finish_log>(what)) {
        static_cast<void>(x);
        answer_offer(what == role::summary_writer ? "summary_writer" : "eval_summary_writer", "its file is closed",
                     [this, what] {
                       caf::anon_send_exit(node(what).address(), caf::exit_reason::user_shutdown);
                       run();
                     });
      }
    if (alive(role::infeed)) {
      add_offer("infeed", "a warning", true, [this] {
        tell(boss, input_warned{attempt, number_of(role::infeed), "a short batch"});
      });
      add_offer("infeed", "a failure", false, [this] {
        tell(boss, input_failed{attempt, number_of(role::infeed), granted_to + 1,
                                error{errc::unavailable, "no file", {}, "infeed/0", granted_to + 1}});
      });
    }
    for (const auto what : {role::checkpoint_writer, role::outfeed, role::replica, role::infeed, role::summary_writer,
                            role::eval_summary_writer, role::evaluator, role::callbacks})
      if (alive(what))
        add_offer(what == role::eval_summary_writer ? "eval_summary_writer" : std::string{to_string(what)}, "its death",
                  false, [this, what] {
                    if (alive(what))
                      kill(what);
                  });
    add_offer("timer", "a tick", true, [this] { let_pass(std::chrono::milliseconds{400}); });
    const auto ask = [&](const char* what, request x) { add_offer("user", what, false, [this, x] { tell(boss, x); }); };
    ask("save", {request::save});
    ask("stop", {request::stop});
    ask("stop by signal", {request::stop, true});
    ask("abort", {request::abort});
    ask("half the rate", {request::scale_rate, false, 0.5});
    add_offer("user", "pause", false, [this] {
      tell(boss, request{request::pause});
      paused = true;
    });
    add_offer("user", "pause and resume", false, [this] {
      tell(boss, request{request::pause});
      tell(boss, request{request::resume});
    });
    return all;
  }
  bool paused = false;

  bool end() {
    if (paused)
      tell(boss, request{request::resume});
    return answer_all();
  }

  /// A text of the facts that must not depend on the order of harmless messages.
  std::string facts() const {
    std::vector<std::string> lines;
    for (const auto& e : board->events)
      if (e.what != job_event::kind::progress && e.what != job_event::kind::warning)
        lines.push_back(std::to_string(static_cast<int>(e.what)) + "@" + std::to_string(e.step)
                        + (e.metrics.contains("loss") ? "l" : ""));
    for (const auto& [kind, step] : marks)
      lines.push_back("mark " + std::to_string(kind) + "@" + std::to_string(step));
    for (const auto step : durable)
      lines.push_back("commit " + std::to_string(step));
    std::sort(lines.begin(), lines.end());
    std::string text = board->result ? (*board->result ? "well at " + std::to_string((*board->result)->global_step)
                                                       : to_text(board->result->error()))
                                     : "no end";
    for (const auto& l : lines)
      text += "\n" + l;
    return text;
  }
  bool forgot() const {
    return std::any_of(board->events.begin(), board->events.end(),
                       [](const job_event& e) { return e.text == forgotten_text; });
  }
};

struct tried {
  int64_t orders = 0, harmless = 0;
  std::string said;  ///< Names of the harmless offers.
  std::vector<std::string> wrong;
};

/// Tries every triple of offers in every order, each with a new chief, whose offers at a moment are always the same. Of
/// the triples that are not all harmless, only one in `every` is tried.
tried try_orders(moment m, int64_t every) {
  tried t;
  const auto names = ordered_chief{m}.offers();
  const auto n = names.size();
  for (const auto& o : names)
    if (o.harmless)
      t.said += (t.said.empty() ? "" : ", ") + o.who + ": " + o.what;
  int64_t number = 0;
  for (size_t a = 0; a < n; ++a)
    for (size_t b = a + 1; b < n; ++b)
      for (size_t c = b + 1; c < n; ++c) {
        if (names[a].who == names[b].who || names[b].who == names[c].who || names[a].who == names[c].who
            || names[a].is_later || names[b].is_later || names[c].is_later)
          continue;
        const bool harmless = names[a].harmless && names[b].harmless && names[c].harmless;
        if (!harmless && number++ % every != 0)
          continue;
        std::array<size_t, 3> order{a, b, c};
        std::string first;
        do {
          ordered_chief chief{m};
          const auto all = chief.offers();
          std::string told;
          for (const auto i : order) {
            told += (told.empty() ? "" : ", ") + all[i].who + ": " + all[i].what;
            if (!chief.board->result)
              all[i].say();
          }
          chief.let_pass(std::chrono::milliseconds{500});  // The timer must find nothing to do.
          for (size_t i = 0; i < all.size(); ++i)
            if (all[i].is_answer && std::find(order.begin(), order.end(), i) == order.end() && !chief.board->result)
              all[i].say();
          ++t.orders;
          t.harmless += harmless ? 1 : 0;
          if (!chief.end())
            t.wrong.push_back(told + ": it does not end, in phase " + std::to_string(static_cast<int>(chief.phase())));
          if (chief.forgot())
            t.wrong.push_back(told + ": a tick found something to do");
          const auto facts = chief.facts();
          if (harmless && !(chief.board->result && chief.board->result->has_value()))
            t.wrong.push_back(told + ": it does not end well: " + facts);
          if (harmless && first.empty())
            first = facts;
          if (harmless && facts != first)
            t.wrong.push_back(told + ": other facts than in the first order\n" + facts + "\n-- first:\n" + first);
        } while (std::next_permutation(order.begin(), order.end()));
      }
  return t;
}

}  // namespace

TEST_CASE(
    "three messages of different neighbours lead to an end in each phase and each order, and harmless ones to the same "
    "facts") {
  const auto* const given = std::getenv("TROUPE_ORDERS_EVERY");
  const int64_t every = given ? std::max(std::atoi(given), 1) : 20;
  int64_t orders = 0, harmless = 0;
  for (const auto& [m, name] : moments) {
    CAPTURE(name);
    const auto t = try_orders(m, every);
    orders += t.orders;
    CAPTURE(t.said);
    CHECK(t.harmless > 0);
    harmless += t.harmless;
    std::string text;
    for (size_t i = 0; i < std::min<size_t>(t.wrong.size(), 5); ++i)
      text += "\n" + t.wrong[i];
    CHECK_MESSAGE(t.wrong.empty(), t.wrong.size() << " of " << t.orders << " orders:" << text);
  }
  MESSAGE(orders << " orders, " << harmless << " of them of harmless messages alone");
}

}  // namespace troupe::test
