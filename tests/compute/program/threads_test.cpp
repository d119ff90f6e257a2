// Kernels that are divided among threads: the bits are the same for every number of threads.
#include "tests/compute/gradient_checks.hpp"
#include "tests/compute/model_fixture.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

#include <filesystem>
#include <set>
#include <sstream>

namespace troupe {

using namespace test;

namespace {

using list = const std::vector<symbol>&;

/// Options with which every divisible kernel is divided.
program_options on(int threads, program_options options = {.seed = 5}) {
  options.pool = threads > 1 ? thread_pool::start(threads).value() : nullptr;
  options.least_work = 0;
  return options;
}

std::vector<tensor> outputs_of(const check& c, bool second, const program_options& options) {
  const function f{c, second, options};
  f(f.start);
  std::vector<tensor> all;
  for (size_t i = 0; i < f.p->outputs().size(); ++i)
    all.push_back(f.p->output(static_cast<int32_t>(i)));
  return all;
}

void check_same(const check& c, bool second) {
  const auto one = outputs_of(c, second, on(1));
  for (int threads : {2, 3})
    CHECK(outputs_of(c, second, on(threads)) == one);
}

/// Counts the calls that several threads compute, and adds their operations to `names`.
int64_t add_shared(std::set<std::string>& names, const program& p) {
  std::istringstream text{p.to_text()};
  int64_t count = 0;
  for (std::string line; std::getline(text, line);)
    if (line.find(", shared by ") != std::string::npos) {
      names.insert(line.substr(0, line.find_first_of(" :,")));
      ++count;
    }
  return count;
}

/// The gradients and parameters after three steps.
std::vector<std::vector<std::byte>> trained(const std::function<model_spec(graph&)>& build,
                                            const std::vector<tensor>& feeds, int64_t batch, int threads) {
  trainer t{build, on(threads, {.batch = batch, .seed = 5})};
  std::vector<const std::byte*> at;
  for (const auto& f : feeds)
    at.push_back(f.data());
  for (int64_t step = 0; step < 3; ++step)
    REQUIRE(t.step(at, step) == step_status::ok);
  std::vector<std::vector<std::byte>> all;
  all.emplace_back(t.gradient.get(), t.gradient.get() + t.layout.gradient_bytes());
  all.emplace_back(t.store->arena(0), t.store->arena(0) + t.layout.arena_bytes());
  return all;
}

void check_training(const std::function<model_spec(graph&)>& build, const std::vector<tensor>& feeds, int64_t batch,
                    const std::vector<std::string>& divided) {
  const auto one = trained(build, feeds, batch, 1);
  for (int threads : {2, 3})
    CHECK(trained(build, feeds, batch, threads) == one);
  std::set<std::string> shared;
  add_shared(shared, *trainer{build, on(3, {.batch = batch})}.run);
  for (const auto& name : divided)
    CHECK_MESSAGE(shared.contains(name), name);
}

model_spec spec_of(symbol loss, const optimizer& o) {
  model_spec spec;
  spec.mode = mode::train;
  spec.loss = loss;
  spec.optimizer = o;
  return spec;
}

}  // namespace

TEST_CASE("every operation of the registry and its gradients have the same bits on 1, 2 and 3 threads") {
  std::set<std::string> shared;  // Operations that were divided.
  for (const auto& [name, all] : gradient_checks())
    for (const auto& c : all) {
      CAPTURE(name);
      check_same(c, c.second);
      add_shared(shared, *function{c, c.second, on(3)}.p);
    }
  for (const char* name : {"batched_matmul", "conv2d", "conv2d_image_gradient", "average_pool_gradient", "softmax",
                           "reduce_sum", "cumsum", "reduce_prod", "gather", "transpose"})
    CHECK_MESSAGE(shared.contains(name), std::string{name});
}

TEST_CASE("loops over many elements, fused and apart, have the same bits on 1, 2 and 3 threads") {
  for (const shape& dims : {shape{5000}, shape{3, 4001}, shape{2, 3, 1500}}) {
    CAPTURE(to_text(dims));
    const shape row{dims[dims.rank() - 1]};
    const check chain{{dims, dims, row}, [](graph&, list x) { return add(mul(exp(x[0]), tanh(x[1])), x[2]); }};
    check_same(chain, false);
    std::set<std::string> shared;
    add_shared(shared, *function{chain, false, on(2)}.p);
    CHECK(shared.contains("fused"));
    check_same(
        {{dims}, [](graph&, list x) { return select(greater(x[0], floor(x[0])), log1p(square(x[0])), erf(x[0])); }},
        false);
    check_same({{dims}, [](graph&, list x) { return dropout(x[0], 0.3, true); }}, false);
    check_same({{dims, row}, [](graph&, list x) { return div(softmax(x[0]), add(abs(x[1]), sigmoid(x[1]))); }}, true);
    check_same(
        {{dims}, [](graph&, list x) { return reduce_sum(cast(cast(x[0], dtype::float32), dtype::float64), {{0}}); }},
        false);
  }
}

TEST_CASE("a dense classifier with dropout trains to the same bits on 1, 2 and 3 threads") {
  const auto x = noise<float>({96, 130}, 1);
  const auto y = classes(96, 10);
  for (const optimizer& o :
       {optimizer{adam{.rate = 0.01f}}, optimizer{.rule = momentum{.rate = 0.1f}, .clip = {.global_norm = 0.5f}},
        optimizer{lamb{}}})
    check_training(
        [&](graph& g) {
          return classifier(g, {130, 200, 70, 10}, dtype::float32, o, 0.2);
        },
        {x, y}, 96, {"matmul"});
}

TEST_CASE("a convolutional classifier trains to the same bits on 1, 2 and 3 threads") {
  const auto build = [](graph& g) {
    const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 12, 12, 2});
    const symbol y = g.placeholder("y", dtype::int32, {g.unknown("batch")});
    const auto kernel = [&](const char* name, shape dims) {
      return g.variable({.name = name, .dims = dims, .initial = init::he_normal()});
    };
    symbol h = max_pool(relu(conv2d(x, kernel("k1", {3, 3, 2, 32}))));
    h = average_pool(nn::batch_norm(conv2d(h, kernel("k2", {3, 3, 8, 64}), {.groups = 4}), true));
    h = depthwise_conv2d(h, kernel("k3", {3, 3, 64, 1}));
    const symbol logits = nn::dense(reshape(h, {g.unknown("batch"), 3 * 3 * 64}), {.units = 10});
    return spec_of(reduce_mean(sparse_softmax_cross_entropy(y, logits)), momentum{.rate = 0.05f});
  };
  check_training(build, {noise<float>({9, 12, 12, 2}, 1), classes(9, 10)}, 9,
                 {"matmul", "conv2d", "conv2d_kernel_gradient", "max_pool"});
}

TEST_CASE("recurrent and attention models train to the same bits on 1, 2 and 3 threads") {
  const auto build = [](bool attention) {
    return [attention](graph& g) {
      const symbol x = g.placeholder("x", dtype::int32, {g.unknown("batch"), 12});
      const symbol y = g.placeholder("y", dtype::int32, {g.unknown("batch"), 12});
      symbol h = nn::embedding(x, {.entries = 20, .units = 32});
      if (attention) {
        h = nn::residual(h, nn::multi_head_attention(h, {.heads = 4, .causal = true}),
                         {.dropout = 0.1, .training = true});
        h = nn::layer_norm(nn::residual(h, nn::feed_forward(h, {.hidden = 64})));
      } else {
        h = nn::lstm(h, {.units = 40}).outputs;
      }
      const symbol logits = reshape(nn::dense(h, {.units = 20}), {extent{-1}, 20});
      return spec_of(reduce_mean(sparse_softmax_cross_entropy(reshape(y, {extent{-1}}), logits)), adam{});
    };
  };
  std::vector<int32_t> text(7 * 12);
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<int32_t>(i * i % 20);
  const auto ids = tensor::of<int32_t>({7, 12}, std::span<const int32_t>{text});
  check_training(build(false), {ids, ids}, 7, {"matmul"});
  check_training(build(true), {ids, ids}, 7, {"matmul", "batched_matmul", "softmax"});
}

TEST_CASE("the first bad label of a divided loss is named by its row in the batch") {
  for (int64_t row : {3, 70, 190}) {
    trainer t{[&](graph& g) { return classifier(g, {4, 3}, dtype::float32, momentum{}); }, on(3, {.batch = 192})};
    std::vector<int32_t> labels(192, 1);
    labels[static_cast<size_t>(row)] = 3;
    labels[191] = 7;
    const auto x = noise<float>({192, 4}, 1);
    const auto y = tensor::of<int32_t>({192}, std::span<const int32_t>{labels});
    CHECK(t.run->gradients(t.input({x.data(), y.data()}), t.gradient.get()) == step_status::bad_input);
    CHECK(has(t.run->last_error().message, "label 3 of row " + std::to_string(row) + " is outside [0, 3)"));
  }
}

TEST_CASE("an element that is not finite is found by whichever thread looks at it, and only within the slice") {
  trainer t{[](graph& g) { return classifier(g, {130, 200, 10}, dtype::float32, momentum{}); }, on(3, {.batch = 12})};
  const int64_t bytes = t.layout.gradient_bytes();
  std::fill_n(t.gradient.get(), bytes, std::byte{0});
  CHECK(t.run->is_finite(t.layout, {0, bytes}, t.gradient.get()));
  for (int64_t at : {int64_t{0}, bytes / 2, bytes - 64}) {
    auto* const element = reinterpret_cast<float*>(t.gradient.get() + at / 64 * 64);
    *element = std::numeric_limits<float>::infinity();
    CHECK_FALSE(t.run->is_finite(t.layout, {0, bytes}, t.gradient.get()));
    CHECK(t.run->is_finite(t.layout, {0, at / 64 * 64}, t.gradient.get()));
    *element = 0;
  }
}

TEST_CASE("only calls with work enough for a thread's waking are divided") {
  const auto build = [](std::vector<int64_t> widths) {
    return [=](graph& g) { return classifier(g, widths, dtype::float32, momentum{}); };
  };
  const auto pool = thread_pool::start(2).value();
  trainer small{build({10, 16, 2}), {.batch = 32, .pool = pool}};
  trainer large{build({784, 128, 10}), {.batch = 128, .pool = pool}};
  std::set<std::string> names;
  CHECK(add_shared(names, *small.run) == 0);
  CHECK(add_shared(names, *large.run) > 3);
  CHECK(small.run->threads() == 2);
  trainer alone{build({784, 128, 10}), {.batch = 128}};
  CHECK(add_shared(names, *alone.run) == 0);
}

TEST_CASE("one thread is used for each so much work of a run, as the shapes say, and at most those of the pool") {
  CHECK(threads_for(0, 1000, 8) == 1);
  CHECK(threads_for(1999, 1000, 8) == 1);
  CHECK(threads_for(2000, 1000, 8) == 2);
  CHECK(threads_for(7999, 1000, 8) == 7);
  CHECK(threads_for(1'000'000, 1000, 8) == 8);
  CHECK(threads_for(1, 0, 8) == 8);

  const auto planned = [](std::vector<int64_t> widths, int64_t batch, std::shared_ptr<thread_pool> pool) {
    return trainer{[=](graph& g) { return classifier(g, widths, dtype::float32, momentum{}); },
                   {.batch = batch, .pool = std::move(pool), .work_a_thread = automatic_work_a_thread}};
  };
  const auto threads_now = [] { return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}); };
  const auto before = threads_now();
  CHECK(planned({10, 16, 2}, 32, thread_pool::of(64)).run->threads() == 1);
  CHECK(planned({784, 128, 10}, 32, thread_pool::of(64)).run->threads() == 1);
  CHECK(threads_now() == before);
  const auto step = planned({784, 128, 10}, 128, thread_pool::of(64));
  CHECK(step.run->threads() >= 2);
  CHECK(step.run->threads() <= 8);
  CHECK(threads_now() == before + step.run->threads() - 1);
  CHECK(planned({784, 128, 10}, 128, thread_pool::of(2)).run->threads() == 2);
  CHECK(planned({784, 128, 10}, 128, nullptr).run->threads() == 1);
  std::set<std::string> names;
  CHECK(add_shared(names, *planned({784, 128, 10}, 32, thread_pool::of(64)).run) == 0);
}

}  // namespace troupe
