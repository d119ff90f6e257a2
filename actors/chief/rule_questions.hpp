// Predicates of rules that evaluators were asked to apply and have not answered. Plain data.
#pragma once

#include "actors/chief/judgements.hpp"
#include "messages/evaluation.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace troupe {

class rule_questions {
 public:
  struct open_question {
    judgements::question what;
    /// The result that waits for the answer; absent if the rule is asked about the state at which an attempt begins.
    std::optional<evaluated> of = {};
  };
  /// Returns the number of the question.
  uint64_t ask(judgements::question what, std::optional<evaluated> of) {
    open_.emplace(++asked_, open_question{what, std::move(of)});
    return asked_;
  }
  /// Removes and returns the question that is answered; absent if the answer is no longer awaited.
  std::optional<open_question> take(uint64_t number) {
    auto found = open_.extract(number);
    return found ? std::optional{std::move(found.mapped())} : std::nullopt;
  }
  bool empty() const noexcept { return open_.empty(); }
  /// The newest question that the evaluator of this evaluation has not answered; null if there is none.
  const open_question* asked_of(size_t evaluation) const {
    const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                    [evaluation](const auto& q) { return q.second.what.evaluation == evaluation; });
    return found == open_.rend() ? nullptr : &found->second;
  }
  /// Whether a result of this evaluation waits for an answer.
  bool hold_result_of(size_t evaluation) const {
    return std::any_of(open_.begin(), open_.end(),
                       [evaluation](const auto& q) { return q.second.of && q.second.what.evaluation == evaluation; });
  }
  /// The evaluator is lost: forgets its questions.
  void drop(size_t evaluation) {
    std::erase_if(open_, [evaluation](const auto& q) { return q.second.what.evaluation == evaluation; });
  }
  /// Forgets the questions about the beginning of an attempt, which each attempt asks anew; questions about results
  /// belong to the job.
  void begin_attempt() {
    std::erase_if(open_, [](const auto& q) { return !q.second.of; });
  }

 private:
  std::map<uint64_t, open_question> open_;
  uint64_t asked_ = 0;
};

}  // namespace troupe
