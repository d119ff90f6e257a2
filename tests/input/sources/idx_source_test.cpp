#include "input/sources/idx_source.hpp"

#include "reading.hpp"

#include <set>

namespace troupe::input {

namespace {

const idx_options paths{"/data/train-images-idx3-ubyte.gz", "/data/train-labels-idx1-ubyte"};

tensor bytes(const shape& dims) {
  std::vector<uint8_t> values(static_cast<size_t>(dims.elements()));
  std::iota(values.begin(), values.end(), uint8_t{0});
  return tensor::of<uint8_t>(dims, values);
}

}  // namespace

TEST_CASE("pixels are the bytes divided by 255, flattened, and labels are int32") {
  const auto made = idx_dataset(paths, bytes({2, 16, 8}), tensor::of<uint8_t>({2}, {7, 255}));
  REQUIRE(made);
  CHECK(made->to_text() == "idx(train-images)");
  CHECK(made->spec() == element_spec{{{"pixels", dtype::float32, {128}}}, {{"label", dtype::int32, {}}}});
  auto it = iterate(made->batch(2));
  std::vector<float> pixels(256);
  std::vector<int32_t> label(2);
  std::byte* into[] = {reinterpret_cast<std::byte*>(pixels.data()), reinterpret_cast<std::byte*>(label.data())};
  CHECK(it->read(into, {}) == 2);
  bool exact = true;
  for (size_t i = 0; i < 256; ++i)
    exact = exact && pixels[i] == static_cast<float>(i) / 255.0f;
  CHECK(exact);
  CHECK(label == std::vector<int32_t>{7, 255});
}

TEST_CASE("images without labels make a dataset of features alone") {
  const auto made = idx_dataset({paths.images}, bytes({2, 1, 2}), std::nullopt);
  REQUIRE(made);
  CHECK(made->spec() == element_spec{{{"pixels", dtype::float32, {2}}}, {}});
  std::vector<float> pixels(4);
  std::byte* into[] = {reinterpret_cast<std::byte*>(pixels.data())};
  CHECK(iterate(made->batch(2))->read(into, {}) == 2);
  CHECK(pixels[3] == 3 / 255.0f);
}

TEST_CASE("files whose counts differ are both named, with their counts") {
  const auto made = idx_dataset(paths, bytes({3, 2, 2}), bytes({2}));
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::invalid_argument);
  CHECK(names(made.error(),
              "/data/train-images-idx3-ubyte.gz holds 3 images, /data/train-labels-idx1-ubyte holds 2 labels"));
}

TEST_CASE("a file of the wrong rank or dtype is named with what it holds") {
  CHECK(names(idx_dataset(paths, bytes({3}), bytes({3})).error(), "/data/train-images-idx3-ubyte.gz holds uint8[3]"));
  CHECK(names(idx_dataset(paths, bytes({3, 2, 2}), bytes({3, 1})).error(),
              "/data/train-labels-idx1-ubyte holds uint8[3, 1]"));
  CHECK(names(idx_dataset(paths, bytes({3, 2, 2}), tensor::zeros(dtype::int32, {3})).error(), "holds int32[3]"));
}

TEST_CASE("images without pixels are refused, naming their file and its shape") {
  CHECK(names(idx_dataset(paths, bytes({4, 0, 2}), bytes({4})).error(),
              "/data/train-images-idx3-ubyte.gz holds uint8[4, 0, 2]: its images have no pixels"));
}

TEST_CASE("the published files are found plain or compressed, plain ones first, and a missing one is named") {
  std::set<std::string> there{"/d/train-images-idx3-ubyte.gz", "/d/train-labels-idx1-ubyte",
                              "/d/train-labels-idx1-ubyte.gz", "/d/t10k-images-idx3-ubyte"};
  const auto exists = [&](const std::string& path) { return there.contains(path); };
  const auto missing = find_mnist_files("/d", "t10k", exists);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().category == errc::not_found);
  CHECK(names(missing.error(), "/d/t10k-labels-idx1-ubyte"));
  there.insert("/d/t10k-labels-idx1-ubyte.gz");
  for (const std::string directory : {"/d", "/d/"}) {
    const auto train = find_mnist_files(directory, "train", exists), test = find_mnist_files(directory, "t10k", exists);
    REQUIRE(train);
    REQUIRE(test);
    CHECK(train->images == "/d/train-images-idx3-ubyte.gz");
    CHECK(train->labels == "/d/train-labels-idx1-ubyte");
    CHECK(test->images == "/d/t10k-images-idx3-ubyte");
    CHECK(test->labels == "/d/t10k-labels-idx1-ubyte.gz");
  }
}

}  // namespace troupe::input
