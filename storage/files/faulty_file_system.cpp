#include "storage/files/faulty_file_system.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

namespace troupe {

namespace {

/// The state that decides which calls fail. The open files share it.
struct trouble {
  mutable std::mutex mutex;
  int64_t calls = 0;
  int64_t failures = 0;
  int64_t last_good = std::numeric_limits<int64_t>::max();
  bool tear = false;
  std::vector<injected_fault> faults;  ///< In the order of injection.
  std::vector<std::string> trace;

  expected<void> admit(file_operation operation, const std::string& path) {
    const std::lock_guard guard{mutex};
    const std::string what = std::string{to_string(operation)} + " " + path;
    if (++calls > last_good)
      return gone(what);
    const auto counts = [&](const injected_fault& f) {
      return (f.operation == file_operation::any || f.operation == operation)
             && path.find(f.path_contains) != std::string::npos;
    };
    for (auto& f : faults)
      f.nth -= counts(f) ? 1 : 0;
    if (const auto due = std::find_if(faults.begin(), faults.end(),
                                      [&](const auto& f) { return counts(f) && f.nth <= 0; });
        due != faults.end()) {
      const injected_fault f = *due;
      if (!f.for_ever)
        faults.erase(due);
      ++failures;
      return fail(f.category, "cannot " + what + ": " + f.reason + " (injected)");
    }
    trace.push_back(what);
    return {};
  }

  /// `mutex` must be held.
  tl::unexpected<error> gone(const std::string& what) {
    ++failures;
    return fail(errc::unavailable,
                "cannot " + what + ": the disk is gone (injected at call " + std::to_string(calls) + ")");
  }

  bool take_tear() {
    const std::lock_guard guard{mutex};
    return std::exchange(tear, false);
  }
};

class faulty_writable_file final : public writable_file {
 public:
  faulty_writable_file(std::shared_ptr<trouble> t, std::unique_ptr<writable_file> inner, std::string path)
    : trouble_(std::move(t)), inner_(std::move(inner)), path_(std::move(path)) {}

  expected<void> append(std::span<const std::byte> bytes) override {
    auto admitted = trouble_->admit(file_operation::append, path_);
    if (admitted)
      return inner_->append(bytes);
    if (trouble_->take_tear())
      (void)inner_->append(bytes.first(bytes.size() / 2));
    return admitted;
  }
  expected<void> sync() override {
    return trouble_->admit(file_operation::sync, path_).and_then([&] { return inner_->sync(); });
  }
  expected<void> close() override {
    return trouble_->admit(file_operation::close, path_).and_then([&] { return inner_->close(); });
  }
  expected<bool> is_in_place() const override {
    return trouble_->admit(file_operation::info, path_).and_then([&] { return inner_->is_in_place(); });
  }

 private:
  std::shared_ptr<trouble> trouble_;
  std::unique_ptr<writable_file> inner_;
  std::string path_;
};

class faulty_readable_file final : public readable_file {
 public:
  faulty_readable_file(std::shared_ptr<trouble> t, std::unique_ptr<readable_file> inner, std::string path)
    : trouble_(std::move(t)), inner_(std::move(inner)), path_(std::move(path)) {}

  expected<void> read(int64_t offset, std::span<std::byte> into) const override {
    return trouble_->admit(file_operation::read, path_).and_then([&] { return inner_->read(offset, into); });
  }
  int64_t size() const noexcept override { return inner_->size(); }

 private:
  std::shared_ptr<trouble> trouble_;
  std::unique_ptr<readable_file> inner_;
  std::string path_;
};

class faulty_lock final : public directory_lock {
 public:
  faulty_lock(std::shared_ptr<trouble> t, std::unique_ptr<directory_lock> inner, std::string path)
    : trouble_(std::move(t)), inner_(std::move(inner)), path_(std::move(path)) {}

  expected<void> check() const override {
    return trouble_->admit(file_operation::info, path_).and_then([&] { return inner_->check(); });
  }

 private:
  std::shared_ptr<trouble> trouble_;
  std::unique_ptr<directory_lock> inner_;
  std::string path_;
};

class faulty final : public faulty_file_system {
 public:
  explicit faulty(std::shared_ptr<file_system> inner) : inner_(std::move(inner)) {}

  expected<std::unique_ptr<writable_file>> create(const std::string& path) override {
    return trouble_->admit(file_operation::create, path)
        .and_then([&] { return inner_->create(path); })
        .map([&](std::unique_ptr<writable_file> file) -> std::unique_ptr<writable_file> {
          return std::make_unique<faulty_writable_file>(trouble_, std::move(file), path);
        });
  }
  expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override {
    return trouble_->admit(file_operation::create, path)
        .and_then([&] { return inner_->create_new(path); })
        .map([&](std::unique_ptr<writable_file> file) -> std::unique_ptr<writable_file> {
          if (!file)
            return file;
          return std::make_unique<faulty_writable_file>(trouble_, std::move(file), path);
        });
  }
  expected<std::unique_ptr<writable_file>> open_to_append(const std::string& path) override {
    return trouble_->admit(file_operation::open, path)
        .and_then([&] { return inner_->open_to_append(path); })
        .map([&](std::unique_ptr<writable_file> file) -> std::unique_ptr<writable_file> {
          return std::make_unique<faulty_writable_file>(trouble_, std::move(file), path);
        });
  }
  expected<std::unique_ptr<readable_file>> open(const std::string& path) override {
    return trouble_->admit(file_operation::open, path)
        .and_then([&] { return inner_->open(path); })
        .map([&](std::unique_ptr<readable_file> file) -> std::unique_ptr<readable_file> {
          return std::make_unique<faulty_readable_file>(trouble_, std::move(file), path);
        });
  }
  expected<void> rename(const std::string& from, const std::string& to) override {
    return trouble_->admit(file_operation::rename, from + " to " + to).and_then([&] {
      return inner_->rename(from, to);
    });
  }
  expected<void> remove(const std::string& path) override {
    return trouble_->admit(file_operation::remove, path).and_then([&] { return inner_->remove(path); });
  }
  expected<void> create_directories(const std::string& path) override {
    return trouble_->admit(file_operation::create_directories, path).and_then([&] {
      return inner_->create_directories(path);
    });
  }
  expected<bool> create_directory(const std::string& path) override {
    return trouble_->admit(file_operation::create_directories, path).and_then([&] {
      return inner_->create_directory(path);
    });
  }
  expected<void> remove_empty_directory(const std::string& path) override {
    return trouble_->admit(file_operation::remove, path).and_then([&] { return inner_->remove_empty_directory(path); });
  }
  expected<void> sync_directory(const std::string& path) override {
    return trouble_->admit(file_operation::sync_directory, path).and_then([&] { return inner_->sync_directory(path); });
  }
  expected<std::vector<file_info>> list(const std::string& path) override {
    return trouble_->admit(file_operation::list, path).and_then([&] { return inner_->list(path); });
  }
  expected<file_info> info(const std::string& path) override {
    return trouble_->admit(file_operation::info, path).and_then([&] { return inner_->info(path); });
  }
  expected<std::unique_ptr<directory_lock>> lock(const std::string& directory) override {
    return trouble_->admit(file_operation::lock, directory)
        .and_then([&] { return inner_->lock(directory); })
        .map([&](std::unique_ptr<directory_lock> lock) -> std::unique_ptr<directory_lock> {
          return std::make_unique<faulty_lock>(trouble_, std::move(lock), directory);
        });
  }
  expected<std::optional<std::string>> lock_owner(const std::string& directory) override {
    return trouble_->admit(file_operation::info, directory).and_then([&] { return inner_->lock_owner(directory); });
  }
  expected<std::unique_ptr<directory_watch>> watch(const std::string& directory) override {
    return inner_->watch(directory);
  }
  expected<std::unique_ptr<file_hold>> hold(const std::string& path) override {
    return trouble_->admit(file_operation::hold, path).and_then([&] { return inner_->hold(path); });
  }
  expected<bool> remove_unless_held(const std::string& path) override {
    return trouble_->admit(file_operation::remove, path).and_then([&] { return inner_->remove_unless_held(path); });
  }

  void fail_after(int64_t calls, bool tear) override {
    const std::lock_guard guard{trouble_->mutex};
    trouble_->last_good = trouble_->calls + calls;
    trouble_->tear = tear;
  }
  void inject(injected_fault fault) override {
    const std::lock_guard guard{trouble_->mutex};
    trouble_->faults.push_back(std::move(fault));
  }
  void heal() override {
    const std::lock_guard guard{trouble_->mutex};
    trouble_->last_good = std::numeric_limits<int64_t>::max();
    trouble_->tear = false;
    trouble_->faults.clear();
  }
  int64_t calls() const override {
    const std::lock_guard guard{trouble_->mutex};
    return trouble_->calls;
  }
  int64_t failures() const override {
    const std::lock_guard guard{trouble_->mutex};
    return trouble_->failures;
  }
  std::vector<std::string> trace() const override {
    const std::lock_guard guard{trouble_->mutex};
    return trouble_->trace;
  }

 private:
  std::shared_ptr<file_system> inner_;
  std::shared_ptr<trouble> trouble_ = std::make_shared<trouble>();
};

}  // namespace

std::string_view to_string(file_operation operation) noexcept {
  switch (operation) {
    case file_operation::any: return "call";
    case file_operation::create: return "create";
    case file_operation::append: return "write";
    case file_operation::sync: return "sync";
    case file_operation::close: return "close";
    case file_operation::open: return "open";
    case file_operation::read: return "read";
    case file_operation::rename: return "rename";
    case file_operation::remove: return "remove";
    case file_operation::create_directories: return "create directory";
    case file_operation::sync_directory: return "sync directory";
    case file_operation::list: return "list";
    case file_operation::info: return "look at";
    case file_operation::lock: return "lock";
    case file_operation::hold: return "hold";
  }
  return "unknown";
}

std::shared_ptr<faulty_file_system> faulty_file_system::around(std::shared_ptr<file_system> inner) {
  return std::make_shared<faulty>(std::move(inner));
}

}  // namespace troupe
