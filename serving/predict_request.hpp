// The body of a predict request, in TensorFlow Serving's two forms: rows, {"instances": [...]}, and columns, {"inputs":
// {...}}. See docs/serving.md.
#pragma once

#include "serving/request_memory.hpp"
#include "serving/servable.hpp"

namespace troupe {

struct predict_request {
  std::string signature = {};
  bool by_rows = true;  ///< The response has the same form.
  int64_t rows = 0;
  std::vector<tensor> inputs = {};       ///< In the order of the signature.
  memory_share memory = memory_share{};  ///< The share that the inputs hold.
};

/// Values are read in the order of the body, straight into tensors. Their memory is part of `all` (null: unbounded) and
/// is taken for the rows that the body really has. Other members of the body are checked and not kept.
/// invalid_argument, naming the place in the body, what is there and what would be right: no JSON, neither or both
/// forms, an unknown signature or input, an input that is missing or given twice, a value of another shape or type, a
/// number that the type does not hold, no rows, or more than `rows_max`. resource_exhausted: out of memory.
expected<predict_request> parse_predict_request(std::string_view body, const served_signatures& signatures,
                                                int64_t rows_max, request_memory* all = nullptr);

}  // namespace troupe
