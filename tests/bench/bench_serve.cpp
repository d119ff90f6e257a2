// Predictions of one row over HTTP on the loopback interface: 784-256-128-10 behind a server, compared with the same
// listener that parses the same body and returns a constant of the same size. 1, 8 and 32 clients, each with a
// connection of its own that stays open. Then bodies of 14 MiB. Then requests during which newer versions replace
// the current one; no request may fail.
#include "serving/exported_servable.hpp"
#include "serving/http_module.hpp"
#include "serving/predict_request.hpp"
#include "serving/running_server.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/serving/http_client.hpp"
#include "tests/support/initialised_export.hpp"
#include "tests/support/predicting_models.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace troupe::bench {
namespace {

constexpr int64_t rounds = 9, requests_of_swaps = 30'000, clients_of_swaps = 8;
constexpr double seconds = 0.5;

template <class T>
T need(expected<T> x) {
  if (!x)
    throw std::runtime_error(to_text(x.error()));
  return std::move(*x);
}

/// Makes version `number` in `directory` by a rename, so that the version appears complete.
void publish(const std::string& directory, int64_t number) {
  const auto source = test::dense_predictor({784, 256, 128, 10});
  const auto name = std::to_string(number);
  const auto made = need(test::export_initialised(source.model(), source.features, directory + "/making" + name,
                                                  static_cast<uint64_t>(number)));
  std::filesystem::rename(made, directory + "/" + name);
}

std::string body_of_rows(int rows) {
  std::string row = "[";
  for (int i = 0; i < 784; ++i)
    row += (i > 0 ? ", " : "") + std::to_string(static_cast<double>(i * 37 % 256) / 255);
  std::string body = "{\"instances\": [" + row + "]";
  for (int i = 1; i < rows; ++i)
    body += ", " + row + "]";
  return body + "]}";
}

/// Clients that send requests at the same time, each on its own connection and thread; measures the latencies.
class crowd {
 public:
  crowd(int port, int clients, const std::string& path, const std::string& body) : path_(path), body_(body) {
    for (int i = 0; i < clients; ++i)
      clients_.push_back(std::make_unique<test::http_client>(port));
  }
  /// Sends `n` requests in total.
  void ask(int64_t n) {
    std::atomic<int64_t> left{n};
    std::vector<std::vector<double>> times(clients_.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < clients_.size(); ++i)
      threads.emplace_back([&, i] {
        while (left-- > 0) {
          const auto start = std::chrono::steady_clock::now();
          if (clients_[i]->post(path_, body_).status != 200)
            ++failed_;
          times[i].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
      });
    for (auto& t : threads)
      t.join();
    latencies_.clear();
    for (const auto& of_one : times)
      latencies_.insert(latencies_.end(), of_one.begin(), of_one.end());
  }
  /// The 99th percentile of the latencies of the last `ask`.
  double p99_us() {
    std::sort(latencies_.begin(), latencies_.end());
    return 1e6 * latencies_[latencies_.size() * 99 / 100];
  }
  int64_t failed() const { return failed_; }

 private:
  std::string path_, body_;
  std::vector<std::unique_ptr<test::http_client>> clients_;
  std::vector<double> latencies_;
  std::atomic<int64_t> failed_{0};
};

/// The reference: the work that any server must do for such a request.
struct constant_server {
  std::shared_ptr<const servable> model;
  std::string answer;
  std::unique_ptr<http_listener> listener;
  std::thread accepting;

  constant_server(std::shared_ptr<const servable> m, std::string a, const serve_options& o)
    : model(std::move(m)), answer(std::move(a)) {
    const http_options http{.body_bytes_max = o.body_bytes_max,
                            .connections_max = o.connections_max,
                            .requests_max = o.requests_max,
                            .read_secs = o.read_secs,
                            .request_secs = o.request_secs,
                            .idle_secs = o.idle_secs};
    listener = need(listen_for_http(http, [this, rows = o.request_rows_max](const http_request& request) {
      return parse_predict_request(request.body.text(), model->signatures(), rows) ? http_response{.body = answer}
                                                                                   : http_response{.status = 400};
    }));
    accepting = std::thread{[this] { listener->run(); }};
  }
  ~constant_server() {
    listener->stop();
    accepting.join();
  }
};

void compare(suite& s, int clients, int our_port, int their_port, const std::string& path, const std::string& body,
             const std::string& what = {}) {
  crowd ours{our_port, clients, path, body}, theirs{their_port, clients, path, body};
  const auto name = std::to_string(clients) + (clients == 1 ? " client" : " clients") + what;
  const case_options o{.name = name, .unit = "requests/s", .reference_name = "parse, then a constant"};
  const auto clock = clock_kind::wall;
  const int64_t n = units_for([&](int64_t k) { ours.ask(k); }, seconds, clock),
                m = units_for([&](int64_t k) { theirs.ask(k); }, seconds, clock);
  std::vector<double> a, b, a99, b99;
  for (int64_t round = 0; round < rounds; ++round)
    for (const bool first : {round % 2 == 0, round % 2 != 0}) {
      (first ? a : b).push_back(rate([&](int64_t k) { (first ? ours : theirs).ask(k); }, first ? n : m, clock));
      (first ? a99 : b99).push_back((first ? ours : theirs).p99_us());
    }
  s.compare(o, a, b, false);
  auto p99 = o;
  p99.name += ", p99";
  p99.unit = "us";
  s.compare(p99, a99, b99, true);
  if (ours.failed() + theirs.failed() > 0)
    throw std::runtime_error(std::to_string(ours.failed()) + " requests failed, and " + std::to_string(theirs.failed())
                             + " of the reference");
}

/// Publishes three newer versions while requests are sent, a quarter of the planned number at a time.
void swap_under_load(suite& s, running_server& server, const std::string& directory, const std::string& path,
                     const std::string& body) {
  crowd all{server.port(), static_cast<int>(clients_of_swaps), path, body};
  std::thread publishing{[&] {
    for (const int64_t number : {2, 3, 4}) {
      publish(directory, number);
      while (server.version() != number)
        std::this_thread::yield();
    }
  }};
  int64_t asked = 0;
  for (; asked < requests_of_swaps || server.version() != 4; asked += requests_of_swaps / 4)
    all.ask(requests_of_swaps / 4);
  publishing.join();
  s.note(std::to_string(all.failed()) + " of " + std::to_string(asked)
         + " requests failed while versions 2, 3 and 4 took over");
  if (all.failed() > 0)
    throw std::runtime_error("requests were dropped");
}

void measure(suite& s) {
  const scratch_folder folder{"serve"};
  publish(folder.path(), 1);
  const serve_options options{.port = 0, .poll_secs = 0.05};
  const auto server = need(running_server::start(need(exports_of(folder.path())), "m", options, {}));
  const std::string path = "/v1/models/m:predict", body = body_of_rows(1);
  const auto answer = test::http_client{server->port()}.post(path, body);
  if (answer.status != 200)
    throw std::runtime_error("the server answers " + std::to_string(answer.status) + ": " + answer.body);
  const auto exports = need(exports_of(folder.path()));
  const constant_server constant{need(exports->open(need(exports->list()).front())), answer.body, options};
  for (const int clients : {1, 8, 32})
    compare(s, clients, server->port(), constant.listener->port(), path, body);
  const auto large = body_of_rows(1'800);
  const double mebibytes = static_cast<double>(large.size()) / (1 << 20);
  compare(s, 1, server->port(), constant.listener->port(), path, large,
          ", " + std::to_string(mebibytes).substr(0, 4) + " MiB");
  swap_under_load(s, *server, folder.path(), path, body);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  ::setenv("TROUPE_MODULES", TROUPE_MODULES_FOLDER, 0);
  try {
    troupe::bench::suite s{"serve", argc, argv};
    troupe::bench::measure(s);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
