// The driver of an evaluation without training. It starts the evaluator and the writer of its event file and waits for
// both, so that the thread outside need not be an actor.
#pragma once

#include "actors/agents.hpp"
#include "actors/evaluation_board.hpp"

namespace troupe {

struct lone_evaluation_options {
  driven_nodes nodes;
  std::shared_ptr<evaluation_board> board;
  checkpoint_choice which = {};
};

/// Has no deadlines: the waiting thread has them, and they cover an evaluator inside a call that does not return.
struct lone_evaluation_state {
  static inline const char* name = "evaluation";
  lone_evaluation_actor::stateful_pointer<lone_evaluation_state> self = nullptr;
  lone_evaluation_options options;
  troupe::agents agents;
  roster nodes;
  bool answered = false;

  /// Null if the job has no such writer, or if it has ended.
  summary_writer_actor writer() const { return nodes.the<role::eval_summary_writer>(); }
  void on_started(const started& x);
  void on_evaluated(const evaluated& x);
  void on_down(const caf::down_msg& x);
};

lone_evaluation_actor::behavior_type lone_evaluation(
    lone_evaluation_actor::stateful_pointer<lone_evaluation_state> self, lone_evaluation_options options);

}  // namespace troupe
