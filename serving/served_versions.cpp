#include "serving/served_versions.hpp"

#include <algorithm>

namespace troupe {

served_version::served_version(int64_t number, std::shared_ptr<const servable> model, const batcher_options& options)
  : number_(number), model_(std::move(model)) {
  for (const auto& [name, signature] : model_->signatures()) {
    auto own = options;
    if (!signature.rows_apart)
      own.limits.rows_max = 1;  // Each request becomes a batch of its own.
    batchers_.emplace(name, std::make_unique<batcher>(model_, name, std::move(own)));
    answer_bytes_.emplace(name, bytes_of_row(signature));
  }
}

int64_t served_version::waiting() const {
  int64_t all = 0;
  for (const auto& [name, one] : batchers_)
    all += one->waiting();
  return all;
}

std::shared_ptr<const served_version> served_versions::current() const {
  const std::lock_guard held{guard_};
  return current_;
}

expected<served_versions::change> served_versions::refresh() {
  change done;
  const auto before = current();
  auto numbers = source_->list();
  if (!numbers && !before)
    return fail(std::move(numbers.error()));
  if (!numbers && numbers.error().category != errc::not_found) {  // Does not tell which versions there are.
    if (!std::exchange(unlisted_, true))
      done.warnings.push_back("the versions cannot be listed: " + numbers.error().message);
    return done;
  }
  unlisted_ = false;
  if (!numbers)
    numbers = std::vector<int64_t>{};  // The current version is in memory and stays.
  std::sort(numbers->begin(), numbers->end(), std::greater{});
  std::erase_if(refused_,
                [&](const auto& r) { return std::find(numbers->begin(), numbers->end(), r.first) == numbers->end(); });
  ++looks_;
  std::optional<error> first;
  for (const int64_t number : *numbers) {
    if (before && number <= before->number())
      break;
    const auto known = refused_.find(number);
    if (known != refused_.end() && looks_ < known->second.next)
      continue;
    auto opened = source_->open(number);
    if (!opened) {
      constexpr int64_t looks_between = 64;
      if (known == refused_.end())
        done.warnings.push_back("version " + std::to_string(number) + " cannot be served: " + opened.error().message);
      auto& r = refused_[number];
      r.next = looks_ + r.pause;
      r.pause = std::min(2 * r.pause, looks_between);
      first = first.value_or(opened.error());
      continue;
    }
    refused_.erase(number);
    if (auto remark = (*opened)->remark(); !remark.empty())
      done.warnings.push_back(std::move(remark));
    auto made = std::make_shared<const served_version>(number, std::move(*opened), options_);
    const std::lock_guard held{guard_};
    current_ = std::move(made);
    done.opened = number;
    break;
  }
  if (!before && !done.opened)
    return fail(first.value_or(error{errc::not_found, "there is no version to serve"}));
  const bool gone = !done.opened && std::find(numbers->begin(), numbers->end(), before->number()) == numbers->end();
  if (gone && !vanished_)
    done.warnings.push_back("version " + std::to_string(before->number())
                            + " has vanished from the disk: it answers until there is a newer one");
  vanished_ = gone;
  return done;
}

}  // namespace troupe
