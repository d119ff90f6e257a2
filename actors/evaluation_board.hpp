// The board of an evaluation without training: shows the driver's results to the thread that waits for them.
#pragma once

#include "messages/evaluation.hpp"

#include <troupe/error.hpp>

#include <string>

namespace troupe {

/// Called by the driver, and by code that monitors its end. Implementations are thread-safe.
class evaluation_board {
 public:
  virtual ~evaluation_board() = default;
  /// Only the first call counts.
  virtual void answered(expected<evaluated> x) = 0;
  /// The event file was not written correctly; the result is valid nevertheless.
  virtual void warned(std::string text) = 0;
  /// The last call.
  virtual void written() = 0;
};

}  // namespace troupe
