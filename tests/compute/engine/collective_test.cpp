#include "compute/engine/collective.hpp"

#include "compute/program/planned_update.hpp"
#include "tests/compute/model_fixture.hpp"

#include <troupe/nn.hpp>

#include <cmath>
#include <semaphore>
#include <thread>

namespace troupe {

using namespace test;

namespace {

/// 300 rows that are only looked up, and a dense layer.
model_spec table_and_dense(graph& g) {
  const symbol rows = nn::embedding(g.placeholder("ids", dtype::int32, {g.unknown("batch")}),
                                    {.entries = 300, .units = 5});
  model_spec spec;
  spec.loss = reduce_mean(square(nn::dense(rows, {.units = 300})));
  spec.optimizer = momentum{};
  return spec;
}

/// Gradients of that model, one for each replica and step.
struct drawn_gradients {
  trainer t{table_and_dense, {.batch = 16}};
  std::shared_ptr<parameter_layout> layout = std::make_shared<parameter_layout>(t.layout);

  tensor of(int32_t replica, int64_t step) {
    const tensor ids = classes(512, 300);
    const std::byte* feeds[] = {ids.data() + 4 * ((step * 29 + replica * 7) % 480)};
    REQUIRE(
        t.run->gradients({.step = step, .parameters = t.store->arena(0), .shared = t.store->shared(), .feeds = feeds},
                         t.gradient.get())
        == step_status::ok);
    return copy(t.gradient.get());
  }
  tensor copy(const std::byte* gradient) const {
    return tensor::copy_of(dtype::uint8, {layout->gradient_bytes()},
                           {gradient, static_cast<size_t>(layout->gradient_bytes())});
  }
};

/// Seats of one collective, played by one thread.
struct seats {
  std::shared_ptr<collective> shared;
  std::vector<collective_seat> all;
  seats(const std::shared_ptr<parameter_layout>& layout, int32_t replicas)
    : shared(*collective::plan(layout, replicas)) {
    for (int32_t r = 0; r < replicas; ++r) {
      all.emplace_back(shared, r);
      all.back().begin(1, r);
    }
  }
};

std::vector<int32_t> woken_by(collective_seat& seat) {
  std::vector<int32_t> woken;
  seat.wake_sleepers([&](const std::any& who) { woken.push_back(std::any_cast<int32_t>(who)); });
  return woken;
}

using replicas = std::vector<int32_t>;

}  // namespace

TEST_CASE("slices that replicas add, of looked-up rows too, are the sum that a reducer adds, bit for bit") {
  drawn_gradients gradients;
  for (const int32_t count : {2, 3, 4, 5, 8}) {
    CAPTURE(count);
    auto whole = *gradient_reduction::plan(gradients.layout, count);
    auto slices = *gradient_reduction::plan_slices(gradients.layout, count);
    for (int64_t step = 0; step < 4; ++step) {
      std::vector<tensor> parts;
      for (int32_t r = 0; r < count; ++r)
        parts.push_back(gradients.of(r, step));
      for (auto& slice : slices) {
        slice.add(parts);
        CHECK(slice.is_finite());
      }
      CHECK(slices[0].total() == whole.sum(parts));
    }
  }
}

TEST_CASE("replicas that measure their own slices, of looked-up rows too, clip to the bits of one that reads all") {
  drawn_gradients gradients;
  const auto& layout = *gradients.layout;
  for (const optimizer& o : {optimizer{.rule = momentum{}, .clip = {.global_norm = 0.01f}},
                             optimizer{.rule = momentum{}, .clip = {.value = 1e-4f, .norm = 0.001f}}})
    for (const int32_t count : {2, 3, 4, 5, 8}) {
      CAPTURE(count);
      auto slices = *gradient_reduction::plan_slices(gradients.layout, count);
      std::vector<tensor> parts;
      for (int32_t r = 0; r < count; ++r)
        parts.push_back(gradients.of(r, 1));
      auto one = *planned_update::of(o, layout), shared = *planned_update::of(o, layout);
      REQUIRE(one.norm_chunks() > 1);
      std::vector<double> squares(static_cast<size_t>(one.norm_chunks())), by_slices = squares;
      for (int32_t r = 0; r < count; ++r) {
        slices[static_cast<size_t>(r)].add(parts);
        shared.measure(layout.slice(r, count), slices[static_cast<size_t>(r)].view(), by_slices);
      }
      const tensor sum = slices[0].total();
      const auto whole = whole_gradient(layout, sum.data());
      one.measure({0, layout.flat_bytes()}, whole, squares);
      CHECK(std::none_of(squares.begin(), squares.end(), [](double x) { return x < 0; }));
      CHECK_MESSAGE(std::count_if(by_slices.begin(), by_slices.end(), [](double x) { return x < 0; }) < count,
                    "only chunks that lie in two slices are left");
      one.prepare(whole, squares);
      shared.prepare(whole, by_slices);
      const auto a = *parameter_store::create(layout, 1), b = *parameter_store::create(layout, 1);
      a->initialise(2), b->initialise(2);
      const std::vector<std::byte> before(a->arena(0), a->arena(0) + layout.arena_bytes());
      one.apply(0, {0, layout.flat_bytes()}, sum.data(), a->arena(0), a->arena(0));
      shared.apply(0, {0, layout.flat_bytes()}, sum.data(), b->arena(0), b->arena(0));
      CHECK(std::memcmp(a->arena(0), b->arena(0), static_cast<size_t>(layout.arena_bytes())) == 0);
      CHECK_FALSE(std::memcmp(a->arena(0), before.data(), before.size()) == 0);
    }
}

TEST_CASE("a slice is finite or not by its own elements") {
  drawn_gradients gradients;
  auto slices = *gradient_reduction::plan_slices(gradients.layout, 2);
  for (size_t which : {0, 1}) {
    std::vector<tensor> parts{gradients.of(0, 0), gradients.of(1, 0)};
    const auto [first, last] = gradients.layout->slice(static_cast<int>(which), 2);
    for (const auto& s : gradients.layout->sparse())
      REQUIRE((s.last <= first || last <= s.first || which == 0));
    const auto& range = gradients.layout->ranges().front();
    const int64_t at = which == 0 ? gradients.layout->sparse().front().last : std::max(first, range.first);
    reinterpret_cast<float*>(const_cast<std::byte*>(parts[1].data()) + at)[0] = INFINITY;
    slices[0].add(parts);
    slices[1].add(parts);
    CHECK(slices[which].is_finite() == (at < first || at >= last));
  }
}

TEST_CASE("a phase is over when all replicas are there, and whoever sees it first wakes those that sleep") {
  drawn_gradients gradients;
  seats s{gradients.layout, 3};
  s.all[2].gather({}, gradients.of(2, 0));
  CHECK_FALSE(s.all[2].all_here());
  s.all[0].gather({}, gradients.of(0, 0));
  CHECK_FALSE(s.all[0].all_here());
  s.all[1].gather({}, gradients.of(1, 0));
  REQUIRE(s.all[1].all_here());
  CHECK(woken_by(s.all[1]) == replicas{0, 2});
  CHECK_MESSAGE(woken_by(s.all[1]).empty(), "each is woken once");
  CHECK(s.all[0].all_here());
  CHECK(s.all[1].gathered().status == step_status::ok);

  s.all[1].sum();
  CHECK_FALSE_MESSAGE(s.all[1].all_here(), "another phase, which the others have not reached");
  s.all[2].sum();
  CHECK_FALSE(s.all[2].all_here());
  s.all[0].sum();
  REQUIRE(s.all[0].all_here());
  CHECK(woken_by(s.all[0]) == replicas{1, 2});
}

TEST_CASE("nobody is woken for a phase that is not over, or by a replica that is elsewhere") {
  drawn_gradients gradients;
  seats s{gradients.layout, 2};
  s.all[0].gather({}, gradients.of(0, 0));
  CHECK_FALSE(s.all[0].all_here());
  CHECK(woken_by(s.all[1]).empty());
  s.all[0].leave();
  s.all[1].gather({}, gradients.of(1, 0));
  REQUIRE(s.all[1].all_here());
  CHECK_MESSAGE(woken_by(s.all[1]).empty(), "it has left");
}

TEST_CASE("what a replica did in an attempt that was given up is not there in the next one") {
  drawn_gradients gradients;
  seats s{gradients.layout, 2};
  s.all[0].gather({}, gradients.of(0, 0));
  s.all[1].gather({}, gradients.of(1, 0));
  s.all[1].sum();
  for (auto& seat : s.all)
    seat.begin(2, 0);
  s.all[1].gather({}, gradients.of(1, 0));
  CHECK_FALSE_MESSAGE(s.all[1].all_here(), "replica 0 has gathered in attempt 1 only");
  s.all[0].gather({}, gradients.of(0, 0));
  CHECK(s.all[0].all_here());
  SUBCASE("nor is a replica of the old attempt with those of the new one") {
    collective_seat late{s.shared, 1};
    late.begin(1, 0);
    late.gather({}, gradients.of(1, 0));
    CHECK_FALSE(late.all_here());
  }
}

TEST_CASE("the outcome of a step is the same for all: its flags, and the cause of the gravest") {
  drawn_gradients gradients;
  seats s{gradients.layout, 3};
  const error ended{errc::out_of_range, "the data ended", {}, "infeed/0", 7};
  const error nan{errc::nan_loss, "the loss is not finite", {"a hint"}, "replica/1", 7};
  const error other{errc::nan_loss, "the gradient is not finite", {}, "replica/2", 7};
  s.all[0].gather({step_status::ended, ended}, {});
  s.all[1].gather({step_status::not_finite, nan}, {});
  s.all[2].gather({step_status::not_finite, other}, {});
  for (auto& seat : s.all) {
    REQUIRE(seat.all_here());
    const auto outcome = seat.gathered();
    CHECK(outcome.status == (step_status::ended | step_status::not_finite));
    CHECK(outcome.cause.message == nan.message);
    CHECK(outcome.cause.notes
          == std::vector<std::string>{"a hint", "so it was on replica/2: the gradient is not finite"});
  }
}

TEST_CASE("a sum that is not finite is one for all replicas, which name the variable and the replica") {
  drawn_gradients gradients;
  seats s{gradients.layout, 2};
  for (int32_t r : {0, 1}) {
    const tensor part = gradients.of(r, 0);
    const int64_t at = gradients.layout->sparse().front().last;
    if (r == 1)
      reinterpret_cast<float*>(const_cast<std::byte*>(part.data()) + at)[2] = NAN;
    s.all[static_cast<size_t>(r)].gather({}, part);
  }
  for (auto& seat : s.all)
    seat.sum();
  for (auto& seat : s.all) {
    REQUIRE(seat.all_here());
    const auto outcome = seat.summed(7);
    CHECK(outcome.status == step_status::not_finite);
    CHECK(outcome.cause.message == "the reduced gradient is not finite");
    CHECK(outcome.cause.step == 7);
    REQUIRE(outcome.cause.notes.size() == 3);
    CHECK(outcome.cause.notes[1].starts_with("on replica/1 the gradient of variable "));
  }
}

TEST_CASE("threads that yield anywhere meet in every step: each adds and applies its slice of the same sum") {
  drawn_gradients gradients;
  constexpr int64_t steps = 400, kinds = 5;
  for (const int32_t count : {2, 3, 4}) {
    for (const int32_t looks : {1, 20}) {
      CAPTURE(count);
      CAPTURE(looks);
      std::vector<std::vector<tensor>> parts(kinds);
      std::vector<tensor> sums;
      auto whole = *gradient_reduction::plan(gradients.layout, count);
      for (int64_t k = 0; k < kinds; ++k) {
        for (int32_t r = 0; r < count; ++r)
          parts[static_cast<size_t>(k)].push_back(gradients.of(r, k));
        sums.push_back(gradients.copy(whole.sum(parts[static_cast<size_t>(k)]).data()));
      }
      const auto shared = *collective::plan(gradients.layout, count);
      // What all replicas together have applied, slice by slice: neither locked nor atomic.
      std::vector<std::byte> state(static_cast<size_t>(gradients.layout->flat_bytes()));
      std::vector<std::unique_ptr<std::counting_semaphore<>>> mailbox;
      for (int32_t r = 0; r < count; ++r)
        mailbox.push_back(std::make_unique<std::counting_semaphore<>>(0));
      std::atomic<int64_t> wrong = 0, slept = 0;
      const auto work = [&](int32_t r) {
        uint64_t noise = static_cast<uint64_t>(r) + 1;
        const auto perhaps_yield = [&] {
          noise = noise * 6364136223846793005u + 1442695040888963407u;
          if (noise >> 62 == 0)
            std::this_thread::yield();
        };
        collective_seat seat{shared, r, looks};
        seat.begin(1, mailbox[static_cast<size_t>(r)].get());
        const auto wait = [&] {
          perhaps_yield();
          while (!seat.all_here()) {
            ++slept;
            perhaps_yield();
            mailbox[static_cast<size_t>(r)]->acquire();
          }
          perhaps_yield();
          seat.wake_sleepers([](const std::any& who) { std::any_cast<std::counting_semaphore<>*>(who)->release(); });
        };
        const auto [first, last] = gradients.layout->slice(r, count);
        for (int64_t step = 0; step < steps; ++step) {
          const auto kind = static_cast<size_t>(step % kinds);
          // All slices are those of the step before: nobody is ahead.
          if (step > 0
              && std::memcmp(state.data(), sums[static_cast<size_t>((step - 1) % kinds)].data(), state.size()) != 0)
            ++wrong;
          seat.gather({}, parts[kind][static_cast<size_t>(r)]);
          wait();
          if (seat.gathered().status != step_status::ok)
            ++wrong;
          perhaps_yield();
          seat.sum();
          wait();
          if (seat.summed(step).status != step_status::ok || seat.total() != sums[kind])
            ++wrong;
          std::memcpy(state.data() + first, seat.total().data() + first, static_cast<size_t>(last - first));
          seat.apply();
          wait();
        }
      };
      std::vector<std::jthread> threads;
      for (int32_t r = 0; r < count; ++r)
        threads.emplace_back(work, r);
      threads.clear();
      CHECK(wrong == 0);
      CHECK((looks > 1 || slept > 0));
    }
  }
}

TEST_CASE("threads of a retired group meet once in each step, and none overwrites what another still reads") {
  graph g;
  g.variable({.name = "v", .dims = {16}});
  const auto layout = std::make_shared<parameter_layout>(*parameter_layout::of(g, gradient_descent{}));
  constexpr int64_t steps = 4000;
  for (const int32_t count : {2, 3, 4})
    for (const int32_t looks : {1, 20}) {
      CAPTURE(count);
      CAPTURE(looks);
      const auto shared = *collective::plan(layout, count);
      std::vector<std::unique_ptr<std::counting_semaphore<>>> mailbox;
      for (int32_t r = 0; r < count; ++r)
        mailbox.push_back(std::make_unique<std::counting_semaphore<>>(0));
      std::atomic<int64_t> wrong = 0;
      const auto work = [&](int32_t r) {
        collective_seat seat{shared, r, looks};
        seat.begin(1, mailbox[static_cast<size_t>(r)].get());
        for (int64_t step = 0; step < steps; ++step) {
          // One replica after the other has something to say of a step, and names the step.
          const bool says = step % 3 == 0 && step / 3 % count == r;
          seat.gather(
              says ? step_outcome{step_status::ended, {errc::out_of_range, std::to_string(step)}} : step_outcome{}, {});
          while (!seat.all_here())
            mailbox[static_cast<size_t>(r)]->acquire();
          seat.wake_sleepers([](const std::any& who) { std::any_cast<std::counting_semaphore<>*>(who)->release(); });
          if ((step + r) % 5 == 0)
            std::this_thread::yield();
          const auto outcome = seat.gathered();
          if (outcome.status != (step % 3 == 0 ? step_status::ended : step_status::ok)
              || outcome.cause.message != (step % 3 == 0 ? std::to_string(step) : ""))
            ++wrong;
        }
      };
      std::vector<std::jthread> threads;
      for (int32_t r = 0; r < count; ++r)
        threads.emplace_back(work, r);
      threads.clear();
      CHECK(wrong == 0);
    }
}

TEST_CASE("a collective for whose sum there is no memory is an error that says how much") {
  graph g;
  g.variable({.name = "v", .dims = {int64_t{1} << 46}});
  const auto made = collective::plan(std::make_shared<parameter_layout>(*parameter_layout::of(g, gradient_descent{})),
                                     2);
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::resource_exhausted);
}

}  // namespace troupe
