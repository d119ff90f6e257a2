// An inquiry: an actor that has waited too long asks all nodes how far they are, so that its error names the node that
// causes the wait.
#pragma once

#include "messages/control.hpp"

namespace troupe {

/// The nodes that were asked, and their answers, as plain data.
class inquiry {
 public:
  /// An actor with two inquiries numbers them apart: one from 0, the other from 1.
  explicit inquiry(uint64_t first = 0) : number_(first) {}
  /// Begins an inquiry and returns its number, which the question carries. Answers to older inquiries are dropped.
  uint64_t begin(std::vector<std::string> asked);
  void withdraw() { asked_.clear(); }
  bool pending() const { return !asked_.empty(); }
  /// Adds an answer. Returns true once all nodes have answered.
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
};

}  // namespace troupe
