// The options that only the program has, and no struct of the library: which data is read, and in which batches.
#pragma once

#include <troupe/options/option_field.hpp>

namespace troupe::cli {

enum class data_format : uint8_t { fashion_mnist, mnist, idx };

/// The keys of [input], except the epochs.
struct input_options {
  data_format format = data_format::fashion_mnist;
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::optional<std::string> images = {}, labels = {};  ///< Only for format idx.
  int64_t batch_size = 128;
  bool shuffle = true;
  std::optional<uint64_t> seed = {};
};

/// Which examples of a published data set: its training examples or its test examples.
enum class data_split : uint8_t { test, train };

/// The keys of [evaluate] that eval_spec does not have.
struct test_options {
  data_split split = data_split::test;
  int64_t batch_size = 500;
  std::optional<std::string> images = {}, labels = {};  ///< Only for format idx.
};

}  // namespace troupe::cli

namespace troupe {

template <>
struct option_choices<cli::data_format> {
  static constexpr std::pair<std::string_view, cli::data_format> all[] = {
      {"fashion_mnist", cli::data_format::fashion_mnist},
      {"mnist", cli::data_format::mnist},
      {"idx", cli::data_format::idx}};
};

template <>
struct option_choices<cli::data_split> {
  static constexpr std::pair<std::string_view, cli::data_split> all[] = {{"test", cli::data_split::test},
                                                                         {"train", cli::data_split::train}};
};

template <>
struct option_fields<cli::input_options> {
  static constexpr std::tuple all{
      option_field{"format", &cli::input_options::format,
                   "the files of MNIST are named as those of Fashion-MNIST; idx: two files that are named"},
      option_field{"data", &cli::input_options::data, "directory of the data"},
      option_field{"images", &cli::input_options::images, "format idx: the file of the training images"},
      option_field{"labels", &cli::input_options::labels, "format idx: the file of their labels"},
      option_field{"batch_size", &cli::input_options::batch_size, "examples in a step", field_range::at_least(1)},
      option_field{"shuffle", &cli::input_options::shuffle, "in another order in each epoch"},
      option_field{"seed", &cli::input_options::seed, "of the shuffle; run.seed unless given"}};
};

template <>
struct option_fields<cli::test_options> {
  static constexpr std::tuple all{
      option_field{"split", &cli::test_options::split, "which of the examples, unless format is idx"},
      option_field{"batch_size", &cli::test_options::batch_size, "examples in a batch, also of predictions",
                   field_range::at_least(1)},
      option_field{"images", &cli::test_options::images, "format idx: the file of the test images"},
      option_field{"labels", &cli::test_options::labels,
                   "format idx: the file of their labels; predict and export need none"}};
};

}  // namespace troupe
