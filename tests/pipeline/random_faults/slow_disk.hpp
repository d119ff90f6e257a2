// A file system whose calls take time.
#pragma once

#include "support/delegating_file_system.hpp"

#include <functional>

namespace troupe::test::random_faults {

/// Calls `spend` before each call that reaches the inner file system.
class slow_disk final : public delegating_file_system {
 public:
  slow_disk(std::shared_ptr<file_system> inner, std::function<void()> spend)
    : delegating_file_system(std::move(inner)), spend_(std::move(spend)) {}

  expected<std::unique_ptr<writable_file>> create(const std::string& path) override {
    return slowed((spend_(), delegating_file_system::create(path)));
  }
  expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override {
    return slowed((spend_(), delegating_file_system::create_new(path)));
  }
  expected<std::unique_ptr<writable_file>> open_to_append(const std::string& path) override {
    return slowed((spend_(), delegating_file_system::open_to_append(path)));
  }
  expected<std::unique_ptr<readable_file>> open(const std::string& path) override {
    return spend_(), delegating_file_system::open(path);
  }
  expected<void> rename(const std::string& from, const std::string& to) override {
    return spend_(), delegating_file_system::rename(from, to);
  }
  expected<void> remove(const std::string& path) override { return spend_(), delegating_file_system::remove(path); }
  expected<void> sync_directory(const std::string& path) override {
    return spend_(), delegating_file_system::sync_directory(path);
  }
  expected<std::vector<file_info>> list(const std::string& path) override {
    return spend_(), delegating_file_system::list(path);
  }

 private:
  class slow_file final : public writable_file {
   public:
    slow_file(std::unique_ptr<writable_file> inner, std::function<void()> spend)
      : inner_(std::move(inner)), spend_(std::move(spend)) {}
    expected<void> append(std::span<const std::byte> bytes) override { return spend_(), inner_->append(bytes); }
    expected<void> sync() override { return spend_(), inner_->sync(); }
    expected<void> close() override { return inner_->close(); }
    expected<bool> is_in_place() const override { return inner_->is_in_place(); }

   private:
    std::unique_ptr<writable_file> inner_;
    std::function<void()> spend_;
  };

  expected<std::unique_ptr<writable_file>> slowed(expected<std::unique_ptr<writable_file>> file) const {
    if (!file || !*file)
      return file;
    return std::make_unique<slow_file>(std::move(*file), spend_);
  }

  std::function<void()> spend_;
};

}  // namespace troupe::test::random_faults
