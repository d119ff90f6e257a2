// Measures the processor time of a batch in microseconds, for 32 rows of 40 bytes and for images as of Fashion-MNIST.
// Prints the minimum of several repetitions.
#include "input/sources/idx_source.hpp"

#include <troupe/dataset_iterator.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace {

using namespace troupe;

double microseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

void measure(const char* what, const dataset& data, int batches) {
  auto it = data.last_stage()->iterate({});
  if (!it)
    return void(std::printf("%s\n", to_text(it.error()).c_str()));
  std::vector<std::shared_ptr<std::byte>> buffers;
  std::vector<std::byte*> into;
  for (const auto& c : (*it)->spec().components()) {
    buffers.push_back(allocate_buffer((*it)->batch_rows() * c.row_bytes()));
    into.push_back(buffers.back().get());
  }
  double best = 1e30;
  for (int repetition = 0; repetition < 20; ++repetition) {
    const double start = microseconds();
    for (int i = 0; i < batches; ++i)
      if (!(*it)->read(into, {}))
        return void(std::printf("%s: ended\n", what));
    best = std::min(best, (microseconds() - start) / batches);
  }
  std::printf("%-44s %8.3f us\n", what, best);
}

}  // namespace

int main() {
  const auto rows = dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {10000, 10})}});
  measure("32 x 40 bytes: batch.repeat", rows->batch(32).repeat(), 20000);
  measure("32 x 40 bytes: repeat.batch", rows->repeat().batch(32), 20000);
  measure("32 x 40 bytes: shuffle.batch.repeat", rows->shuffle().batch(32).repeat(), 20000);
  measure("32 x 40 bytes: shuffle.repeat.batch", rows->shuffle().repeat().batch(32), 20000);
  const auto images = input::idx_dataset({"images", "labels"}, tensor::zeros(dtype::uint8, {60000, 28, 28}),
                                         tensor::zeros(dtype::uint8, {60000}));
  measure("128 images: batch.repeat", images->batch(128).repeat(), 400);
  measure("128 images: shuffle.batch.repeat", images->shuffle().batch(128).repeat(), 400);
}
