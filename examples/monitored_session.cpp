// A training loop of the program's own, in a supervised session: it decides after each run how to go on, and neither a
// restart of the program nor a failure of a part loses more than the steps since the last checkpoint.
#include "examples/orders.hpp"

#include <troupe/session.hpp>
#include <troupe/troupe.hpp>

#include <cmath>
#include <iostream>

namespace tr = troupe;
using namespace std::chrono_literals;

namespace {

double number(const tr::tensor& x) {
  return x.type() == tr::dtype::float32 ? static_cast<double>(x.as<float>()[0]) : x.as<double>()[0];
}

double norm(const tr::tensor& x) {
  double squares = 0;
  for (const float v : x.as<float>())
    squares += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(squares);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/session";
  const tr::estimator estimator{tr::dnn_classifier({.hidden_units = {16}, .classes = 2}),
                                {.model_dir = directory, .seed = 1, .save_checkpoints_steps = 50}};
  // README begins
  auto session = tr::session::open(estimator,
                                   {.input = recent_orders().shuffle().batch(32).repeat(), .max_steps = 400});
  if (!session)
    return tr::print_error(session.error());
  std::cout << "begins at step " << session->progress().step << "\n";
  for (int runs = 0; runs < 4 && !session->should_stop(); ++runs) {
    const auto run = session->run({.what = {.fetches = {"loss"}}, .steps = 45});
    if (!run)
      return tr::print_error(run.error());
    std::cout << "step " << run->step << ": loss " << number(run->values.at("loss")) << "\n";
  }
  // README ends
  // loop begins
  session->loop("norm", 100ms, [](const tr::loop_context& now) -> tr::expected<void> {
    const auto found = now.variables({"dnn/hiddenlayer_0/kernel"});
    if (!found)
      return tr::fail(found.error());
    return now.summarise({{"norm of the first layer", norm(found->values.begin()->second)}}, found->step);
  });
  // loop ends
  // step begins
  const auto stepped = session->run_step_fn([](tr::step_context& step) -> tr::expected<void> {
    const auto before = step.run({.what = {.fetches = {"loss"}}});
    if (!before)
      return tr::fail(before.error());  // If the job has recovered, this function is called again.
    const auto after = step.run({.what = {.fetches = {"loss"}}, .steps = 19});
    if (!after)
      return tr::fail(after.error());
    std::cout << "19 steps changed the loss by " << number(after->values.at("loss")) - number(before->values.at("loss"))
              << "\n";
    return {};
  });
  // step ends
  if (!stepped)
    return tr::print_error(stepped.error());
  const auto result = session->close();
  if (!result)
    return tr::print_error(result.error());
  std::cout << "ends at step " << result->global_step << "\n";
}
