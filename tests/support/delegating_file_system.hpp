// A file system that forwards every call to another; tests derive from it and override calls.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

class delegating_file_system : public file_system {
 public:
  explicit delegating_file_system(std::shared_ptr<file_system> inner) : inner_(std::move(inner)) {}

  expected<std::unique_ptr<writable_file>> create(const std::string& path) override { return inner_->create(path); }
  expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override {
    return inner_->create_new(path);
  }
  expected<std::unique_ptr<writable_file>> open_to_append(const std::string& path) override {
    return inner_->open_to_append(path);
  }
  expected<std::unique_ptr<readable_file>> open(const std::string& path) override { return inner_->open(path); }
  expected<void> rename(const std::string& from, const std::string& to) override { return inner_->rename(from, to); }
  expected<void> remove(const std::string& path) override { return inner_->remove(path); }
  expected<void> create_directories(const std::string& path) override { return inner_->create_directories(path); }
  expected<bool> create_directory(const std::string& path) override { return inner_->create_directory(path); }
  expected<void> remove_empty_directory(const std::string& path) override {
    return inner_->remove_empty_directory(path);
  }
  expected<void> sync_directory(const std::string& path) override { return inner_->sync_directory(path); }
  expected<std::vector<file_info>> list(const std::string& path) override { return inner_->list(path); }
  expected<file_info> info(const std::string& path) override { return inner_->info(path); }
  expected<std::unique_ptr<directory_lock>> lock(const std::string& directory) override {
    return inner_->lock(directory);
  }
  expected<std::optional<std::string>> lock_owner(const std::string& directory) override {
    return inner_->lock_owner(directory);
  }
  expected<std::unique_ptr<directory_watch>> watch(const std::string& directory) override {
    return inner_->watch(directory);
  }
  expected<std::unique_ptr<file_hold>> hold(const std::string& path) override { return inner_->hold(path); }
  expected<bool> remove_unless_held(const std::string& path) override { return inner_->remove_unless_held(path); }

 private:
  std::shared_ptr<file_system> inner_;
};

}  // namespace troupe
