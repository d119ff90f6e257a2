// The table of docs/failures.md about a chief and an evaluator in two processes, made anew.
#include "support/followed_job.hpp"
#include "support/page_table.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

enum class moment : uint8_t { before_the_first, while_training };

struct trouble_case {
  std::string who;   ///< In the world.
  std::string text;  ///< In the table.
  bool hangs = false;
};

std::string outcome(running_job& job) {
  const auto result = job.wait(48h);
  return !result ? "hangs" : !*result ? "fails" : "goes on";
}

/// What becomes of the chief and of the evaluator, as two words.
std::string outcomes(const trouble_case& trouble, moment at, failure_policy policy, uint64_t seed) {
  small_job_options o{.max_steps = 20};
  two_processes both{seed, slow_training(500ms)};
  auto follower = describe_follower_small(o);
  follower.evaluations.front().on_evaluator_failure = policy;
  follower.chief_within = 60s;
  both.start_evaluator(std::move(follower));
  if (at != moment::before_the_first)
    both.start_chief(describe_judged_elsewhere(o));
  const auto there = [&] {
    return at == moment::before_the_first ? both.evaluator->progress().now != job_progress::phase::starting
                                          : both.chief->progress().committed_step >= 5;
  };
  both.world->crank_until(there);
  if (trouble.hangs)
    both.world->hang(trouble.who);
  else if (both.evaluator->ended() || !both.world->kill(trouble.who))
    return no_such_node;
  if (at == moment::before_the_first)
    both.start_chief(describe_judged_elsewhere(o));
  const auto chief = outcome(*both.chief);
  const auto evaluator = outcome(*both.evaluator);
  return chief == evaluator ? "both " + std::string{chief == "goes on" ? "go on" : "fail"}
                            : "chief " + chief + ", evaluator " + evaluator;
}

}  // namespace

TEST_CASE("the page of failures says what becomes of a chief and an evaluator in two processes") {
  std::string table =
      "| trouble | before the first commit | while training |\n"
      "| --- | --- | --- |\n";
  const std::vector<std::pair<trouble_case, failure_policy>> rows{
      {{"evaluator/evaluator", "the evaluator dies, `fail`"}, failure_policy::fail},
      {{"evaluator/evaluator", "the evaluator dies, `go_on`"}, failure_policy::go_on},
      {{"evaluator/evaluator/replica/0", "a node of the evaluator dies"}, failure_policy::fail},
      {{"evaluator/summary_writer/eval", "its summary writer dies"}, failure_policy::fail},
      {{"evaluator/summary_writer/eval", "its summary writer hangs", true}, failure_policy::fail},
      {{"evaluator/checkpoint_watcher", "its checkpoint watcher dies"}, failure_policy::fail},
      {{"evaluator/checkpoint_watcher", "its checkpoint watcher hangs", true}, failure_policy::fail},
      {{"evaluator/follower", "the follower dies"}, failure_policy::fail},
      {{"chief/checkpoint_watcher", "the chief's checkpoint watcher dies"}, failure_policy::fail},
      {{"chief/checkpoint_watcher", "the chief's checkpoint watcher hangs", true}, failure_policy::fail},
      {{"chief/checkpoint_writer", "the chief's checkpoint writer dies"}, failure_policy::fail},
      {{"evaluator/evaluator", "the evaluator hangs", true}, failure_policy::fail}};
  for (const auto& [trouble, policy] : rows) {
    table += "| " + trouble.text + " |";
    for (const auto at : {moment::before_the_first, moment::while_training})
      table += cell_of(
          [&, &trouble = trouble, &policy = policy](uint64_t seed) { return outcomes(trouble, at, policy, seed); });
    table += "\n";
  }
  check_page("docs/failures.md", table);
}

}  // namespace troupe::test
