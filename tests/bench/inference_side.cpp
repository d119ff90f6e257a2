// Our side of ./dev bench --inference: one exported model, called by a thread of its own, one call after the other.
//
//   inference_side                        lists the rows
//   inference_side ROW ROWS DIRECTORY     writes DIRECTORY/model.onnx and DIRECTORY/x.f32, answers "ready"; then for
//                                         each line with a number of calls the seconds of each, as one JSON list
#include "tests/support/initialised_export.hpp"
#include "tests/support/predicting_models.hpp"

#include <troupe/onnx.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace troupe::bench {
namespace {

template <class T>
T need(expected<T> x) {
  if (!x)
    throw std::runtime_error(to_text(x.error()));
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

std::vector<test::predicting_model> rows() {
  return {test::dense_predictor({10, 16, 2}), test::dense_predictor({784, 256, 128, 10}), test::lenet_predictor()};
}

void serve(const test::predicting_model& one, int64_t batch, const std::string& directory) {
  const auto m = need(
      exported_model::open(need(test::export_initialised(one.model(), one.features, directory + "/m"))));
  need(write_onnx(m, directory + "/model.onnx"));
  const tensor x = test::random_rows(one.features[0], batch, 1, 3);
  need(write_file_atomically(*posix_file_system(), directory, "x.f32",
                             {reinterpret_cast<const char*>(x.data()), static_cast<size_t>(x.byte_size())}));
  std::vector<int64_t> sizes{1};
  if (batch > 1)
    sizes.push_back(batch);
  auto call = need(m.caller({.rows = sizes}));
  const tensor inputs[] = {x};
  std::printf("ready\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    size_t calls = 0;
    std::from_chars(line.data(), line.data() + line.size(), calls);
    std::vector<double> seconds(calls);
    for (auto& s : seconds) {
      const auto start = std::chrono::steady_clock::now();
      const auto y = call.call(inputs);
      s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!y)
        throw std::runtime_error(to_text(y.error()));
    }
    std::string list = "[";
    char number[32];
    for (const double s : seconds) {
      std::snprintf(number, sizeof number, "%.9f", s);
      list.append(list.size() > 1 ? "," : "").append(number);
    }
    std::printf("%s]\n", list.c_str());
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  const auto known = troupe::bench::rows();
  if (argc == 1) {
    for (const auto& one : known)
      std::printf("%s\n", one.name.c_str());
    return 0;
  }
  try {
    for (const auto& one : known)
      if (argc == 4 && one.name == argv[1])
        return troupe::bench::serve(one, std::stoll(argv[2]), argv[3]), 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 2;
}
