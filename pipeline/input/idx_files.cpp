#include "pipeline/input/idx_source.hpp"
#include "storage/file_system.hpp"
#include "storage/idx.hpp"

namespace troupe {

expected<dataset> open_idx(const idx_options& options) {
  const auto fs = posix_file_system();
  auto images = read_idx(*fs, options.images);
  if (!images)
    return fail(images.error());
  auto labels = read_idx(*fs, options.labels);
  if (!labels)
    return fail(labels.error());
  return input::idx_dataset(options, std::move(*images), std::move(*labels));
}

expected<train_and_test> fashion_mnist(const std::string& directory) {
  const auto fs = posix_file_system();
  const auto files = input::find_mnist_files(directory, [&](const std::string& path) { return fs->info(path).has_value(); });
  if (!files)
    return fail(files.error());
  auto train = open_idx(files->train);
  if (!train)
    return fail(train.error());
  auto test = open_idx(files->test);
  if (!test)
    return fail(test.error());
  return train_and_test{std::move(*train), std::move(*test)};
}

}  // namespace troupe
