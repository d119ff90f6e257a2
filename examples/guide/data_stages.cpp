// What each stage of a dataset does to the numbers 0 to 7.
#include <troupe/dataset_iterator.hpp>
#include <troupe/troupe.hpp>

#include <iostream>

namespace tr = troupe;

/// Prints the stages of `data` and its first elements, as a job reads them.
tr::expected<void> show(const tr::dataset& data, int count) {
  auto reader = data.last_stage()->iterate({.seed = 1});
  if (!reader)
    return tr::fail(reader.error());
  const int64_t row = data.spec().components()[0].dims.elements();
  std::vector<int32_t> numbers(static_cast<size_t>((*reader)->batch_rows() * row));
  std::cout << data.to_text() << ":";
  for (int i = 0; i < count; ++i) {
    std::byte* into[] = {reinterpret_cast<std::byte*>(numbers.data())};
    const auto rows = (*reader)->read(into, {});
    if (!rows && rows.error().category == tr::errc::out_of_range)
      break;  // The end of the data.
    if (!rows)
      return tr::fail(rows.error());
    std::cout << (i > 0 ? " |" : "");
    for (int64_t n = 0; n < *rows * row; ++n)
      std::cout << " " << numbers[static_cast<size_t>(n)];
  }
  std::cout << "\n";
  return {};
}

int main() {
  const auto eight = tr::tensor::of<int32_t>({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto numbers = tr::dataset::from_tensors({{"n", eight}});
  if (!numbers)
    return tr::print_error(numbers.error());
  const auto half = numbers->map("half", [](tr::example_tensors x) {
    x.features["n"] = tr::tensor::scalar(x.features.at("n").as<int32_t>()[0] / 2);
    return x;
  });
  for (const auto& data : {*numbers, numbers->batch(3), numbers->batch(3, true), numbers->shuffle().batch(4).repeat(2),
                           numbers->take(6).skip(2), numbers->window(3, 2), numbers->streams(2).batch(2), half.batch(8),
                           numbers->repeat().shuffle()})
    if (const auto shown = show(data, 8); !shown)
      std::cout << " " << to_text(shown.error()) << "\n";
  return 0;
}
