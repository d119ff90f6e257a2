// The board of an evaluation without training: what its driver shows to the thread that waits for it.
#pragma once

#include "messages/evaluation.hpp"

#include <troupe/error.hpp>

#include <string>

namespace troupe {

/// Called by the driver, and by whoever hears of its end. The implementation is safe for any thread.
class evaluation_board {
 public:
  virtual ~evaluation_board() = default;
  /// The first call counts.
  virtual void answered(expected<evaluated> x) = 0;
  /// The event file was not written as it should be: the result is valid all the same.
  virtual void warned(std::string text) = 0;
  /// Nothing follows.
  virtual void written() = 0;
};

}  // namespace troupe
