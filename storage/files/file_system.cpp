#include "storage/files/file_system.hpp"

namespace troupe {

std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/'))
    return std::string{name};
  std::string path{directory};
  if (!path.ends_with('/'))
    path += '/';
  return path += name;
}

expected<std::string> read_whole(const readable_file& file, const std::string& path, int64_t bytes_max) {
  if (file.size() > bytes_max)
    return fail(errc::data_loss, path + ": it has " + std::to_string(file.size()) + " bytes, and a file of its kind "
                                     + std::to_string(bytes_max) + " at most");
  std::string bytes(static_cast<size_t>(file.size()), '\0');
  if (auto done = file.read(0, std::as_writable_bytes(std::span{bytes})); !done)
    return fail(std::move(done.error()));
  return bytes;
}

expected<std::string> read_file(file_system& fs, const std::string& path, int64_t bytes_max) {
  return fs.open(path).and_then(
      [&](const std::unique_ptr<readable_file>& file) { return read_whole(*file, path, bytes_max); });
}

expected<std::unique_ptr<writable_file>> create_temporary(file_system& fs, const std::string& path) {
  constexpr int attempts = 3;  // Another writer may make the name between the removal and the creation.
  for (int attempt = 0; attempt < attempts; ++attempt) {
    auto made = fs.create_new(path);
    if (!made || *made)
      return made;
    if (auto removed = fs.remove(path); !removed && removed.error().category != errc::not_found)
      return fail(std::move(removed.error()));
  }
  return fail(errc::failed_precondition, "cannot create " + path + ": another program makes it again and again");
}

expected<void> complete_temporary(writable_file& file, const std::string& path, const std::string& name,
                                  const directory_lock* lock) {
  // The lock is checked first, since its error says more: with the directory the file went too.
  return file.sync()
      .and_then([&] { return lock ? lock->check() : expected<void>{}; })
      .and_then([&] { return file.is_in_place(); })
      .and_then([&](bool in_place) -> expected<void> {
        if (!in_place)
          return fail(errc::failed_precondition,
                      path + " was removed, replaced or truncated by another program while it was written: " + name
                          + " is not written");
        return file.close();
      });
}

expected<void> write_file_atomically(file_system& fs, const std::string& directory, const std::string& name,
                                     std::string_view bytes, const directory_lock* lock) {
  const std::string path = join_path(directory, name), temporary = path + ".tmp";
  auto file = create_temporary(fs, temporary);
  if (!file)
    return fail(std::move(file.error()));
  auto renamed = (*file)
                     ->append(std::as_bytes(std::span{bytes}))
                     .and_then([&] { return complete_temporary(**file, temporary, path, lock); })
                     .and_then([&] { return fs.rename(temporary, path); });
  if (!renamed) {
    if ((*file)->is_in_place().value_or(true))  // What another program has put there is not ours to remove.
      (void)fs.remove(temporary);               // Errors are ignored: the disk may be full.
    return renamed;
  }
  return fs.sync_directory(directory.empty() ? "." : directory);
}

expected<void> remove_tree(file_system& fs, const std::string& path) {
  const auto entries = fs.list(path);
  if (!entries)
    return entries.error().category == errc::not_found ? expected<void>{} : fail(entries.error());
  for (const auto& e : *entries) {
    const std::string inner = join_path(path, e.name);
    // A link to a directory is listed as a directory, but must not be entered: so first tries to remove each entry as a
    // file.
    auto removed = fs.remove(inner);
    if (!removed && e.directory)
      removed = remove_tree(fs, inner);
    if (!removed && removed.error().category != errc::not_found)
      return removed;
  }
  auto removed = fs.remove_empty_directory(path);
  return !removed && removed.error().category == errc::not_found ? expected<void>{} : removed;
}

}  // namespace troupe
