// An inquiry: whoever has waited too long asks everyone where they stand, so that its error names whom it really waits for.
#pragma once

#include "messages/control.hpp"

namespace troupe {

/// Who was asked, and what they answered, as plain data.
class inquiry {
 public:
  /// The number that the question carries; older answers are dropped.
  uint64_t begin(std::vector<std::string> asked);
  void withdraw() { asked_.clear(); }
  bool pending() const { return !asked_.empty(); }
  /// Whether everyone has answered now.
  bool on(const standing& x);
  /// "infeed/0 does not answer; replica/0: received 12, computed 12": those who do not answer first, since they are busy with
  /// what everyone waits for.
  std::string text() const;

 private:
  uint64_t number_ = 0;
  std::vector<std::string> asked_;
  std::map<std::string, standing> answers_;
};

}  // namespace troupe
