// A training loop of the program's own, in a supervised session: it decides after each run how to go on, and neither a
// restart of the program nor a failure of a part loses more than the steps since the last checkpoint.
#include "examples/orders.hpp"

#include <troupe/session.hpp>
#include <troupe/troupe.hpp>

#include <iostream>

namespace tr = troupe;

namespace {

double number(const tr::tensor& x) {
  return x.type() == tr::dtype::float32 ? static_cast<double>(x.as<float>()[0]) : x.as<double>()[0];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/session";
  const tr::estimator estimator{tr::dnn_classifier({.hidden_units = {16}, .classes = 2}),
                                {.model_dir = directory, .seed = 1, .save_checkpoints_steps = 50}};
  const auto orders = recent_orders();
  // README begins
  auto session = tr::session::open(estimator, {.input = orders.shuffle().batch(32).repeat(), .max_steps = 400});
  if (!session)
    return tr::print_error(session.error());
  std::cout << "begins at step " << session->progress().step << "\n";
  while (!session->should_stop()) {
    const auto run = session->run({.what = {.fetches = {"loss"}}, .steps = 50});
    if (!run)
      return tr::print_error(run.error());
    if (number(run->values.at("loss")) < 0.25)  // The loop decides, and needs no hook for it.
      session->request_stop();
  }
  const auto result = session->close();
  // README ends
  if (!result)
    return tr::print_error(result.error());
  std::cout << "ends at step " << result->global_step << "\n";
}
