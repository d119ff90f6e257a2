// An inquiry: an actor that has waited too long asks all nodes how far they are, so that its error names the node that
// causes the wait.
#pragma once

#include "messages/control.hpp"

#include <set>

namespace troupe {

/// The nodes that were asked, and their answers, as plain data.
class inquiry {
 public:
  static constexpr uint64_t inquiries_max = 4;
  /// An actor with several inquiries numbers them apart: from 0, 1 and so on.
  explicit inquiry(uint64_t first = 0) : number_(first) {}
  uint64_t number() const { return number_; }
  /// Begins an inquiry and returns its number, which the question carries. Answers to older inquiries are dropped.
  uint64_t begin(std::vector<std::string> asked);
  /// Whether this node still has an earlier question before it: another one would only lengthen its mailbox.
  bool owes(const std::string& who) const { return owing_.contains(who); }
  /// The node was sent the question of this inquiry.
  void sent_to(const std::string& who) { owing_.insert(who); }
  /// The node has ended, and answers nothing any more.
  void forget(const std::string& who) { owing_.erase(who); }
  void withdraw() { asked_.clear(); }
  bool pending() const { return !asked_.empty(); }
  /// Adds an answer. Returns true once all nodes have answered, with those that they have asked in their turn.
  bool on(const standing& x);
  const std::vector<std::string>& asked() const { return asked_; }
  const std::map<std::string, standing>& answers() const { return answers_; }
  /// "infeed/0 does not answer; replica/0: received 12, computed 12". Nodes that do not answer come first, because they
  /// are busy with the work that the others wait for.
  std::string text() const;

 private:
  uint64_t number_ = 0;
  std::vector<std::string> asked_;
  std::map<std::string, standing> answers_;
  std::set<std::string> owing_;
};

}  // namespace troupe
