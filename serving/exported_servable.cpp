#include "serving/exported_servable.hpp"

#include "storage/exports/export_directory.hpp"
#include "words/text.hpp"

#include <troupe/exported_model.hpp>

#include <algorithm>
#include <charconv>
#include <mutex>

namespace troupe {

namespace {

class exported_caller final : public servable_caller {
 public:
  explicit exported_caller(model_caller caller) : caller_(std::move(caller)) {}
  expected<std::vector<tensor>> call(std::span<const tensor> inputs) override { return caller_.call(inputs); }

 private:
  model_caller caller_;
};

class exported_servable final : public servable {
 public:
  explicit exported_servable(exported_model model) : model_(std::move(model)) {
    for (const auto& [name, s] : model_.signatures()) {
      served_signature made{.inputs = s.inputs, .outputs = s.outputs};
      for (const auto& [words, text] : model_.texts())
        for (size_t i = 0; i < s.outputs.size(); ++i)
          if (s.outputs[i].name == text.of)
            made.words.push_back({words, i, text.words});
      if (auto first = model_.caller({.signature = name})) {  // If it fails, `caller` gives the error to each request.
        made.rows_apart = first->rows_are_apart();
        first_.emplace(name, std::move(*first));
      }
      signatures_.emplace(name, std::move(made));
    }
  }
  const served_signatures& signatures() const noexcept override { return signatures_; }
  std::string remark() const override { return model_.remark(); }
  expected<std::unique_ptr<servable_caller>> caller(const std::string& signature) const override {
    {
      const std::lock_guard held{guard_};
      if (auto first = first_.extract(signature))
        return std::make_unique<exported_caller>(std::move(first.mapped()));
    }
    auto made = model_.caller({.signature = signature});
    if (!made)
      return fail(std::move(made.error()));
    return std::make_unique<exported_caller>(std::move(*made));
  }

 private:
  exported_model model_;
  served_signatures signatures_;
  mutable std::mutex guard_;
  /// The first caller of each signature. It is made when the model is opened, so that no request waits for it.
  mutable std::map<std::string, model_caller> first_;
};

expected<std::shared_ptr<const servable>> open_servable(const std::string& path) {
  auto model = exported_model::open(path);
  if (!model)
    return fail(std::move(model.error()));
  return std::make_shared<const exported_servable>(std::move(*model));
}

/// The number that is the name of an export; absent if the name is no number.
std::optional<int64_t> number_of(const std::string& path) {
  const std::string name = file_name_of(path);
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  return failed == std::errc{} && end == name.data() + name.size() && number >= 0 ? std::optional{number}
                                                                                  : std::nullopt;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

/// A single export, which may have any name.
class one_export final : public version_source {
 public:
  explicit one_export(std::string path) : path_(std::move(path)) {}
  expected<std::vector<int64_t>> list() override { return std::vector{number_of(path_).value_or(1)}; }
  expected<std::shared_ptr<const servable>> open(int64_t) override { return open_servable(path_); }

 private:
  std::string path_;
};

/// The exports with numbers as names in several directories. If two have the same number, the first directory's is
/// taken.
class numbered_exports final : public version_source {
 public:
  explicit numbered_exports(std::string directory) : directory_(std::move(directory)) {}

  expected<std::vector<int64_t>> list() override {
    found_.clear();
    auto paths = list_exports(directory_);
    if (!paths)
      return fail(std::move(paths.error()));
    for (auto& path : *paths)
      if (const auto number = number_of(path))
        found_.emplace(*number, std::move(path));
    std::vector<int64_t> numbers;
    for (const auto& [number, path] : found_)
      numbers.push_back(number);
    if (numbers.empty())
      return fail(
          errc::not_found,
          directory_ + " has no export: neither directories that are named by numbers nor export/NAME/ with such");
    return numbers;
  }
  expected<std::shared_ptr<const servable>> open(int64_t number) override { return open_servable(found_.at(number)); }

 private:
  std::string directory_;
  std::map<int64_t, std::string> found_;
};

}  // namespace

expected<std::unique_ptr<version_source>> exports_of(const std::string& directory) {
  const auto fs = posix_file_system();
  const auto path = without_slash(directory);
  if (auto info = fs->info(path); !info)
    return fail(std::move(info.error()));
  if (is_export(*fs, path))
    return std::make_unique<one_export>(path);
  return std::make_unique<numbered_exports>(path);
}

std::string model_name_of(const std::string& directory) {
  const auto path = without_slash(directory);
  return number_of(path) ? file_name_of(parent_of(path)) : file_name_of(path);
}

}  // namespace troupe
