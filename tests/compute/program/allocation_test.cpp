// Counts all allocations of this program, and checks that a thousand steps make none.
#include "compute/engine/gradient_reduction.hpp"
#include "tests/compute/model_fixture.hpp"

#include <troupe/nn.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

// These definitions replace those of the C library. operator new is counted separately from malloc, so that a
// replacement that does not call malloc is counted too.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) {
  ++allocations;
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  ++allocations;
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  ++allocations;
  return __libc_realloc(p, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  ++allocations;
  return __libc_memalign(alignment, n);
}
void* memalign(size_t alignment, size_t n) {
  ++allocations;
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** p, size_t alignment, size_t n) {
  ++allocations;
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : 12;
}
void* mmap(void* at, size_t n, int protection, int flags, int file, off_t offset) noexcept {
  ++allocations;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, n, protection, flags, file, offset));
}
}

void* operator new(size_t n) {
  ++allocations;
  return std::malloc(n);
}
void* operator new[](size_t n) {
  ++allocations;
  return std::malloc(n);
}
void* operator new(size_t n, std::align_val_t a) {
  ++allocations;
  return __libc_memalign(static_cast<size_t>(a), n);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace troupe {

using namespace test;

TEST_CASE("the counter sees each way to allocate") {
  const auto counted = [](auto allocate) {
    const int64_t before = allocations;
    std::free(allocate());
    return allocations > before;
  };
  CHECK(counted([] { return std::malloc(10); }));
  CHECK(counted([] { return std::calloc(10, 10); }));
  CHECK(counted([] { return std::aligned_alloc(64, 64); }));
  CHECK(counted([] {
    void* p = nullptr;
    return posix_memalign(&p, 64, 64) == 0 ? p : nullptr;
  }));
  int64_t before = allocations;
  delete new std::string(100, 'x');
  CHECK(allocations >= before + 2);
  before = allocations;
  const auto mapped = allocate_buffer(10 << 20);
  CHECK(allocations >= before + 2);  // The pages and their reference count.
}

TEST_CASE("a thousand steps of 784-128-10 allocate nothing") {
  for (const optimizer& o : {optimizer{momentum{}}, optimizer{adam{}},
                             optimizer{.rule = lamb{.rate = 1e-4f},
                             .schedule = cosine_decay{.decay_steps = 2000},
                             .warmup_steps = 5,
                             .clip = {.value = 1, .norm = 2, .global_norm = 3},
                             .groups = {{.prefix = "dense/", .rate_factor = 2}},
                             .moving_average = 0.9f}})
    for (int64_t batch : {8, 128}) {
      CAPTURE(to_text(o));
      trainer t([&](graph& g) { return classifier(g, {784, 128, 10}, dtype::float32, o, 0.1); }, {.batch = batch});
      const tensor x = noise<float>({batch + 1, 784}, 1), y = classes(batch, 10);
      const std::atomic<bool> cancel{false};
      const std::byte* feeds[] = {x.data(), y.data()};
      const std::byte* unaligned[] = {x.data() + 4, y.data()};
      step_input in{.parameters = t.store->arena(0), .shared = t.store->shared(), .cancel = &cancel};
      bool all = true;
      const int64_t before = allocations;
      for (; in.step < (batch == 8 ? 1000 : 20); ++in.step) {
        in.feeds = in.step % 2 == 0 ? feeds : unaligned;
        all = t.run->gradients(in, t.gradient.get()) == step_status::ok && all;
        add_gradient(t.layout, t.gradient.get(), t.gradient.get());
        all = is_finite(t.layout, t.whole(), t.gradient.get()) && all;
        t.run->apply(in.step, t.whole(), t.gradient.get(), t.store->arena(0), t.store->arena(0));
        all = t.run->loss() > 0 && t.run->output_bytes(0).size() == 4 && all;
      }
      CHECK(allocations == before);
      CHECK(all);
    }
}

TEST_CASE("a hundred sums of the gradients of seven replicas allocate nothing") {
  trainer t([](graph& g) { return classifier(g, {784, 128, 10}, dtype::float32, momentum{}, 0); }, {.batch = 8});
  const std::vector<tensor> parts(7, noise<float>({t.layout.gradient_bytes() / 4}, 1));
  auto sums = gradient_reduction::plan(std::make_shared<parameter_layout>(t.layout), 7);
  REQUIRE(sums);
  const int64_t before = allocations;
  for (int i = 0; i < 100; ++i)
    sums->sum(parts);
  CHECK(allocations == before);
}

TEST_CASE("a hundred steps of a table that is only looked up allocate nothing") {
  for (const optimizer& o :
       {optimizer{momentum{}}, optimizer{.rule = adamw{}, .clip = {.global_norm = 1}, .moving_average = 0.9f}}) {
    trainer t(
        [&](graph& g) {
          const symbol rows = nn::embedding(g.placeholder("ids", dtype::int32, {g.unknown("batch")}),
                                            {.entries = 1000, .units = 5});
          model_spec spec;
          spec.loss = reduce_mean(square(nn::dense(rows, {.units = 3})));
          spec.optimizer = o;
          return spec;
        },
        {.batch = 32});
    REQUIRE(t.layout.sparse().size() == 1);
    const tensor ids = classes(132, 1000);
    const std::byte* feeds[] = {ids.data()};
    step_input in{.parameters = t.store->arena(0), .shared = t.store->shared(), .feeds = feeds};
    bool all = true;
    const int64_t before = allocations;
    for (; in.step < 100; ++in.step) {
      feeds[0] = ids.data() + 4 * in.step;
      all = t.run->gradients(in, t.gradient.get()) == step_status::ok && all;
      add_gradient(t.layout, t.gradient.get(), t.gradient.get());
      all = is_finite(t.layout, t.whole(), t.gradient.get()) && all;
      t.run->apply(in.step, t.whole(), t.gradient.get(), t.store->arena(0), t.store->arena(0));
    }
    CHECK(allocations == before);
    CHECK(all);
  }
}

}  // namespace troupe
