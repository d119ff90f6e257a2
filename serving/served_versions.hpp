// The version of a model that answers, and its replacement by a newer one while requests are answered: a request keeps the version
// with which it began, and an old version goes with its last request.
#pragma once

#include "serving/answers.hpp"
#include "serving/batcher.hpp"

#include <map>

namespace troupe {

/// Where versions come from.
class version_source {
 public:
  virtual ~version_source() = default;
  /// The numbers of those that are there, in any order.
  virtual expected<std::vector<int64_t>> list() = 0;
  virtual expected<std::shared_ptr<const servable>> open(int64_t number) = 0;
};

/// One version with a batcher for each of its signatures. Any thread.
class served_version {
 public:
  served_version(int64_t number, std::shared_ptr<const servable> model, const batcher_options& options);
  int64_t number() const noexcept { return number_; }
  const served_signatures& signatures() const noexcept { return model_->signatures(); }
  /// `signature` is one of the above.
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
  served_versions(std::unique_ptr<version_source> source, batcher_options options) : source_(std::move(source)), options_(std::move(options)) {}

  /// Null before the first one. Any thread.
  std::shared_ptr<const served_version> current() const;

  struct change {
    std::optional<int64_t> opened = {};         ///< The version that answers from now on.
    std::vector<std::string> warnings = {};     ///< Versions that cannot be opened, or that the newest has vanished: each told once.
  };
  /// Looks for a version newer than the current one, and opens it beside that: where that fails the current one stays, and the next
  /// newer one is tried. A version that could not be opened, which may be one that is still being copied, is tried again, each time
  /// after twice as many looks, at most 64. Called by one thread at a time. not_found: there is no version at all, and none answers
  /// yet; the error of the newest where none can be opened.
  expected<change> refresh();

 private:
  std::unique_ptr<version_source> source_;
  batcher_options options_;
  struct refusal {
    int64_t next = 0, pause = 1;                ///< The look at which it is tried again, and how many there are between.
  };
  std::map<int64_t, refusal> refused_;          ///< Could not be opened.
  int64_t looks_ = 0;
  bool vanished_ = false;
  mutable std::mutex guard_;
  std::shared_ptr<const served_version> current_;
};

}  // namespace troupe
