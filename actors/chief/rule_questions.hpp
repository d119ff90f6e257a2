// Predicates of rules that evaluators are asked, until they have answered. Plain data.
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
    std::optional<evaluated> of = {};  ///< The result that waits for the answer; absent: the rule is asked of the state where an attempt begins.
  };
  /// Returns the number of the question.
  uint64_t ask(judgements::question what, std::optional<evaluated> of) {
    open_.emplace(++asked_, open_question{what, std::move(of)});
    return asked_;
  }
  /// The question that is answered; absent: nobody waits for the answer any more.
  std::optional<open_question> take(uint64_t number) {
    auto found = open_.extract(number);
    return found ? std::optional{std::move(found.mapped())} : std::nullopt;
  }
  bool empty() const noexcept { return open_.empty(); }
  /// The newest question that the evaluator of this evaluation has not answered.
  const open_question* asked_of(size_t evaluation) const {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [evaluation](const auto& q) { return q.second.what.evaluation == evaluation; });
    return found == open_.rend() ? nullptr : &found->second;
  }
  /// Whether the result of this evaluation waits.
  bool hold_result_of(size_t evaluation) const {
    return std::any_of(open_.begin(), open_.end(), [evaluation](const auto& q) { return q.second.of && q.second.what.evaluation == evaluation; });
  }
  /// The evaluator is lost.
  void drop(size_t evaluation) {
    std::erase_if(open_, [evaluation](const auto& q) { return q.second.what.evaluation == evaluation; });
  }
  /// Rules are asked anew where an attempt begins; results are the job's.
  void begin_attempt() {
    std::erase_if(open_, [](const auto& q) { return !q.second.of; });
  }

 private:
  std::map<uint64_t, open_question> open_;
  uint64_t asked_ = 0;
};

}  // namespace troupe
