#include "storage/archives/formats.hpp"

#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/tensorflow/tensor_bundle.hpp"

#include <map>

namespace troupe {

namespace {

class checkpoint_archive final : public tensor_archive {
 public:
  checkpoint_archive(std::shared_ptr<file_system> fs, std::string directory, std::unique_ptr<file_hold> lease,
                     const manifest& m)
    : tensor_archive(join_path(directory, checkpoint_name(m.id))), fs_(std::move(fs)), directory_(std::move(directory)),
      lease_(std::move(lease)) {
    std::vector<archived_tensor> all;
    for (const auto& t : m.tensors) {
      const auto extents = t.dims.extents();
      all.push_back({t.name,
                     std::string{to_string(t.type)},
                     &element_type_of(t.type),
                     {extents.begin(), extents.end()},
                     t.bytes});
      places_.emplace(t.name, t);
    }
    take(std::move(all));
  }

  archive_format format() const noexcept override { return archive_format::troupe; }

  expected<std::shared_ptr<const std::byte>> read_bytes(const archived_tensor& t) override {
    const auto& place = places_.at(t.name);
    auto& file = files_[place.file];
    const std::string path = join_path(directory_, place.file);
    if (!file) {
      auto opened = fs_->open(path);
      if (!opened)
        return fail(std::move(opened.error()));
      file = std::move(*opened);
    }
    const auto read = read_tensor(*file, path, {place.name, place.type, place.dims, place.offset, place.bytes});
    if (!read)
      return fail(read.error());
    if (read->crc32c != place.crc32c)
      return fail(errc::data_loss, path + ": tensor " + t.name + " at offset " + std::to_string(place.offset)
                                       + " has the checksum " + crc32c_text(read->crc32c) + " and should have "
                                       + crc32c_text(place.crc32c));
    return read->value.buffer();
  }

 private:
  std::shared_ptr<file_system> fs_;
  std::string directory_;
  std::unique_ptr<file_hold> lease_;
  std::map<std::string, stored_tensor_info> places_;
  std::map<std::string, std::unique_ptr<readable_file>> files_;
};

class safetensors_archive final : public tensor_archive {
 public:
  safetensors_archive(std::string path, std::unique_ptr<readable_file> file, const safetensors_scan& scan)
    : tensor_archive(std::move(path)), file_(std::move(file)) {
    std::vector<archived_tensor> all;
    for (const auto& e : scan.entries) {
      const auto* known = element_type_of_safetensors(e.type_name);
      archived_tensor t{e.place.name, std::string{known ? known->name : e.type_name}, known, e.extents, e.place.bytes,
                        e.problem};
      // The bytes can be copied even if the type is not a `dtype`.
      if (t.problem && t.problem->category == errc::unimplemented && known && is_whole(e, *known))
        t.problem.reset();
      places_.emplace(t.name, e.place);
      all.push_back(std::move(t));
    }
    take(std::move(all));
  }

  archive_format format() const noexcept override { return archive_format::safetensors; }

  expected<std::shared_ptr<const std::byte>> read_bytes(const archived_tensor& t) override {
    if (t.problem)
      return fail(*t.problem);
    auto place = places_.at(t.name);
    place.type = dtype::uint8;
    place.dims = shape{place.bytes};
    return read_tensor(*file_, path(), place).map([](const read_tensor_result& r) -> std::shared_ptr<const std::byte> {
      return r.value.buffer();
    });
  }

 private:
  bool is_whole(const safetensors_entry& e, const element_type& type) const {
    int64_t bytes = type.bytes;
    for (const int64_t x : e.extents)
      if (x < 0 || __builtin_mul_overflow(bytes, x, &bytes))
        return false;
    return bytes == e.place.bytes && e.place.offset >= 0 && e.place.offset <= file_->size() - bytes;
  }

  std::unique_ptr<readable_file> file_;
  std::map<std::string, tensor_place> places_;
};

class bundle_archive final : public tensor_archive {
 public:
  bundle_archive(std::shared_ptr<file_system> fs, tensor_bundle bundle)
    : tensor_archive(bundle.prefix()), fs_(std::move(fs)), bundle_(std::move(bundle)) {
    std::vector<archived_tensor> all;
    for (const auto& t : bundle_.tensors())
      all.push_back({t.name, t.type ? std::string{t.type->name} : "type " + std::to_string(t.type_number), t.type,
                     t.extents, t.bytes, t.problem});
    take(std::move(all));
  }

  archive_format format() const noexcept override { return archive_format::tensorflow; }

  expected<std::shared_ptr<const std::byte>> read_bytes(const archived_tensor& t) override {
    return bundle_.read(*bundle_.find(t.name))
        .map([](std::shared_ptr<std::byte> bytes) -> std::shared_ptr<const std::byte> { return bytes; });
  }

 private:
  std::shared_ptr<file_system> fs_;  ///< Must outlive `bundle_`.
  tensor_bundle bundle_;
};

}  // namespace

expected<std::unique_ptr<tensor_archive>> open_checkpoint(const std::shared_ptr<file_system>& fs,
                                                          const std::string& directory, checkpoint_id id) {
  auto lease = fs->hold(join_path(directory, manifest_name(id)));
  if (!lease)
    return fail(std::move(lease.error()));
  const auto m = load_manifest(*fs, directory, id);
  if (!m)
    return fail(m.error());
  return std::make_unique<checkpoint_archive>(fs, directory, std::move(*lease), *m);
}

expected<std::unique_ptr<tensor_archive>> open_safetensors(const std::shared_ptr<file_system>& fs,
                                                           const std::string& path) {
  auto file = fs->open(path);
  if (!file)
    return fail(std::move(file.error()));
  const auto scan = scan_safetensors(**file, path);
  if (!scan)
    return fail(scan.error());
  return std::make_unique<safetensors_archive>(path, std::move(*file), *scan);
}

expected<std::unique_ptr<tensor_archive>> open_bundle(const std::shared_ptr<file_system>& fs,
                                                      const std::string& prefix) {
  auto bundle = tensor_bundle::open(*fs, prefix);
  if (!bundle)
    return fail(std::move(bundle.error()));
  return std::make_unique<bundle_archive>(fs, std::move(*bundle));
}

}  // namespace troupe
