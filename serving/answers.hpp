// The bodies of responses, in the forms of TensorFlow Serving's REST interface. Each ends in a newline. Numbers that
// are not finite are written as null.
#pragma once

#include "serving/predict_request.hpp"

namespace troupe {

/// {"predictions": [...]} for a request by rows, {"outputs": {...}} for one by columns. A single output is given
/// without its name. `outputs` are those of the signature; its `words` are made from them. Reserves `bytes` at once: a
/// text that is not longer is never copied.
std::string predict_answer(const predict_request& request, const served_signature& signature,
                           std::span<const tensor> outputs, int64_t bytes = 0);

/// Upper bounds of the bytes of one row: in the text of a predict response, and as output tensors.
struct answer_row_bytes {
  int64_t text = 0, outputs = 0;
};
answer_row_bytes bytes_of_row(const served_signature& signature);
/// The bytes of a predict response beside its rows.
inline constexpr int64_t answer_frame_bytes = 64;

/// {"model_spec": ..., "metadata": {"signature_def": ...}}
std::string metadata_answer(const std::string& model, int64_t version, const served_signatures& signatures);

/// {"model_version_status": [...]}, with the one version that is served.
std::string status_answer(int64_t version);

/// {"error": "..."}
std::string error_answer(std::string_view message);

/// The HTTP status for a category of errors: 400, 404, 429, 501, 503, 504, or 500.
int http_status(errc category) noexcept;

}  // namespace troupe
