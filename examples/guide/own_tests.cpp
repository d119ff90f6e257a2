// Tests of a model, of a hook and of an input: what docs/guide/test.md shows. A test framework takes the place of
// `check`.
#include "examples/guide/order_hooks.hpp"
#include "examples/orders.hpp"

#include <troupe/dataset_iterator.hpp>

#include <cmath>

namespace {

int failures = 0;

void check(bool holds, const char* sentence) {
  std::cout << (holds ? "ok: " : "FAILED: ") << sentence << std::endl;
  failures += !holds;
}

// heart begins
/// The last loss of `steps` steps on 32 examples, again and again the same ones. Nothing is written.
tr::expected<double> loss_after(int64_t steps, tr::run_config config = {.seed = 1}) {
  const auto few = recent_orders().take(32).batch(32).repeat();
  const auto result = tr::train({{"late_orders", late_orders}, config}, {.input = few, .max_steps = steps});
  if (!result)
    return tr::fail(result.error());
  return result->metrics.at("loss");
}

void a_model_learns() {
  const auto first = loss_after(1), last = loss_after(1000);
  check(first && std::abs(*first - std::log(2.0)) < 0.3, "an untrained model of two classes has a loss near log 2");
  check(last && *last < 0.1, "32 examples are learnt by heart");
}
// heart ends

// bits begins
void a_model_is_repeatable() {
  const auto once = loss_after(20);
  check(once && once == loss_after(20), "the same seed gives the same loss, to the last bit");
  check(once && once != loss_after(20, {.seed = 2}), "another seed gives another one");
  check(loss_after(20, {.seed = 1, .gradient_shards = 2})
            == loss_after(20, {.seed = 1, .gradient_shards = 2, .replicas = 2}),
        "two replicas give the loss of one");
}
// bits ends

// shapes begins
void predictions_have_the_shapes_that_callers_expect() {
  auto predictions = tr::predict({{"late_orders", late_orders}, {.seed = 1}},  // Variables as they begin: none is
                                                                               // saved.
                                 {.input = recent_orders().take(3).batch(2)});
  int64_t rows = 0;
  for (; predictions; ++rows) {
    const auto one = predictions->next();
    if (!one || !*one)
      break;
    const auto p = (*one)->values.at("probabilities").as<float>();
    check(p.size() == 2 && std::abs(p[0] + p[1] - 1) < 1e-6, "the probabilities of two classes add up to 1");
  }
  check(rows == 3, "each example has a prediction, those of a last, smaller batch too");
}

void wrong_data_are_an_error() {
  const auto strangers = tr::dataset::from_tensors({{"weight", tr::tensor::of<float>({2}, {1, 2})}});
  auto predictions = tr::predict({{"late_orders", late_orders}, {}}, {.input = strangers->batch(2)});
  const auto first = predictions->next();
  check(!first && first.error().category == tr::errc::key_missing, "data without 'amount' are refused");
  std::cout << "    " << (first ? "" : first.error().message) << std::endl;
}
// shapes ends

// hook begins
/// Keeps what a hook asks of a job.
struct kept_requests : tr::job_control {
  void save() override { ++saves; }
  void stop() override { ++stops; }
  void scale_rate(double factor) override { rate *= factor; }
  int saves = 0, stops = 0;
  double rate = 1;
};

void a_hook_alone() {
  stop_at_target hook{0.9};
  kept_requests job;
  check(hook.begin(0).holds.evaluated, "the hook holds the job at evaluations");
  hook.on_event({.what = tr::job_event::kind::evaluated, .step = 100, .metrics = {{"accuracy", 0.89}}}, job);
  check(job.stops == 0, "an accuracy below the target lets the job go on");
  hook.on_event({.what = tr::job_event::kind::evaluated, .step = 200, .metrics = {{"accuracy", 0.9}}}, job);
  check(job.stops == 1, "the target itself ends it");
}

void a_hook_beside_a_job() {
  const auto result = tr::train({{"late_orders", late_orders}, {.seed = 1}},
                                {.input = recent_orders().batch(32).repeat(),
                                 .max_steps = 200,
                                 .hooks = {std::make_shared<print_values>(), std::make_shared<cool_down>()}});
  check(result.has_value(), "the values that the hooks ask for are there");
}
// hook ends

// input begins
/// The next batch, each component as bytes; empty at the end of the data.
std::vector<std::string> next_batch(tr::dataset_iterator& data) {
  std::vector<std::string> bytes;
  std::vector<std::byte*> into;
  for (const auto& c : data.spec().components())
    bytes.emplace_back(static_cast<size_t>(c.row_bytes() * data.batch_rows()), '\0');
  for (auto& b : bytes)
    into.push_back(reinterpret_cast<std::byte*>(b.data()));
  const auto rows = data.read(into, {});
  if (!rows)
    return {};
  size_t i = 0;
  for (const auto& c : data.spec().components())
    bytes[i++].resize(static_cast<size_t>(c.row_bytes() * *rows));
  return bytes;
}

void an_input_goes_on_where_it_stood() {
  const auto node = recent_orders().shuffle().batch(100).last_stage();
  const auto data = node->iterate({.seed = 7});
  check(next_batch(**data) != next_batch(**data), "two batches differ");
  const auto position = (*data)->save();  // What a checkpoint keeps.
  const auto third = next_batch(**data);
  const auto again = node->iterate({.seed = 7});  // As in the next process.
  check(position && (*again)->restore(*position), "another iterator takes the position");
  check(next_batch(**again) == third, "and reads the same batch next");

  int64_t batches = 0;
  for (const auto all = node->iterate({.seed = 7}); !next_batch(**all).empty();)
    ++batches;
  check(batches == 6, "512 examples are six batches of 100, the last one smaller");
}
// input ends

}  // namespace

int main() {
  a_model_learns();
  a_model_is_repeatable();
  predictions_have_the_shapes_that_callers_expect();
  wrong_data_are_an_error();
  a_hook_alone();
  a_hook_beside_a_job();
  an_input_goes_on_where_it_stood();
  std::cout << (failures == 0 ? "all hold" : "not all hold") << std::endl;
  return failures == 0 ? 0 : 1;
}
