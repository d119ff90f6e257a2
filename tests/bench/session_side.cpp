// Our side of ./dev bench --peers session, which scripts/peers/session.py runs.
//
//   session_side STEPS
//
// makes STEPS runs of one step in each kind of session, prints the loss that each has reached as JSON, and answers
// each line "KIND SECONDS" with the steps a second over about that time, by the wall clock.
#include "tests/bench/bench.hpp"
#include "tests/bench/measured_session.hpp"

#include <iostream>

namespace troupe::bench {
namespace {

/// The first values of both sides: the i-th of a kernel is (7 i mod 13 - 6) / 13, biases are 0.
expected<void> begin_as_agreed(parameter_access& all) {
  for (const auto& name : all.names()) {
    const auto now = all.read(name);
    if (!now)
      return fail(now.error());
    std::vector<float> values(static_cast<size_t>(now->dims().elements()), 0.0f);
    if (name.ends_with("kernel"))
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(static_cast<int>(i * 7 % 13) - 6) / 13;
    if (auto written = all.write(name, tensor::of<float>(now->dims(), values)); !written)
      return written;
  }
  return {};
}

struct kind {
  std::string name;
  int64_t steps_a_run;
  std::unique_ptr<measured_session> session;
};

int serve(int64_t compared_steps) {
  const session_options options{.init_fn = begin_as_agreed};
  const auto open = [&](std::vector<std::shared_ptr<hook>> hooks) {
    return std::make_unique<measured_session>(std::move(hooks), options);
  };
  std::vector<kind> kinds;
  kinds.push_back({"run", 1, open({})});
  kinds.push_back({"hook", 1, open({std::make_shared<watcher>()})});
  kinds.push_back({"run_hook", 1, open({std::make_shared<quiet>()})});
  kinds.push_back({"runs_of_1000", 1000, open({})});
  std::string losses;
  for (const auto& k : kinds) {
    float loss = 0;
    for (int64_t i = 0; i < compared_steps; ++i)
      loss = k.session->run({.what = {.fetches = {"loss"}}}).values.at("loss").as<float>()[0];
    losses += (losses.empty() ? "\"" : ", \"") + k.name + "\": " + std::to_string(loss);
  }
  std::cout << "{" << losses << "}" << std::endl;
  std::string name;
  for (double seconds = 0; std::cin >> name >> seconds;) {
    const auto k = std::find_if(kinds.begin(), kinds.end(), [&](const kind& one) { return one.name == name; });
    if (k == kinds.end())
      return 2;
    const work runs = k->session->runs_of(k->steps_a_run);
    const int64_t n = units_for(runs, seconds, clock_kind::wall, k->steps_a_run);
    std::cout << rate(runs, n, clock_kind::wall) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) { return argc == 2 ? troupe::bench::serve(std::atoll(argv[1])) : 2; }
