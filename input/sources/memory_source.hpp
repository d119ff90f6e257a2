// A source with examples in memory: rows of tensors that are copied into batches, unchanged or converted.
#pragma once

#include "input/streams/row_stage.hpp"

namespace troupe::input {

/// One component in memory. Axis 0 of `rows` counts the examples.
struct column {
  enum class conversion : uint8_t {
    none,        ///< Copies bytes unchanged.
    unit_float,  ///< uint8 to float32, as byte / 255. Needs a quarter of the memory and bandwidth of stored floats.
    to_int32,    ///< uint8 to int32.
  };

  component what;  ///< The component that the source delivers, after conversion.
  tensor rows;
  conversion convert = conversion::none;
  std::string path = {};  ///< The file that the rows were read from, if any.
  int64_t modified = 0;   ///< The file's modification time, in seconds since the epoch.
};

/// `name` is the source's name in texts, such as "idx(train-images)". The columns are sorted by name here. Error:
/// invalid_argument naming the components: no feature, a scalar, a name that occurs twice, or different counts.
expected<dataset> memory_source(std::string name, std::vector<column> features, std::vector<column> labels);

}  // namespace troupe::input
