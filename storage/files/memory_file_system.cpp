#include "storage/files/memory_file_system.hpp"

#include "storage/files/memory_handles.hpp"

#include <cassert>
#include <cstring>

namespace troupe {

using namespace memory;

namespace {

class disk final : public memory_disk {
 public:
  disk() { world_->directories[world_->root.get()]; }

  expected<std::unique_ptr<writable_file>> create(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto place = place_of("create", path);
    if (!place)
      return fail(std::move(place.error()));
    if (place->found && place->found->directory)
      return fail_in_memory(errc::failed_precondition, "create", path, "it is a directory");
    return begin(*place, path);
  }

  expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto place = place_of("create", path);
    if (!place)
      return fail(std::move(place.error()));
    return place->found ? nullptr : begin(*place, path);
  }

  expected<std::unique_ptr<writable_file>> open_to_append(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto place = existing_file(path);
    if (!place)
      return fail(std::move(place.error()));
    return std::make_unique<memory_writable_file>(world_, place->found, path);
  }

  expected<std::unique_ptr<readable_file>> open(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto place = existing_file(path);
    if (!place)
      return fail(std::move(place.error()));
    return std::make_unique<memory_readable_file>(world_, place->found->content, path);
  }

  expected<void> rename(const std::string& from, const std::string& to) override {
    const std::lock_guard guard{world_->mutex};
    auto source = existing("rename", from);
    if (!source)
      return fail(std::move(source.error()));
    auto target = place_of("rename", to);
    if (!target)
      return fail(std::move(target.error()));
    if (source->in != target->in)
      return fail_in_memory(errc::unimplemented, "rename", from + " to " + to,
                            "in memory nothing can be moved out of its directory");
    if (target->found && target->found != source->found && (source->found->directory || target->found->directory))
      return fail_in_memory(errc::failed_precondition, "rename", from + " to " + to,
                            "the name is taken, and one of the two is a directory");
    if (source->name != target->name)
      world_->make(*source->in, {source->name, target->name, source->found});
    return {};
  }

  expected<void> remove(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    return existing("remove", path).and_then([&](const found_place& place) { return erase(place, path); });
  }

  expected<void> create_directories(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    node_ptr at = world_->root;
    for (const auto& part : parts_of(path)) {
      directory& in = world_->directories[at.get()];
      auto& found = in.now[part];
      if (found && !found->directory)
        return fail_in_memory(errc::failed_precondition, "create directory", path, "a part of it is a file");
      if (!found) {
        auto fresh = std::make_shared<node>(node{.directory = true, .modified = ++world_->clock});
        world_->directories[fresh.get()];
        world_->make(in, {.set = part, .what = fresh});
      }
      at = in.now[part];
    }
    return {};
  }

  expected<bool> create_directory(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto place = place_of("create directory", path);
    if (!place)
      return fail(std::move(place.error()));
    if (place->found)
      return false;
    auto fresh = std::make_shared<node>(node{.directory = true, .modified = ++world_->clock});
    world_->directories[fresh.get()];
    world_->make(*place->in, {.set = place->name, .what = fresh});
    return true;
  }

  expected<void> remove_empty_directory(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto place = existing("remove", path);
    if (!place)
      return fail(std::move(place.error()));
    if (!place->found->directory || !world_->directories[place->found.get()].now.empty())
      return fail_in_memory(errc::failed_precondition, "remove", path,
                            place->found->directory ? "it is not empty" : "it is not a directory");
    world_->removed.push_back(place->found);
    world_->make(*place->in, {.erased = place->name});
    return {};
  }

  expected<void> sync_directory(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto found = directory_at("sync directory", path);
    if (!found)
      return fail(std::move(found.error()));
    directory& d = world_->directories[found->get()];
    d.durable = d.now;
    d.unsynced.clear();
    return {};
  }

  expected<std::vector<file_info>> list(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto found = directory_at("list", path);
    if (!found)
      return fail(std::move(found.error()));
    std::vector<file_info> files;
    for (const auto& [name, n] : world_->directories[found->get()].now)
      files.push_back(to_info(name, *n));
    return files;
  }

  expected<file_info> info(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    if (parts_of(path).empty())
      return file_info{.name = path, .directory = true};
    auto place = existing("look at", path);
    if (!place)
      return fail(std::move(place.error()));
    return to_info(place->name, *place->found);
  }

  expected<std::unique_ptr<directory_lock>> lock(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto found = directory_at("lock", path);
    if (!found)
      return fail(std::move(found.error()));
    if (!world_->locked.insert(found->get()).second)
      return fail(errc::failed_precondition, path + " is in use by this process");
    return std::make_unique<memory_lock>(world_, *found, path);
  }

  expected<std::optional<std::string>> lock_owner(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto found = directory_at("look at", path);
    if (!found)
      return fail(std::move(found.error()));
    return world_->locked.contains(found->get()) ? std::optional<std::string>{"this process"} : std::nullopt;
  }

  expected<std::unique_ptr<directory_watch>> watch(const std::string& path) override {
    return std::make_unique<memory_watch>(world_, path);
  }

  expected<std::unique_ptr<file_hold>> hold(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto place = existing("hold", path);
    if (!place)
      return fail(std::move(place.error()));
    world_->held.insert(place->found.get());
    return std::make_unique<memory_hold>(world_, place->found);
  }

  expected<bool> remove_unless_held(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    const auto place = existing("remove", path);
    if (!place)
      return fail(place.error());
    if (world_->held.contains(place->found.get()))
      return false;
    return erase(*place, path).map([] { return true; });
  }

  void crash(const crash_options& options) override { world_->crash(options); }

  void remove_directory(const std::string& path) override {
    const std::lock_guard guard{world_->mutex};
    auto place = existing("remove", path);
    assert(place && place->found->directory);
    world_->removed.push_back(place->found);
    world_->make(*place->in, {.erased = place->name});
  }

  void overwrite(const std::string& path, std::string_view bytes) override {
    const std::lock_guard guard{world_->mutex};
    auto place = existing("overwrite", path);
    assert(place && !place->found->directory);
    place->found->content = std::make_shared<std::string>(bytes);
    place->found->synced = bytes.size();
  }

 private:
  struct found_place {
    directory* in;
    std::string name;
    node_ptr found;  ///< Null if the name is free.
  };

  /// Starts an empty file at `place`.
  std::unique_ptr<writable_file> begin(const found_place& place, const std::string& path) {
    node_ptr file = place.found;
    if (!file) {
      file = std::make_shared<node>();
      world_->make(*place.in, {.set = place.name, .what = file});
    } else if (!file->before_truncation) {
      file->before_truncation = std::make_shared<std::string>(*file->content, 0, file->synced);
    }
    file->content = std::make_shared<std::string>();
    file->synced = 0;
    file->modified = ++world_->clock;
    return std::make_unique<memory_writable_file>(world_, file, path);
  }

  expected<void> erase(const found_place& place, const std::string& path) {
    if (place.found->directory)
      return fail_in_memory(errc::failed_precondition, "remove", path, "it is a directory");
    world_->make(*place.in, {.erased = place.name});
    return {};
  }

  static file_info to_info(std::string name, const node& n) {
    return {std::move(name), n.directory, static_cast<int64_t>(n.content->size()), n.modified,
            static_cast<int64_t>(n.modified)};
  }

  expected<node_ptr> walk(const char* operation, const std::string& path, std::span<const std::string> parts) {
    node_ptr at = world_->root;
    for (const auto& part : parts) {
      auto& names = world_->directories[at.get()].now;
      const auto found = names.find(part);
      if (found == names.end())
        return fail_in_memory(errc::not_found, operation, path, "no such file or directory");
      if (!found->second->directory)
        return fail_in_memory(errc::failed_precondition, operation, path, "not a directory");
      at = found->second;
    }
    return at;
  }

  expected<node_ptr> directory_at(const char* operation, const std::string& path) {
    return walk(operation, path, parts_of(path));
  }

  expected<found_place> place_of(const char* operation, const std::string& path) {
    const auto parts = parts_of(path);
    if (parts.empty())
      return fail_in_memory(errc::failed_precondition, operation, path, "it is a directory");
    auto in = walk(operation, path, std::span{parts}.first(parts.size() - 1));
    if (!in)
      return fail(std::move(in.error()));
    directory& d = world_->directories[in->get()];
    const auto found = d.now.find(parts.back());
    return found_place{&d, parts.back(), found == d.now.end() ? nullptr : found->second};
  }

  expected<found_place> existing(const char* operation, const std::string& path) {
    auto p = place_of(operation, path);
    if (p && !p->found)
      return fail_in_memory(errc::not_found, operation, path, "no such file or directory");
    return p;
  }

  expected<found_place> existing_file(const std::string& path) {
    auto p = existing("open", path);
    if (p && p->found->directory)
      return fail_in_memory(errc::failed_precondition, "open", path, "it is a directory");
    return p;
  }

  std::shared_ptr<world> world_ = std::make_shared<world>();
};

}  // namespace

std::shared_ptr<memory_disk> memory_disk::make() { return std::make_shared<disk>(); }

std::shared_ptr<file_system> memory_file_system() { return memory_disk::make(); }

}  // namespace troupe
