#include "input/sources/idx_source.hpp"

#include "input/sources/memory_source.hpp"
#include "words/text.hpp"

namespace troupe::input {

namespace {

/// The name of a source: "train-images" for "/data/train-images-idx3-ubyte.gz".
std::string short_name(const std::string& path) {
  std::string name = file_name_of(path);
  if (name.ends_with(".gz"))
    name.resize(name.size() - 3);
  return name.substr(0, name.find("-idx"));
}

expected<void> check_bytes(const std::string& path, const tensor& t, bool rank_fits, const std::string& wanted) {
  if (t.type() == dtype::uint8 && rank_fits)
    return {};
  return fail(errc::invalid_argument, path + " holds " + type_text(t.type(), t.dims()) + ", not " + wanted);
}

}  // namespace

expected<dataset> idx_dataset(const idx_options& paths, tensor images, std::optional<tensor> labels, idx_times times) {
  if (auto ok = check_bytes(paths.images, images, images.dims().rank() >= 2, "images: uint8 of rank 2 or more"); !ok)
    return fail(ok.error());
  if (images.dims().inner().elements() == 0)
    return fail(errc::invalid_argument,
                paths.images + " holds " + type_text(images.type(), images.dims()) + ": its images have no pixels");
  if (labels) {
    if (auto ok = check_bytes(paths.labels, *labels, labels->dims().rank() == 1, "labels: uint8 of rank 1"); !ok)
      return fail(ok.error());
    if (images.dims()[0] != labels->dims()[0])
      return fail(errc::invalid_argument, paths.images + " holds " + std::to_string(images.dims()[0]) + " images, "
                                              + paths.labels + " holds " + std::to_string(labels->dims()[0])
                                              + " labels");
  }
  const shape pixels{images.dims().inner().elements()};
  std::vector<column> features(1), targets(labels ? 1 : 0);
  features[0].what = {"pixels", dtype::float32, pixels};
  features[0].rows = std::move(images);
  features[0].convert = column::conversion::unit_float;
  features[0].path = paths.images;
  features[0].modified = times.images;
  if (labels) {
    targets[0].what = {"label", dtype::int32, {}};
    targets[0].rows = std::move(*labels);
    targets[0].convert = column::conversion::to_int32;
    targets[0].path = paths.labels;
    targets[0].modified = times.labels;
  }
  return memory_source("idx(" + short_name(paths.images) + ")", std::move(features), std::move(targets));
}

expected<idx_options> find_mnist_files(const std::string& directory, const std::string& part,
                                       const std::function<bool(const std::string&)>& exists) {
  idx_options found;
  for (auto [name, path] : {std::pair{"-images-idx3-ubyte", &found.images}, {"-labels-idx1-ubyte", &found.labels}}) {
    *path = directory + (directory.ends_with('/') ? "" : "/") + part + name;
    if (exists(*path))
      continue;
    if (!exists(*path + ".gz"))
      return fail(errc::not_found, "neither " + *path + " nor " + *path + ".gz is there");
    *path += ".gz";
  }
  return found;
}

}  // namespace troupe::input
