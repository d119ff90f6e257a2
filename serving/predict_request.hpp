// The body of a predict request, in TensorFlow Serving's two forms: rows, {"instances": [...]}, and columns, {"inputs": {...}}.
// docs/serving.md.
#pragma once

#include "serving/request_memory.hpp"
#include "serving/servable.hpp"

namespace troupe {

struct predict_request {
  std::string signature = {};
  bool by_rows = true;                  ///< The answer has the form of the question.
  int64_t rows = 0;
  std::vector<tensor> inputs = {};      ///< In the order of the signature.
  memory_share memory = memory_share{};  ///< Of the inputs.
};

/// invalid_argument, naming the place in the body, what is there and what would be right: no JSON, neither or both forms, an unknown
/// signature or input, one that is missing or there twice, a value of another shape or type, a number that the type does not hold, no rows, or
/// more than `rows_max`. Values are read in the order of the body, straight into tensors, whose memory is part of `all` (null: unbounded) and is
/// taken for the rows that are there, whatever the body says; other members of the body are checked and not kept. resource_exhausted: there is
/// no memory.
expected<predict_request> parse_predict_request(std::string_view body, const served_signatures& signatures, int64_t rows_max,
                                                request_memory* all = nullptr);

}  // namespace troupe
