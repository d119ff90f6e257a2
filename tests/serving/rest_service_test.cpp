#include "serving/rest_service.hpp"

#include "tests/serving/fake_servable.hpp"
#include "tests/support/has.hpp"
#include "tests/support/scarce_memory.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace troupe {

using test::has;

namespace {

struct small_service {
  std::shared_ptr<test::fake_exports> exports = std::make_shared<test::fake_exports>();
  served_versions versions{std::make_unique<test::fake_source>(exports), {}};
  server_metrics metrics;
  request_memory memory{100'000};
  rest_service service{"half", 10, versions, metrics, &memory};

  small_service() {
    exports->factors = {{9, 2.f}};
    REQUIRE(versions.refresh());
  }
  http_response ask(const std::string& method, const std::string& path, const std::string& body = {}) {
    request_body held;
    REQUIRE(held.append(body.data(), body.size()));
    return service.answer({method, path, held});
  }
  /// The message of an answer with an error.
  std::string error_of(const http_response& r) { return nlohmann::json::parse(r.body).at("error"); }
  void refused(int status, const std::string& message, const std::string& method, const std::string& path,
               const std::string& body = {}) {
    const auto answer = ask(method, path, body);
    CAPTURE(path);
    CHECK(answer.status == status);
    CHECK(answer.content_type == "application/json");
    CHECK(error_of(answer) == message);
  }
};

constexpr const char* one_row = R"({"instances": [[1, 2]]})";

}  // namespace

TEST_CASE_FIXTURE(small_service, "a model predicts, by its name and by its version") {
  for (const auto* path : {"/v1/models/half:predict", "/v1/models/half/versions/9:predict"}) {
    const auto answer = ask("POST", path, one_row);
    CHECK(answer.status == 200);
    CHECK(answer.body == "{\"predictions\": [{\"y\": [2, 4], \"parity\": 1, \"parity_word\": \"odd\"}]}\n");
  }
  CHECK(ask("POST", "/v1/models/half:predict",
            R"({"signature_name": "sum", "inputs": {"a": [1], "b": [[[1, 1], [1, 1]]]}})")
            .body
        == "{\"outputs\": [5]}\n");
}

TEST_CASE_FIXTURE(small_service, "status and metadata are those of the version that answers") {
  for (const auto* path : {"/v1/models/half", "/v1/models/half/versions/9"})
    CHECK(nlohmann::json::parse(ask("GET", path).body)["model_version_status"][0]["version"] == "9");
  for (const auto* path : {"/v1/models/half/metadata", "/v1/models/half/versions/9/metadata"})
    CHECK(nlohmann::json::parse(ask("GET", path).body)["model_spec"]["version"] == "9");
}

TEST_CASE_FIXTURE(small_service, "what cannot be answered is an error that says what would be right") {
  refused(404, "there is no model 'other': this server has 'half'", "POST", "/v1/models/other:predict", one_row);
  refused(404, "version 8 of half is not loaded: version 9 is", "POST", "/v1/models/half/versions/8:predict", one_row);
  refused(400, "a version is a whole number, not 'new'", "GET", "/v1/models/half/versions/new");
  refused(404, "a model answers :predict, not :classify", "POST", "/v1/models/half:classify", one_row);
  refused(405, "GET is not answered here: use POST", "GET", "/v1/models/half:predict");
  refused(405, "POST is not answered here: use GET", "POST", "/v1/models/half");
  refused(405, "PUT is not answered here: use GET", "PUT", "/metrics");
  refused(404, "/ is no path of this server: there are /v1/models/half, /metrics and /healthz", "GET", "/");
  refused(400, "the body is no JSON at byte 1", "POST", "/v1/models/half:predict", "x");
  refused(400, "x must not be below 0", "POST", "/v1/models/half:predict", R"({"instances": [[-1, 0]]})");
}

TEST_CASE_FIXTURE(small_service, "a model is read by GET and HEAD and asked by POST, and by nothing else") {
  for (const std::string method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    CAPTURE(method);
    const bool reads = method == "GET" || method == "HEAD";
    CHECK(ask(method, "/v1/models/half").status == (reads ? 200 : 405));
    CHECK(ask(method, "/v1/models/half/metadata").status == (reads ? 200 : 405));
    CHECK(ask(method, "/v1/models/half:predict", one_row).status == (method == "POST" ? 200 : 405));
  }
}

TEST_CASE_FIXTURE(small_service,
                  "health is that of a server with a version, until it drains; what still comes is answered") {
  CHECK(ask("GET", "/healthz").body == "{\"status\": \"ok\", \"version\": 9}\n");
  service.drain();
  refused(503, "the server is about to end", "GET", "/healthz");
  CHECK(ask("POST", "/v1/models/half:predict", one_row).status == 200);
}

TEST_CASE_FIXTURE(small_service, "metrics count requests by method and status, rows and batches") {
  metrics.computed(3);
  ask("POST", "/v1/models/half:predict", one_row);
  ask("POST", "/v1/models/half:predict", "x");
  ask("GET", "/v1/models/half");
  const auto text = ask("GET", "/metrics");
  CHECK(text.content_type == "text/plain; version=0.0.4");
  const auto has_line = [&](const std::string& line) { return has("\n" + text.body, "\n" + line + "\n"); };
  CHECK(has_line("troupe_serve_requests_total{method=\"predict\",code=\"200\"} 1"));
  CHECK(has_line("troupe_serve_requests_total{method=\"predict\",code=\"400\"} 1"));
  CHECK(has_line("troupe_serve_requests_total{method=\"status\",code=\"200\"} 1"));
  CHECK(has_line("troupe_serve_request_seconds_bucket{method=\"predict\",le=\"+Inf\"} 2"));
  CHECK(has_line("troupe_serve_request_seconds_count{method=\"predict\"} 2"));
  CHECK(has_line("troupe_serve_rows_total 3"));
  CHECK(has_line("troupe_serve_batches_total 1"));
  CHECK(has_line("troupe_serve_model_version 9"));
  CHECK(has_line("troupe_serve_waiting_requests 0"));
}

TEST_CASE_FIXTURE(
    small_service,
    "a request whose tensors or answer find no memory is refused with 429, and what requests held is free afterwards") {
  memory_share others{&memory};
  REQUIRE(others.set(100'000 - 40));
  refused(429, "there is no memory now for 8 rows", "POST", "/v1/models/half:predict",
          R"({"instances": [[1,2],[1,2],[1,2],[1,2],[1,2],[1,2],[1,2],[1,2]]})");
  refused(429, "there is no memory now for the answer to 1 rows", "POST", "/v1/models/half:predict", one_row);
  CHECK(memory.used() == others.bytes());
  REQUIRE(others.set(0));
  const auto answer = ask("POST", "/v1/models/half:predict", one_row);
  CHECK(answer.status == 200);
  CHECK(memory.used() == static_cast<int64_t>(answer.body.capacity()));
  CHECK(has(ask("GET", "/metrics").body, "\ntroupe_serve_request_bytes " + std::to_string(memory.used()) + "\n"));
}

TEST_CASE_FIXTURE(small_service, "an answer takes no more than is asked for before it is computed") {
  for (const std::string body : {one_row, R"({"instances": [[5.8774718e-39, 1.6543211e38]]})",
                                 R"({"inputs": [[5.8774718e-39, 0.12345679], [1.6543211e38, 3]]})"}) {
    const auto answer = ask("POST", "/v1/models/half:predict", body);
    const auto rows = has(body, "inputs") ? 2 : 1;
    CHECK(answer.status == 200);
    CHECK(std::ssize(answer.body)
          <= rows * versions.current()->answer_bytes("serving_default").text + answer_frame_bytes);
  }
}

TEST_CASE_FIXTURE(
    small_service,
    "a request for which memory ends at any moment is refused with 429 or ends there, and the next one is answered") {
  const std::string
      longer = R"({"signature_name": "serving_default", "x": {"y": [1, 2]}, "instances": [{"x": [1, 2]}, )"
               R"({"x": [3, 4]}, {"x": [5, 6]}]})";
  const std::string
      wrong = R"({"instances": [[1, 2], [1, "a text that is longer than what has no block of its own"]]})";
  for (const auto& [method, path, text] : std::initializer_list<std::tuple<std::string, std::string, std::string>>{
           {"POST", "/v1/models/half:predict", longer},
           {"POST", "/v1/models/half:predict", wrong},
           {"GET", "/v1/models/half/metadata", ""},
           {"GET", "/v1/models/half", ""},
           {"GET", "/metrics", ""},
           {"GET", "/a/path/that/is/not/there", ""}}) {
    CAPTURE(path);
    const int whole = ask(method, path, text).status;
    for (int64_t allocations = 0;; ++allocations) {
      CAPTURE(allocations);
      request_body body;
      REQUIRE(body.append(text.data(), text.size()));
      int status = 0;
      bool ended = true;
      try {
        const test::scarce_memory scarce{allocations};
        status = service.answer({method, path, body}).status;
        ended = scarce.ended();
      } catch (const std::bad_alloc&) {}
      CHECK(memory.used() == 0);
      CHECK(versions.current()->waiting() == 0);
      CHECK((status == 0 || status == 429 || status == whole));
      if (!ended)
        break;
    }
    CHECK(ask("POST", "/v1/models/half:predict", one_row).status == 200);
  }
}

}  // namespace troupe
