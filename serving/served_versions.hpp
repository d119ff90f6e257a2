// The version of a model that is served, and its replacement by a newer one under load. A request keeps the version
// with which it began; an old version is freed after its last request.
#pragma once

#include "serving/answers.hpp"
#include "serving/batcher.hpp"

#include <map>

namespace troupe {

/// Where versions come from.
class version_source {
 public:
  virtual ~version_source() = default;
  /// The numbers of the versions that exist, in any order.
  virtual expected<std::vector<int64_t>> list() = 0;
  virtual expected<std::shared_ptr<const servable>> open(int64_t number) = 0;
};

/// One version with a batcher for each of its signatures. Any thread.
class served_version {
 public:
  served_version(int64_t number, std::shared_ptr<const servable> model, const batcher_options& options);
  int64_t number() const noexcept { return number_; }
  const served_signatures& signatures() const noexcept { return model_->signatures(); }
  /// `signature` is one of `signatures()`.
  batcher& batches(const std::string& signature) const { return *batchers_.at(signature); }
  answer_row_bytes answer_bytes(const std::string& signature) const { return answer_bytes_.at(signature); }
  int64_t waiting() const;

 private:
  int64_t number_;
  std::shared_ptr<const servable> model_;
  std::map<std::string, std::unique_ptr<batcher>> batchers_;
  std::map<std::string, answer_row_bytes> answer_bytes_;
};

class served_versions {
 public:
  served_versions(std::unique_ptr<version_source> source, batcher_options options)
    : source_(std::move(source)), options_(std::move(options)) {}

  /// Null before the first version is opened. Any thread.
  std::shared_ptr<const served_version> current() const;

  struct change {
    std::optional<int64_t> opened = {};  ///< The version that is served from then on.
    /// Versions that cannot be opened, the disappearance of the current one, and a failure to list them; each is
    /// reported once.
    std::vector<std::string> warnings = {};
  };
  /// Looks for a version newer than the current one and opens it beside that one. If that fails, the next newer version
  /// is tried; if all fail, the current one stays. A version that could not be opened, perhaps because it is still
  /// being copied, is tried again after 1, 2, 4, ... at most 64 looks. Called by one thread at a time. Errors only
  /// while no version is served: not_found if there is none, or the error of the newest if none can be opened.
  expected<change> refresh();

 private:
  std::unique_ptr<version_source> source_;
  batcher_options options_;
  struct refusal {
    int64_t next = 0, pause = 1;  ///< The look of the next attempt, and the pause after it in looks.
  };
  std::map<int64_t, refusal> refused_;  ///< Versions that could not be opened, by number.
  int64_t looks_ = 0;
  bool vanished_ = false, unlisted_ = false;
  mutable std::mutex guard_;
  std::shared_ptr<const served_version> current_;
};

}  // namespace troupe
