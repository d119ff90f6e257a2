#include "examples/paper/pairs.hpp"

#include <troupe/dataset_iterator.hpp>

#include <array>
#include <cmath>

namespace paper {

namespace {

void append(pictures& to, const pictures& from, int64_t row) {
  const auto first = from.features.begin() + row * pictures::inputs;
  to.features.insert(to.features.end(), first, first + pictures::inputs);
  to.labels.push_back(from.labels[static_cast<size_t>(row)]);
}

/// Calls f(features, pixel) for all pixels, example after example.
template <class Pictures, class F>
void for_pixels(Pictures& p, F f) {
  for (int64_t row = 0; row < p.count(); ++row)
    for (int64_t j = 0; j < pictures::pixels; ++j)
      f(p.features[static_cast<size_t>(row * pictures::inputs + j)], static_cast<size_t>(j));
}

void standardise(fold& parts) {
  std::vector<double> mean(pictures::pixels), deviation(pictures::pixels);
  const auto n = static_cast<double>(parts.training.count());
  for_pixels(parts.training, [&](float x, size_t j) { mean[j] += x / n; });
  for_pixels(parts.training, [&](float x, size_t j) { deviation[j] += (x - mean[j]) * (x - mean[j]) / n; });
  for (auto* part : {&parts.training, &parts.validation, &parts.test})
    for_pixels(*part,
               [&](float& x, size_t j) { x = static_cast<float>((x - mean[j]) / (std::sqrt(deviation[j]) + 0.1)); });
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
  return *tr::dataset::from_tensors({{"features", tr::tensor::of<float>({count(), inputs}, features)}},
                                    {{"label", tr::tensor::of<float>({count()}, labels)}});
}

tr::expected<pictures> pictures_of(const class_pair& pair, const tr::dataset& from) {
  constexpr int64_t rows = 1000;
  auto iterator = from.batch(rows).last_stage()->iterate({});
  if (!iterator)
    return tr::fail(iterator.error());
  std::vector<float> pixels(rows * pictures::pixels);
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
        const auto first = pixels.begin() + i * pictures::pixels;
        found.features.insert(found.features.end(), first, first + pictures::pixels);
        found.features.push_back(1);
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
  parts.training.features.resize(whole * pictures::inputs);
  standardise(parts);
  return parts;
}

}  // namespace paper
