#include "reading.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe {

namespace {

/// A directory that is removed with the test.
struct scratch {
  std::string path = (std::filesystem::temp_directory_path() / "troupe-idx-XXXXXX").string();
  scratch() { REQUIRE(mkdtemp(path.data())); }
  ~scratch() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream{path + "/" + name, std::ios::binary} << bytes;
    return path + "/" + name;
  }
};

std::string idx(std::initializer_list<uint8_t> extents, const std::string& elements) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (uint8_t e : extents)
    bytes += {'\0', '\0', '\0', static_cast<char>(e)};
  return bytes + elements;
}

}  // namespace

TEST_CASE("the four published files become a training and a test set") {
  const scratch dir;
  dir.write("train-images-idx3-ubyte", idx({3, 1, 2}, std::string{"\x00\x33\x66\x99\xcc\xff", 6}));
  dir.write("train-labels-idx1-ubyte", idx({3}, std::string{"\x00\x01\x02", 3}));
  dir.write("t10k-images-idx3-ubyte", idx({1, 1, 2}, "ab"));
  dir.write("t10k-labels-idx1-ubyte", idx({1}, "\x07"));
  const auto data = fashion_mnist(dir.path);
  REQUIRE_MESSAGE(data.has_value(), (data ? "" : to_text(data.error())));
  CHECK(data->train.source_size() == 3);
  CHECK(data->test.source_size() == 1);
  CHECK(data->test.to_text() == "idx(t10k-images)");
  auto it = iterate(data->train.batch(3));
  float pixels[6];
  int32_t label[3];
  std::byte* into[] = {reinterpret_cast<std::byte*>(pixels), reinterpret_cast<std::byte*>(label)};
  CHECK(it->read(into, {}) == 3);
  CHECK(pixels[1] == 51.0f / 255.0f);
  CHECK(pixels[5] == 1.0f);
  CHECK(label[2] == 2);
}

TEST_CASE("one half of the published files is enough to read that half") {
  const scratch dir;
  dir.write("t10k-images-idx3-ubyte", idx({1, 1, 2}, "ab"));
  dir.write("t10k-labels-idx1-ubyte", idx({1}, "\x07"));
  CHECK(mnist_test(dir.path)->source_size() == 1);
  CHECK(mnist_train(dir.path).error().category == errc::not_found);
  CHECK(fashion_mnist(dir.path).error().category == errc::not_found);
}

TEST_CASE("a file of images is opened without labels where none are named") {
  const scratch dir;
  const auto images = dir.write("images", idx({2, 1, 2}, "abcd"));
  const auto data = open_idx({.images = images});
  REQUIRE(data);
  CHECK(data->source_size() == 2);
  CHECK(data->spec().labels.empty());
  CHECK(open_idx({.images = images, .labels = dir.path + "/none"}).error().category == errc::not_found);
}

TEST_CASE("a directory without the files, and a damaged file, are errors that name the path") {
  const scratch dir;
  const auto missing = fashion_mnist(dir.path);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().category == errc::not_found);
  CHECK(names(missing.error(), dir.path + "/train-images-idx3-ubyte"));
  const auto cut = dir.write("cut", idx({3, 1, 2}, "abc"));
  const auto labels = dir.write("labels", idx({3}, "abc"));
  const auto damaged = open_idx({.images = cut, .labels = labels});
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().category == errc::data_loss);
  CHECK(names(damaged.error(), cut));
}

TEST_CASE("Fashion-MNIST as installed has sixty thousand examples to train on and ten thousand to test with") {
  const std::string directory = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(directory)) {
    MESSAGE("not installed: " << directory);
    return;
  }
  const auto data = fashion_mnist(directory);
  REQUIRE(data);
  CHECK(data->train.source_size() == 60000);
  CHECK(data->test.source_size() == 10000);
  CHECK(data->train.spec() == element_spec{{{"pixels", dtype::float32, {784}}}, {{"label", dtype::int32, {}}}});
  auto it = iterate(data->test.batch(10000));
  std::vector<float> pixels(7840000);
  std::vector<int32_t> label(10000);
  std::byte* into[] = {reinterpret_cast<std::byte*>(pixels.data()), reinterpret_cast<std::byte*>(label.data())};
  CHECK(it->read(into, {}) == 10000);
  for (int32_t c = 0; c < 10; ++c)
    CHECK(std::count(label.begin(), label.end(), c) == 1000);
  CHECK(*std::min_element(pixels.begin(), pixels.end()) == 0);
  CHECK(*std::max_element(pixels.begin(), pixels.end()) == 1);
}

}  // namespace troupe
