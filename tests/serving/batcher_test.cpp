#include "serving/batcher.hpp"

#include "serving/served_versions.hpp"
#include "tests/serving/fake_servable.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>

namespace troupe {

namespace {

using test::fake_facts;
using test::fake_servable;
using namespace std::chrono_literals;

/// A model whose first call blocks until the test releases it.
struct held_model {
  std::shared_ptr<fake_facts> facts = std::make_shared<fake_facts>();
  std::shared_ptr<const servable> model = std::make_shared<const fake_servable>(facts);
  std::promise<void> entered, let_go;

  held_model() {
    facts->during_call = [this, go = let_go.get_future().share(), first = std::make_shared<std::atomic<bool>>(true)] {
      if (first->exchange(false))
        entered.set_value(), go.wait();
    };
  }
};

tensor row(float x) { return tensor::of<float>({1, 2}, {x, x + 1}); }

auto ask(batcher& b, tensor x) {
  return std::async(std::launch::async, [&b, x = std::move(x)] { return b.call(std::vector{x}, x.dims()[0]); });
}

void wait_for(const batcher& b, int64_t waiting) {
  while (b.waiting() != waiting)
    std::this_thread::yield();
}

}  // namespace

TEST_CASE("requests that come while a batch is computed are computed together, and each gets its own rows") {
  held_model held;
  batcher all{held.model, "serving_default", {}};
  auto first = ask(all, row(1));
  held.entered.get_future().wait();
  auto second = ask(all, row(10)), third = ask(all, tensor::of<float>({2, 2}, {20, 21, 30, 31}));
  wait_for(all, 2);
  held.let_go.set_value();
  CHECK(first.get()->at(0) == tensor::of<float>({1, 2}, {2, 4}));
  CHECK(second.get()->at(0) == tensor::of<float>({1, 2}, {20, 22}));
  const auto both = third.get();
  CHECK(both->at(0) == tensor::of<float>({2, 2}, {40, 42, 60, 62}));
  CHECK(both->at(1) == tensor::of<int64_t>({2}, {0, 0}));
  CHECK(held.facts->calls == 2);
  CHECK(held.facts->rows == 4);
}

TEST_CASE("a request that the model refuses fails alone, not those in its batch") {
  held_model held;
  batcher all{held.model, "serving_default", {}};
  auto first = ask(all, row(1));
  held.entered.get_future().wait();
  auto good = ask(all, row(3)), bad = ask(all, row(-5));
  wait_for(all, 2);
  held.let_go.set_value();
  CHECK(first.get());
  CHECK(good.get()->at(0) == tensor::of<float>({1, 2}, {6, 8}));
  CHECK(bad.get().error() == error{errc::invalid_argument, "x must not be below 0"});
}

TEST_CASE("requests whose rows depend on each other are computed one by one") {
  held_model held;
  const served_version version{1, held.model, {}};
  const std::vector inputs{tensor::of<int64_t>({1}, {1}), tensor::of<int64_t>({1, 2, 2}, {1, 2, 3, 4})};
  const auto call = [&] {
    return std::async(std::launch::async, [&] { return version.batches("sum").call(inputs, 1); });
  };
  auto first = call();
  held.entered.get_future().wait();
  auto second = call(), third = call();
  wait_for(version.batches("sum"), 2);
  held.let_go.set_value();
  for (auto* answer : {&first, &second, &third})
    CHECK(answer->get()->at(0) == tensor::of<int64_t>({1}, {11}));
  CHECK(held.facts->calls == 3);
}

TEST_CASE("a model that throws fails the requests of that batch, and the next ones are computed") {
  held_model held;
  bool without_memory = false;
  SUBCASE("anything") {}
  SUBCASE("for want of memory, which is what they are told") { without_memory = true; }
  held.facts->during_call = [during = held.facts->during_call, calls = std::make_shared<std::atomic<int>>(0),
                             without_memory] {
    during();
    if (++*calls != 2)
      return;
    if (without_memory)
      throw std::bad_alloc{};
    throw std::runtime_error{"a mistake"};
  };
  batcher all{held.model, "serving_default", {}};
  auto first = ask(all, row(1));
  held.entered.get_future().wait();
  auto second = ask(all, row(10)), third = ask(all, row(20));
  wait_for(all, 2);
  held.let_go.set_value();
  CHECK(first.get());
  const auto category = without_memory ? errc::resource_exhausted : errc::state;
  CHECK(second.get().error().category == category);
  CHECK(third.get().error().category == category);
  CHECK(ask(all, row(30)).get());
}

TEST_CASE("a request that has no turn in time is refused, and one beyond those that may wait at once") {
  held_model held;
  batcher all{held.model, "serving_default", {.limits = {.requests_max = 1}, .wait_max = 20ms}};
  auto first = ask(all, row(1));
  held.entered.get_future().wait();
  auto late = ask(all, row(2));
  wait_for(all, 1);
  CHECK(all.call(std::vector{row(3)}, 1).error()
        == error{errc::resource_exhausted, "1 requests wait already, as many as may"});
  CHECK(late.get().error() == error{errc::deadline_exceeded, "the request had no turn within 0.020000 s"});
  CHECK(all.waiting() == 0);
  held.let_go.set_value();
  CHECK(first.get());
}

TEST_CASE("as many batches are computed at one time as there may be callers") {
  auto facts = std::make_shared<fake_facts>();
  std::promise<void> let_go;
  std::atomic<int> inside{0};
  facts->during_call = [&, go = let_go.get_future().share()] { ++inside, go.wait(); };
  batcher all{std::make_shared<const fake_servable>(facts), "serving_default", {.callers_max = 2}};
  auto first = ask(all, row(1)), second = ask(all, row(2)), third = ask(all, row(3));
  while (inside != 2)
    std::this_thread::yield();
  wait_for(all, 1);
  let_go.set_value();
  CHECK(first.get());
  CHECK(second.get());
  CHECK(third.get());
  CHECK(facts->calls == 3);
}

TEST_CASE("callers that end together leave none idle while requests wait") {
  auto facts = std::make_shared<fake_facts>();
  std::promise<void> let_go;
  std::mutex guard;
  std::condition_variable entered;
  int inside = 0;
  bool together = true;
  facts->during_call = [&, go = let_go.get_future().share()] {
    std::unique_lock lock{guard};
    const bool waits = ++inside <= 2;
    entered.notify_all();
    if (!waits)  // Neither of the later two ends before both are computed.
      return together = entered.wait_for(lock, 10s, [&] { return inside == 4; }) && together, void();
    lock.unlock();
    go.wait();
  };
  batcher all{std::make_shared<const fake_servable>(facts),
              "serving_default",
              {.limits = {.rows_max = 1}, .callers_max = 2, .wait_max = 1min}};
  std::vector<std::future<expected<std::vector<tensor>>>> answers;
  for (const float x : {1.f, 2.f, 3.f, 4.f})
    answers.push_back(ask(all, row(x)));
  wait_for(all, 2);
  let_go.set_value();
  for (auto& a : answers)
    CHECK(a.get());
  CHECK(together);
}

TEST_CASE("with a delay a lone request is computed when it is over, and a full batch before") {
  auto facts = std::make_shared<fake_facts>();
  batcher patient{
      std::make_shared<const fake_servable>(facts), "serving_default", {.limits = {.rows_max = 2, .delay_max = 30ms}}};
  const auto begun = std::chrono::steady_clock::now();
  CHECK(patient.call(std::vector{row(1)}, 1));
  CHECK(std::chrono::steady_clock::now() - begun >= 30ms);
  batcher endless{std::make_shared<const fake_servable>(facts),
                  "serving_default",
                  {.limits = {.rows_max = 2, .delay_max = 1h}, .wait_max = 2h}};
  auto first = ask(endless, row(1));
  wait_for(endless, 1);
  CHECK(endless.call(std::vector{row(2)}, 1));
  CHECK(first.get());
  CHECK(facts->rows == 3);
}

TEST_CASE("ten threads get their own answers, however their requests are put together") {
  auto facts = std::make_shared<fake_facts>();
  batcher all{
      std::make_shared<const fake_servable>(facts), "serving_default", {.limits = {.rows_max = 7}, .callers_max = 2}};
  std::vector<std::future<int>> threads;
  for (int t = 0; t < 10; ++t)
    threads.push_back(std::async(std::launch::async, [&all, t] {
      int wrong = 0;
      for (int i = 0; i < 200; ++i) {
        const auto x = static_cast<float>(1000 * t + i);
        const auto y = all.call(std::vector{row(x)}, 1);
        wrong += y && y->at(0) == tensor::of<float>({1, 2}, {2 * x, 2 * x + 2}) ? 0 : 1;
      }
      return wrong;
    }));
  for (auto& t : threads)
    CHECK(t.get() == 0);
  CHECK(facts->rows == 2000);
}

}  // namespace troupe
