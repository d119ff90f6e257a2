// The bodies of answers, in the forms of TensorFlow Serving's REST interface. Each ends in a newline; numbers that are not finite are
// null.
#pragma once

#include "serving/predict_request.hpp"

namespace troupe {

/// {"predictions": [...]} by rows, {"outputs": {...}} by columns. One output alone is given without its name. `outputs` are those of
/// the signature, of which `words` are made. Room for `bytes` is taken at once: where the text has not more, nothing is copied.
std::string predict_answer(const predict_request& request, const served_signature& signature, std::span<const tensor> outputs, int64_t bytes = 0);

/// What a row takes at most: in the text of such an answer, and as outputs.
struct answer_row_bytes {
  int64_t text = 0, outputs = 0;
};
answer_row_bytes bytes_of_row(const served_signature& signature);
/// The text of an answer beside its rows.
inline constexpr int64_t answer_frame_bytes = 64;

/// {"model_spec": ..., "metadata": {"signature_def": ...}}
std::string metadata_answer(const std::string& model, int64_t version, const served_signatures& signatures);

/// {"model_version_status": [...]}: the one version that answers.
std::string status_answer(int64_t version);

/// {"error": "..."}
std::string error_answer(std::string_view message);

/// The status of HTTP for a category of errors: 400, 404, 429, 501, 503, 504, or 500.
int http_status(errc category) noexcept;

}  // namespace troupe
