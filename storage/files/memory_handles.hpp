// What a file system in memory hands out: open files, locks of directories, holds of files. All of them end when the
// disk loses power.
#pragma once

#include "storage/files/memory_file_system.hpp"
#include "storage/files/memory_world.hpp"

#include <cassert>
#include <cstring>

namespace troupe::memory {

inline tl::unexpected<error> fail_in_memory(errc category, const char* operation, const std::string& path,
                                            const char* reason) {
  return fail(category, std::string{"cannot "} + operation + " " + path + ": " + reason);
}

class memory_writable_file final : public writable_file {
 public:
  /// What the node has already stays in front.
  memory_writable_file(std::shared_ptr<world> w, node_ptr n, std::string path)
    : world_(std::move(w)), node_(std::move(n)), path_(std::move(path)), life_(world_->life),
      written_(node_->content->size()) {}

  expected<void> append(std::span<const std::byte> bytes) override {
    return use("write", [&] {
      node_->content->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      written_ += bytes.size();
      node_->modified = ++world_->clock;
    });
  }
  expected<void> sync() override {
    return use("sync", [&] {
      node_->synced = node_->content->size();
      node_->before_truncation.reset();
    });
  }
  expected<void> close() override {
    return use("close", [&] { closed_ = true; });
  }
  expected<bool> is_in_place() const override {
    const std::lock_guard guard{world_->mutex};
    if (life_ != world_->life)
      return fail_in_memory(errc::unavailable, "look at", path_, "the disk lost power");
    return world_->node_at(parts_of(path_)) == node_ && node_->content->size() >= written_;
  }

 private:
  template <class Action>
  expected<void> use(const char* operation, Action action) {
    const std::lock_guard guard{world_->mutex};
    if (closed_ || life_ != world_->life)
      return fail_in_memory(errc::unavailable, operation, path_, closed_ ? "it is closed" : "the disk lost power");
    action();
    return {};
  }

  std::shared_ptr<world> world_;
  node_ptr node_;
  std::string path_;
  uint64_t life_;
  size_t written_;
  bool closed_ = false;
};

class memory_readable_file final : public readable_file {
 public:
  memory_readable_file(std::shared_ptr<world> w, bytes_ptr content, std::string path)
    : world_(std::move(w)), content_(std::move(content)), path_(std::move(path)), life_(world_->life),
      size_(static_cast<int64_t>(content_->size())) {}

  expected<void> read(int64_t offset, std::span<std::byte> into) const override {
    const std::lock_guard guard{world_->mutex};
    if (life_ != world_->life)
      return fail_in_memory(errc::unavailable, "read", path_, "the disk lost power");
    const auto begin = std::min(static_cast<size_t>(std::max<int64_t>(offset, 0)), content_->size());
    if (offset < 0 || content_->size() - begin < into.size())
      return fail(errc::data_loss, path_ + " ends at byte " + std::to_string(content_->size()) + ": wanted "
                                       + std::to_string(into.size()) + " bytes at " + std::to_string(offset)
                                       + ", found " + std::to_string(content_->size() - begin));
    if (!into.empty())
      std::memcpy(into.data(), content_->data() + begin, into.size());
    return {};
  }
  int64_t size() const noexcept override { return size_; }

 private:
  std::shared_ptr<world> world_;
  bytes_ptr content_;
  std::string path_;
  uint64_t life_;
  int64_t size_;
};

class memory_lock final : public directory_lock {
 public:
  memory_lock(std::shared_ptr<world> w, node_ptr held, std::string path)
    : world_(std::move(w)), held_(std::move(held)), path_(std::move(path)), life_(world_->life) {}
  ~memory_lock() override {
    const std::lock_guard guard{world_->mutex};
    if (life_ == world_->life)
      world_->locked.erase(held_.get());
  }

  expected<void> check() const override {
    const std::lock_guard guard{world_->mutex};
    if (life_ != world_->life)
      return fail_in_memory(errc::unavailable, "look at the lock of", path_, "the disk lost power");
    if (world_->node_at(parts_of(path_)) != held_)
      return fail(errc::failed_precondition,
                  path_ + " is not the directory that was locked: it was removed or replaced");
    return {};
  }

 private:
  std::shared_ptr<world> world_;
  node_ptr held_;
  std::string path_;
  uint64_t life_;
};

class memory_hold final : public file_hold {
 public:
  memory_hold(std::shared_ptr<world> w, node_ptr held)
    : world_(std::move(w)), held_(std::move(held)), life_(world_->life) {}
  ~memory_hold() override {
    const std::lock_guard guard{world_->mutex};
    if (life_ == world_->life)
      world_->held.erase(world_->held.find(held_.get()));
  }

 private:
  std::shared_ptr<world> world_;
  node_ptr held_;
  uint64_t life_;
};

class memory_watch final : public directory_watch {
 public:
  memory_watch(std::shared_ptr<world> w, const std::string& path)
    : world_(std::move(w)), parts_(parts_of(path)), seen_(locked_look()) {}

  bool changed(std::chrono::milliseconds patience) override {
    std::unique_lock guard{world_->mutex};
    const auto differs = [this] {
      auto now = look();
      return std::exchange(seen_, now) != now;
    };
    return world_->changed.wait_for(guard, patience, differs);
  }

 private:
  struct entry {
    std::string name;
    const node* what = nullptr;
    double modified = 0;
    bool operator==(const entry&) const = default;
  };
  using names = std::optional<std::vector<entry>>;  ///< Absent: there is no such directory.

  names locked_look() const {
    const std::lock_guard guard{world_->mutex};
    return look();
  }
  names look() const {
    const auto at = world_->node_at(parts_);
    if (!at || !at->directory)
      return std::nullopt;
    std::vector<entry> all;
    for (const auto& [name, what] : world_->directories[at.get()].now)
      all.push_back({name, what.get(), what->modified});
    return all;
  }

  std::shared_ptr<world> world_;
  std::vector<std::string> parts_;
  names seen_;
};

}  // namespace troupe::memory
