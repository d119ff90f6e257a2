// Learns which orders of orders.csv are paid late:
// `train_orders DIRECTORY [STEP WHERE IT STOPS [stream]]`; with `stream` it reads them one by one.
#include <troupe/troupe.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace tr = troupe;

struct order {
  float amount = 0, visits = 0;
  int32_t late = 0;
};

tr::expected<order> parse_order(const std::string& line, const std::string& path) {
  order o;
  if (std::sscanf(line.c_str(), "%f,%f,%d", &o.amount, &o.visits, &o.late) != 3)
    return tr::fail(tr::errc::data_loss, path + ": '" + line + "' is no order: AMOUNT,VISITS,LATE");
  return o;
}

/// All orders of a file, in memory.
tr::expected<tr::dataset> read_orders(const std::string& path) {
  std::ifstream file{path};
  if (!file)
    return tr::fail(tr::errc::not_found, path + " cannot be opened");
  std::vector<float> amounts, visits;
  std::vector<int32_t> late;
  for (std::string line; std::getline(file, line);) {
    const auto o = parse_order(line, path);
    if (!o)
      return tr::fail(o.error());
    amounts.push_back(o->amount);
    visits.push_back(o->visits);
    late.push_back(o->late);
  }
  // tensors begins
  const tr::shape rows{static_cast<int64_t>(late.size())};  // Axis 0 is the example.
  return tr::dataset::from_tensors(
      {{"amount", tr::tensor::of<float>(rows, amounts)}, {"visits", tr::tensor::of<float>(rows, visits)}},
      {{"late", tr::tensor::of<int32_t>(rows, late)}});
  // tensors ends
}

/// Prints how a job begins, and its warnings; ends it at the step `stop_at`, if that is not 0, as a signal would.
struct tell_and_stop : tr::hook {
  int64_t stop_at = 0;
  explicit tell_and_stop(int64_t step) : stop_at(step) {}

  tr::needs begin(int64_t) override {
    return stop_at == 0 ? tr::needs{} : tr::needs{.steps = {{.first = stop_at, .gate = true}}};
  }
  void on_step(const tr::step_facts&, tr::job_control& job) override { job.stop(); }
  void on_event(const tr::job_event& e, tr::job_control&) override {
    if (e.what == tr::job_event::kind::started || e.what == tr::job_event::kind::warning)
      std::cout << to_text(e) << "\n";
  }
};

// stream begins
/// The orders of a file, read line by line. Their position is the offset of the next line.
tr::expected<tr::example_stream> open_orders(const std::string& path) {
  const auto file = std::make_shared<std::ifstream>(path);
  const auto offset = std::make_shared<int64_t>(0);
  if (!*file)
    return tr::fail(tr::errc::not_found, path + " cannot be opened");
  return tr::example_stream{.next = [file, offset, path]() -> tr::expected<std::optional<tr::example_tensors>> {
                              std::string line;
                              if (!std::getline(*file, line))
                                return std::nullopt;
                              *offset += static_cast<int64_t>(line.size()) + 1;
                              const auto o = parse_order(line, path);
                              if (!o)
                                return tr::fail(o.error());
                              return tr::example_tensors{{{"amount", tr::tensor::scalar(o->amount)},
                                                          {"visits", tr::tensor::scalar(o->visits)}},
                                                         {{"late", tr::tensor::scalar(o->late)}}};
                            },
                            .save = [offset] { return std::to_string(*offset); },
                            .restore = [file, offset](std::string_view position) -> tr::expected<void> {
                              *offset = std::atoll(std::string{position}.c_str());
                              file->clear();
                              file->seekg(*offset);
                              return {};
                            }};
}

tr::expected<tr::dataset> stream_orders(const std::string& path) {
  const tr::element_spec spec{.features = {{.name = "amount"}, {.name = "visits"}},  // Each one float32.
                              .labels = {{.name = "late", .type = tr::dtype::int32}}};
  return tr::dataset::from_generator(
      spec, [path] { return open_orders(path); }, "orders of " + path);
}
// stream ends

int main(int argc, char** argv) {
  const bool one_by_one = argc > 3 && std::string{argv[3]} == "stream";
  const auto orders = one_by_one ? stream_orders("orders.csv") : read_orders("orders.csv");
  if (!orders)
    return tr::print_error(orders.error());
  const tr::estimator estimator{
      tr::dnn_classifier({.hidden_units = {16}, .classes = 2, .optimizer = tr::adam{.rate = 0.01f}}),
      {.model_dir = argc > 1 ? argv[1] : "runs/orders", .seed = 1}};
  const auto input = (one_by_one ? *orders : orders->shuffle()).batch(32).repeat();  // A stream cannot be shuffled.
  const auto hook = std::make_shared<tell_and_stop>(argc > 2 ? std::atoll(argv[2]) : 0);
  return tr::print_result(tr::train(estimator, {.input = input, .max_steps = 200, .hooks = {hook}}));
}
