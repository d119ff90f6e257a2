#include "examples/paper/pairs.hpp"

#include <troupe/dataset_iterator.hpp>

#include <array>

namespace paper {

namespace {

void append(pictures& to, const pictures& from, int64_t row) {
  const auto first = from.pixels.begin() + row * pictures::inputs;
  to.pixels.insert(to.pixels.end(), first, first + pictures::inputs);
  to.labels.push_back(from.labels[static_cast<size_t>(row)]);
}

}  // namespace

const std::vector<class_pair>& all_pairs() {
  static const std::vector<class_pair> all{{"T-shirt-shirt", 0, 6},
                                           {"pullover-coat", 2, 4},
                                           {"pullover-shirt", 2, 6},
                                           {"coat-shirt", 4, 6},
                                           {"sneaker-ankle boot", 7, 9}};
  return all;
}

tr::dataset pictures::dataset() const {
  return *tr::dataset::from_tensors({{"pixels", tr::tensor::of<float>({count(), inputs}, pixels)}},
                                    {{"label", tr::tensor::of<float>({count()}, labels)}});
}

tr::expected<pictures> pictures_of(const class_pair& pair, const tr::dataset& from) {
  constexpr int64_t rows = 1000;
  auto iterator = from.batch(rows).last_stage()->iterate({});
  if (!iterator)
    return tr::fail(iterator.error());
  std::vector<float> pixels(rows * pictures::inputs);
  std::vector<int32_t> labels(rows);
  const std::array<std::byte*, 2> into{reinterpret_cast<std::byte*>(pixels.data()),
                                       reinterpret_cast<std::byte*>(labels.data())};
  pictures found;
  while (true) {
    const auto count = (*iterator)->read(into, {});
    if (!count && count.error().category == tr::errc::out_of_range)
      return found;
    if (!count)
      return tr::fail(count.error());
    for (int64_t i = 0; i < *count; ++i)
      if (const auto label = labels[static_cast<size_t>(i)]; label == pair.first || label == pair.second) {
        const auto first = pixels.begin() + i * pictures::inputs;
        found.pixels.insert(found.pixels.end(), first, first + pictures::inputs);
        found.labels.push_back(label == pair.second ? 1.f : 0.f);
      }
  }
}

fold fold_of(const pictures& all, int64_t which, int64_t folds) {
  constexpr int64_t batch = 100, validation_share = 4;
  fold parts;
  int64_t others = 0;
  for (int64_t row = 0; row < all.count(); ++row)
    append(row % folds == which               ? parts.test
           : others++ % validation_share == 0 ? parts.validation
                                              : parts.training,
           all, row);
  const auto whole = static_cast<size_t>(parts.training.count() / batch * batch);
  parts.training.labels.resize(whole);
  parts.training.pixels.resize(whole * pictures::inputs);
  return parts;
}

}  // namespace paper
