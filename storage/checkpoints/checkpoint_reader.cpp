#include "storage/checkpoints/checkpoint_reader.hpp"

#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/safetensors.hpp"

#include <algorithm>

namespace troupe {

checkpoint_reader::checkpoint_reader(std::string directory, manifest m, std::shared_ptr<file_hold> lease,
                                     std::shared_ptr<verified_checkpoint> verified)
  : directory_(std::move(directory)), info_{m.id,
                                            join_path(directory_, checkpoint_name(m.id)),
                                            std::move(m.tensors),
                                            std::move(m.blobs),
                                            std::move(m.properties),
                                            m.wall_time},
    lease_(std::move(lease)), verified_(std::move(verified)) {}

expected<std::unique_ptr<checkpoint_reader>> checkpoint_reader::open(file_system& fs, const std::string& directory,
                                                                     manifest m, std::shared_ptr<file_hold> lease,
                                                                     std::shared_ptr<verified_checkpoint> verified) {
  auto stamps = stamp_checkpoint_files(fs, directory, m);
  auto files = open_checkpoint_files(fs, directory, m);
  if (!files)
    return fail(std::move(files.error()));
  std::unique_ptr<checkpoint_reader> made{
      new checkpoint_reader{directory, std::move(m), std::move(lease), std::move(verified)}};
  if (const auto damaged = made->info_.properties.find(std::string{damaged_verdict_property});
      damaged != made->info_.properties.end())
    made->warnings.push_back("what was found out after the commit of " + checkpoint_name(made->info_.id)
                             + " is lost, such as that the job had ended there or which checkpoint is the best: "
                             + damaged->second);
  made->files_ = std::move(*files);
  if (stamps)
    made->stamps_ = std::move(*stamps);
  return made;
}

expected<std::optional<checkpoint_reader::piece>> checkpoint_reader::next(int64_t bytes_max) {
  for (; tensor_ < info_.tensors.size(); ++tensor_, done_ = 0, crc32c_ = 0) {
    const auto& t = info_.tensors[tensor_];
    const auto width = static_cast<int64_t>(size_of(t.type));
    const int64_t bytes = std::min(t.bytes - done_, std::max(bytes_max / width, int64_t{1}) * width);
    const std::string path = join_path(directory_, t.file);
    std::shared_ptr<std::byte> memory;
    if (bytes > 0) {
      memory = bytes < t.bytes ? pool_.take(bytes) : allocate_buffer(bytes);
      if (!memory)
        return fail(errc::resource_exhausted,
                    path + ": no memory for " + std::to_string(bytes) + " bytes of tensor " + t.name);
      const auto crc = read_bytes(*files_.at(t.file), path, {t.name, t.type, t.dims, t.offset, t.bytes}, done_,
                                  {memory.get(), static_cast<size_t>(bytes)}, crc32c_);
      if (!crc)
        return fail(crc.error());
      crc32c_ = *crc;
    }
    const int64_t first = std::exchange(done_, done_ + bytes);
    if (done_ == t.bytes)
      if (auto right = check_checksum(path, t, crc32c_); !right)
        return fail(std::move(right.error()));
    if (bytes > 0)
      return piece{tensor_, first / width, {t.type, shape{bytes / width}, std::move(memory)}};
  }
  *verified_ = {info_.id, stamps_};
  return std::nullopt;
}

expected<std::optional<tensor>> checkpoint_reader::one(const std::string& name) const {
  const auto found = std::find_if(info_.tensors.begin(), info_.tensors.end(),
                                  [&](const stored_tensor_info& t) { return t.name == name; });
  if (found == info_.tensors.end())
    return std::nullopt;
  const auto& t = *found;
  if (t.bytes == 0)
    return tensor::zeros(t.type, t.dims);
  const std::string path = join_path(directory_, t.file);
  auto memory = allocate_buffer(t.bytes);
  if (!memory)
    return fail(errc::resource_exhausted,
                path + ": no memory for " + std::to_string(t.bytes) + " bytes of tensor " + t.name);
  const auto crc = read_bytes(*files_.at(t.file), path, {t.name, t.type, t.dims, t.offset, t.bytes}, 0,
                              {memory.get(), static_cast<size_t>(t.bytes)}, 0);
  if (!crc)
    return fail(crc.error());
  return check_checksum(path, t, *crc).map([&] { return std::optional{tensor{t.type, t.dims, std::move(memory)}}; });
}

expected<restored_checkpoint> checkpoint_reader::all() {
  checkpoint_content content{
      .id = info_.id, .blobs = info_.blobs, .properties = info_.properties, .wall_time = info_.wall_time};
  for (const auto& t : info_.tensors)
    content.tensors.push_back({t.name, t.bytes == 0 ? tensor::zeros(t.type, t.dims) : tensor{}});
  for (;;) {
    auto found = next(INT64_MAX);
    if (!found)
      return fail(std::move(found.error()));
    if (!*found)
      return restored_checkpoint{std::move(content), info_.prefix, warnings, lease_};
    auto& [index, first, elements] = **found;
    content.tensors[index].value = tensor{elements.type(), info_.tensors[index].dims, elements.buffer()};
  }
}

}  // namespace troupe
