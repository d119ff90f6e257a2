// Our side of ./dev bench --peers, which scripts/peers/ runs. Without arguments it lists the names of the rows.
//
//   train_step_side ROW momentum|adam THREADS STEPS FILE
//
// writes initial values and batches to FILE (safetensors: variables by name, "batch 0/x", "batch 0/y", ...), trains
// STEPS steps and prints {"ours": loss}. Then it reads lines. For "ours SECONDS" it trains for about that long and
// prints steps a second by the wall clock; for "limit SECONDS" it prints the steps a second that one core could make if
// it did nothing but the multiply-adds of the products, with all units always busy.
#include "storage/encodings/safetensors.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/fma_peak.hpp"
#include "tests/bench/our_step.hpp"

#include <fstream>
#include <iostream>

namespace troupe::bench {
namespace {

void write(const std::string& path, const our_step& from) {
  const auto names = from.names();
  const auto values = from.values();
  std::vector<tensor_place> places;
  std::vector<std::span<const std::byte>> bytes;
  for (size_t i = 0; i < names.size(); ++i) {
    places.push_back({.name = names[i], .type = values[i].type(), .dims = values[i].dims()});
    bytes.push_back(values[i].bytes());
  }
  for (size_t b = 0; b < batches::count; ++b)
    for (size_t i = 0; i < from.inputs().size(); ++i) {
      const component& c = from.inputs()[i];
      places.push_back(
          {.name = "batch " + std::to_string(b) + "/" + c.name, .type = c.type, .dims = c.dims.prepend(from.rows())});
      bytes.emplace_back(from.data().of_step(static_cast<int64_t>(b))[i],
                         static_cast<size_t>(places.back().dims.elements() * size_of(c.type)));
    }
  std::ofstream file{path, std::ios::binary};
  file << must(lay_out_safetensors(places));
  for (const auto part : bytes)
    file.write(reinterpret_cast<const char*>(part.data()), static_cast<std::streamsize>(part.size()));
}

int serve(const measured_model& m, const optimizer& o, int threads, int64_t steps, const std::string& path) {
  our_step ours{m, o, threads};
  write(path, ours);
  ours.run(steps);
  std::cout << "{\"ours\": " << ours.loss() << "}" << std::endl;
  const work run = [&](int64_t n) { ours.run(n); };
  std::string name;
  const double units_a_step = static_cast<double>(ours.flops()) / flops_of_peak_unit();
  for (double seconds = 0; std::cin >> name >> seconds;) {
    const bool limit = name == "limit";
    const work& what = limit ? fma_peak : run;
    std::cout << rate(what, units_for(what, seconds, clock_kind::wall), clock_kind::wall) / (limit ? units_a_step : 1)
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const auto& m : bench::models()) {
    if (arguments.empty())
      std::cout << m.name << "\n";
    else if (m.name == arguments[0] && arguments.size() == 5)
      return bench::serve(m, arguments[1] == "adam" ? optimizer{adam{}} : optimizer{momentum{}},
                          std::stoi(arguments[2]), std::stoll(arguments[3]), arguments[4]);
  }
  return arguments.empty() ? 0 : 2;
}
