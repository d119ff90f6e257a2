#include "serving/rest_service.hpp"

#include "serving/answers.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <charconv>
#include <new>

namespace troupe {

namespace {

constexpr std::string_view models_path = "/v1/models/";

http_response refused(const error& e) { return {http_status(e.category), error_answer(e.message)}; }
http_response refused(int status, std::string_view message) { return {status, error_answer(message)}; }

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size() && number >= 0 ? std::optional{number}
                                                                                  : std::nullopt;
}

/// bytes · rows, capped at 2^60.
int64_t times(int64_t bytes, int64_t rows) {
  int64_t all = 0;
  constexpr int64_t most = int64_t{1} << 60;
  return __builtin_mul_overflow(bytes, rows, &all) ? most : std::min(all, most);
}

http_response only(const std::string& method, const char* wanted) {
  return refused(405, method + " is not answered here: use " + wanted);
}

}  // namespace

http_response rest_service::health() const {
  const auto now = versions_.current();
  if (draining_)
    return refused(503, "the server is about to end");
  return now ? http_response{200, "{\"status\": \"ok\", \"version\": " + std::to_string(now->number()) + "}\n"}
             : refused(503, "no version is loaded");
}

http_response rest_service::predict(request_body& body, const served_version& version) const {
  body.trim();
  auto request = parse_predict_request(body.text(), version.signatures(), request_rows_max_, memory_);
  body.release();
  if (!request)
    return refused(request.error());
  const auto& signature = version.signatures().at(request->signature);
  // The memory of the response is reserved before anything is computed.
  const auto row = version.answer_bytes(request->signature);
  const int64_t text_bytes = times(row.text, request->rows) + answer_frame_bytes;
  if (!request->memory.set(request->memory.bytes() + times(row.outputs, request->rows) + text_bytes))
    return refused(429, "there is no memory now for the answer to " + std::to_string(request->rows) + " rows");
  const auto outputs = version.batches(request->signature).call(request->inputs, request->rows);
  if (!outputs)
    return refused(outputs.error());
  request->inputs.clear();
  http_response answer{200, predict_answer(*request, signature, *outputs, text_bytes)};
  request->memory.set(static_cast<int64_t>(answer.body.capacity()));
  answer.memory = std::move(request->memory);
  return answer;
}

/// `rest` follows "/v1/models/": NAME[/versions/N][:predict|/metadata].
http_response rest_service::answer_model(const http_request& request, const std::string& rest, std::string& method) {
  std::string path = rest;
  enum class ask { status, metadata, predict } what = ask::status;
  if (const size_t colon = path.find(':', path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
      colon != std::string::npos) {
    if (path.substr(colon) != ":predict")
      return refused(404, "a model answers :predict, not " + printable(path.substr(colon)));
    what = ask::predict;
    path.resize(colon);
  } else if (constexpr std::string_view metadata = "/metadata"; path.ends_with(metadata)) {
    what = ask::metadata;
    path.resize(path.size() - metadata.size());
  }
  std::optional<int64_t> number;
  if (constexpr std::string_view versions = "/versions/"; path.find(versions) != std::string::npos) {
    const size_t at = path.find(versions);
    const auto text = path.substr(at + versions.size());
    number = number_in(text);
    if (!number)
      return refused(400, "a version is a whole number, not " + troupe::quoted(printable(text)));
    path.resize(at);
  }
  if (path != model_)
    return refused(
        404, "there is no model " + troupe::quoted(printable(path)) + ": this server has " + troupe::quoted(model_));
  method = what == ask::predict ? "predict" : what == ask::metadata ? "metadata" : "status";
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (what == ask::predict ? request.method != "POST" : !reads)
    return only(request.method, what == ask::predict ? "POST" : "GET");
  const auto version = versions_.current();
  if (!version)
    return refused(503, "no version is loaded");
  if (number && *number != version->number())
    return refused(404, "version " + std::to_string(*number) + " of " + model_ + " is not loaded: version "
                            + std::to_string(version->number()) + " is");
  switch (what) {
    case ask::predict: return predict(request.body, *version);
    case ask::metadata: return {200, metadata_answer(model_, version->number(), version->signatures())};
    case ask::status: break;
  }
  return {200, status_answer(version->number())};
}

http_response rest_service::answer_health(const http_request& request) const {
  if (request.method != "GET" && request.method != "HEAD")
    return only(request.method, "GET");
  if (request.path == "/healthz")
    return health();
  const auto now = versions_.current();
  return {200, metrics_.text(now ? now->number() : -1, now ? now->waiting() : 0, memory_ ? memory_->used() : 0),
          "text/plain; version=0.0.4"};
}

http_response rest_service::no_path(const std::string& path, paths there) const {
  const std::string models = std::string{models_path} + model_;
  const auto known = there == paths::all      ? models + ", /metrics and /healthz"
                     : there == paths::health ? "/metrics and /healthz"
                                              : "those of " + models;
  return refused(404, printable(path) + " is no path of this server: there are " + known);
}

http_response rest_service::answer(const http_request& request, paths there) {
  const auto begun = std::chrono::steady_clock::now();
  std::string method = "other";
  const auto answer_it = [&]() -> http_response {
    if (there != paths::health && request.path.starts_with(models_path))
      return answer_model(request, request.path.substr(models_path.size()), method);
    if (there != paths::models
        && std::find(std::begin(health_paths), std::end(health_paths), request.path) != std::end(health_paths))
      return answer_health(request);
    return no_path(request.path, there);
  };
  auto made = guarded("the answer", [&]() -> expected<http_response> {
    try {
      return answer_it();
    } catch (const std::bad_alloc&) {
      return fail(errc::resource_exhausted, "there is no memory now for the answer");
    }
  });
  auto response = made ? std::move(*made) : refused(made.error());
  metrics_.answered(method, response.status,
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  return response;
}

http_response rest_service::refuse(int status, std::string_view reason) {
  metrics_.answered("other", status, 0);
  const auto what = [status] {
    switch (status) {
      case 400: return "this is no request of HTTP/1.1";
      case 408: return "the request took too long";
      case 413: return "the body is larger than this server takes";
      case 429: return "there is no memory now for the body: other requests hold it";
      default: return "the request cannot be answered";
    }
  };
  return refused(status, reason.empty() ? what() : std::string{what()} + ": " + std::string{reason});
}

}  // namespace troupe
