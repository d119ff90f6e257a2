#include "input/streams/fed_rows.hpp"

#include "words/text.hpp"

#include <troupe/dataset_iterator.hpp>

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

class fed_iterator final : public dataset_iterator {
 public:
  fed_iterator(std::unique_ptr<dataset_iterator> inner, std::vector<std::pair<size_t, std::string>> fed,
               std::shared_ptr<const run_port> port)
    : inner_(std::move(inner)), fed_(std::move(fed)), port_(std::move(port)) {}

  const element_spec& spec() const noexcept override { return inner_->spec(); }
  int64_t batch_rows() const noexcept override { return inner_->batch_rows(); }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    const auto rows = inner_->read(into, stop);
    if (!rows || *rows != batch_rows())
      return rows;  // Training drops a batch that is not full.
    for (const auto& [index, name] : fed_)
      if (const auto value = port_->fed(name))
        std::memcpy(into[index], value->bytes().data(), value->bytes().size());
    return rows;
  }
  expected<std::string> save() const override { return inner_->save(); }
  expected<void> restore(std::string_view state) override { return inner_->restore(state); }
  std::vector<std::string> warnings() const override { return inner_->warnings(); }

 private:
  std::unique_ptr<dataset_iterator> inner_;
  std::vector<std::pair<size_t, std::string>> fed_;  ///< By index among the components.
  std::shared_ptr<const run_port> port_;
};

class fed_stage final : public dataset_stage {
 public:
  fed_stage(std::shared_ptr<const dataset_stage> inner, std::vector<std::string> names,
            std::shared_ptr<const run_port> port)
    : inner_(std::move(inner)), names_(std::move(names)), port_(std::move(port)) {}

  element_spec spec() const override { return inner_->spec(); }
  std::string to_text() const override { return inner_->to_text(); }
  std::optional<int64_t> source_size() const override { return inner_->source_size(); }
  std::optional<int64_t> elements(bool drop_remainder) const override { return inner_->elements(drop_remainder); }
  int64_t streams() const noexcept override { return inner_->streams(); }
  bool never_ends() const noexcept override { return inner_->never_ends(); }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options& options) const override {
    if (options.hosts > 1)
      return fail(errc::unimplemented, "what a run feeds is one batch for all, and this session has "
                                           + std::to_string(options.hosts)
                                           + " infeeds, which would divide it: use input_mode::per_host on one host");
    auto inner = inner_->iterate(options);
    if (!inner || !*inner)
      return inner;
    const auto all = (*inner)->spec().components();
    std::vector<std::pair<size_t, std::string>> fed;
    for (const auto& name : names_) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const component& c) { return c.name == name; });
      if (found == all.end())
        return fail(errc::invalid_argument, "session_options::feeds names " + quoted(name) + ", and the input has "
                                                + joined(all, ", ", [](const component& c) { return quoted(c.name); }));
      fed.emplace_back(static_cast<size_t>(found - all.begin()), name);
    }
    return std::make_unique<fed_iterator>(std::move(*inner), std::move(fed), port_);
  }

 private:
  std::shared_ptr<const dataset_stage> inner_;
  std::vector<std::string> names_;
  std::shared_ptr<const run_port> port_;
};

}  // namespace

dataset with_fed_rows(const dataset& input, std::vector<std::string> names, std::shared_ptr<const run_port> port) {
  return dataset{std::make_shared<const fed_stage>(input.last_stage(), std::move(names), std::move(port))};
}

}  // namespace troupe
