// Two classes of Fashion-MNIST, in folds.
#pragma once

#include <troupe/dataset.hpp>

namespace paper {

namespace tr = troupe;

struct class_pair {
  std::string name;
  int32_t first = 0, second = 0;  ///< Labels of Fashion-MNIST; the second one becomes 1.
};
/// The pairs that are compared: clothes that look alike.
const std::vector<class_pair>& all_pairs();

/// Pictures of two classes: features [n, 785], which are the pixels and a constant 1; labels 0 and 1, float32 [n].
struct pictures {
  std::vector<float> features = {}, labels = {};

  static constexpr int64_t pixels = 784, inputs = pixels + 1;
  int64_t count() const { return static_cast<int64_t>(labels.size()); }
  tr::dataset dataset() const;
};
/// All examples of the two classes in `from`, in its order, with pixels in [0, 1]. Errors of reading.
tr::expected<pictures> pictures_of(const class_pair& pair, const tr::dataset& from);

struct fold {
  pictures training = {}, validation = {}, test = {};
};
/// Fold `which` of `folds`: every `folds`-th picture is for testing; of the others every fourth is for choosing
/// settings, and the rest is trained on, cut to whole batches of 100. From each pixel its mean over the training part
/// is subtracted, and it is divided by its standard deviation there, to which 0.1 is added, as some pixels hardly vary.
fold fold_of(const pictures& all, int64_t which, int64_t folds);

}  // namespace paper
