#include "input/sources/idx_source.hpp"
#include "storage/encodings/idx.hpp"
#include "storage/files/file_system.hpp"

namespace troupe {

expected<dataset> open_idx(const idx_options& options) {
  const auto fs = posix_file_system();
  auto images = read_idx(*fs, options.images);
  if (!images)
    return fail(images.error());
  const auto time_of = [&](const std::string& path) {
    const auto info = fs->info(path);
    return info ? static_cast<int64_t>(info->modified) : 0;
  };
  if (options.labels.empty())
    return input::idx_dataset(options, std::move(*images), std::nullopt, {time_of(options.images)});
  auto labels = read_idx(*fs, options.labels);
  if (!labels)
    return fail(labels.error());
  return input::idx_dataset(options, std::move(*images), std::move(*labels),
                            {time_of(options.images), time_of(options.labels)});
}

namespace {

expected<dataset> open_part(const std::string& directory, const std::string& part) {
  const auto fs = posix_file_system();
  const auto files = input::find_mnist_files(directory, part,
                                             [&](const std::string& path) { return fs->info(path).has_value(); });
  return files ? open_idx(*files) : expected<dataset>{fail(files.error())};
}

}  // namespace

expected<dataset> mnist_train(const std::string& directory) { return open_part(directory, "train"); }
expected<dataset> mnist_test(const std::string& directory) { return open_part(directory, "t10k"); }

expected<train_and_test> fashion_mnist(const std::string& directory) {
  auto train = mnist_train(directory);
  if (!train)
    return fail(train.error());
  auto test = mnist_test(directory);
  if (!test)
    return fail(test.error());
  return train_and_test{std::move(*train), std::move(*test)};
}

}  // namespace troupe
