// Steps a second of a whole job of two replicas by the wall clock, beside what two processors can do. A replica has
// half of the rows of a batch.
//
//   two apart   two jobs of one replica each, on half of the rows, at once: as the replicas, without a reduction
//   bare pair   two threads with the same programs and the same collective, without actors
//   one         a job of one replica, on half of the rows: twice the ratio is the factor that a second processor gives
//   reducer     the same job, whose replicas reduce by messages
//
// Each replica computes with one thread. per_core: each reads batches of its own and is pinned to a processor;
// per_host: they divide a batch.
#include "compute/engine/collective.hpp"
#include "compute/engine/step_engine.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/gated_job.hpp"
#include "tests/bench/whole_job.hpp"

#include <thread>

namespace troupe::bench {
namespace {

/// Two threads with the same programs, which meet in the same collective. No actors, and batches in memory.
class bare_pair {
 public:
  explicit bare_pair(const measured_model& m) {
    const element_spec element{{m.x}, {m.y}};
    const std::shared_ptr<const model_graph> built = must(build_graph(measured(m), element, mode::train));
    const auto store = must(parameter_store::create(must(layout_of(*built)), 1));
    store->initialise(1);
    const std::shared_ptr<const parameter_layout> layout{store, &store->layout()};
    const auto shared = must(collective::plan(layout, 2));
    for (int32_t r = 0; r < 2; ++r) {
      auto& p = parts_.emplace_back(std::make_unique<part>(collective_seat{shared, r, 1000}));
      p->engine = must(make_program_engine({.graph = built,
                                            .delivered = {m.x, m.y},
                                            .store = store,
                                            .replica = r,
                                            .replicas = 2,
                                            .shards = 2,
                                            .batch_rows = m.batch}));
      p->data = std::make_unique<batches>(p->engine->inputs(), m.batch, m.classes);
      p->rows = m.batch;
      p->seat.begin(1, 0);
    }
  }
  void run(int64_t steps) {
    const std::jthread other{[&] { parts_[1]->run(step_, steps); }};
    parts_[0]->run(step_, steps);
    step_ += steps;
  }

 private:
  struct part {
    explicit part(collective_seat s) : seat(std::move(s)) {}
    collective_seat seat;
    std::unique_ptr<step_engine> engine;
    std::unique_ptr<batches> data;
    int64_t rows = 0;

    void wait() {
      while (!seat.all_here()) {}
    }
    void run(int64_t first, int64_t steps) {
      for (int64_t step = first; step < first + steps; ++step) {
        const batch_feeds in{data->of_step(step), rows};
        const auto status = engine->gradients(step, in, 0);
        seat.gather({status, {}}, engine->gradient());
        wait();
        if (seat.gathered().status != step_status::ok)
          std::abort();
        seat.sum();
        wait();
        if (seat.summed(step).status != step_status::ok)
          std::abort();
        engine->apply(step, seat.total(), 0, 0);
        seat.apply();
        wait();
      }
    }
  };
  std::vector<std::unique_ptr<part>> parts_;
  int64_t step_ = 0;
};

void compare(suite& s, const measured_model& m, int64_t stride) {
  const run_config alone{.intra_op_threads = 1};
  gated_job one{whole_job(m, alone), stride}, other{whole_job(m, alone), stride};
  bare_pair bare{m};
  for (const auto mode : {input_mode::per_core, input_mode::per_host}) {
    const bool pins = mode == input_mode::per_core;
    const run_config together{.replicas = 2, .input_mode = mode, .intra_op_threads = 1, .pin_replicas = pins};
    gated_job two{whole_job(m, together), stride};
    const auto beside = [&](const std::string& name, const work& reference) {
      s.compare(
          {.name = m.name + (pins ? ", per_core" : ", per_host"),
           .reference_name = name,
           .rounds = 15,
           .seconds = 0.5,
           .clock = clock_kind::wall,
           .granule = stride},
          [&](int64_t n) { two.run(n); }, reference);
    };
    beside("two apart", [&](int64_t n) {
      const std::jthread beside_it{[&] { other.run(n); }};
      one.run(n);
    });
    beside("bare pair", [&](int64_t n) { bare.run(n); });
    if (pins)
      continue;
    auto by_messages = whole_job(m, together);
    by_messages.reducers = true;
    gated_job reduced{std::move(by_messages), stride};
    beside("reducer", [&](int64_t n) { reduced.run(n); });
    beside("one", [&](int64_t n) { one.run(n); });
  }
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  suite s{"scaling", argc, argv};
  compare(s, dense_model({784, 256, 128, 10}, 64), 250);
  compare(s, lenet(32), 10);
  compare(s, lstm_model(128, 16, 32), 25);
  compare(s, dense_model({784, 1024, 1024, 10}, 128), 25);
}
