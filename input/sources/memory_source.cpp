#include "input/sources/memory_source.hpp"

#include "input/streams/example_rows.hpp"

#include <algorithm>

namespace troupe::input {

namespace {

void copy_rows(const std::byte* from, std::byte* to, int64_t elements, column::conversion convert) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(from);
  switch (convert) {
    case column::conversion::none: break;
    case column::conversion::unit_float: {
      auto* floats = reinterpret_cast<float*>(to);
      for (int64_t i = 0; i < elements; ++i)
        floats[i] = static_cast<float>(bytes[i]) / 255.0f;
      break;
    }
    case column::conversion::to_int32: {
      auto* ints = reinterpret_cast<int32_t*>(to);
      for (int64_t i = 0; i < elements; ++i)
        ints[i] = bytes[i];
      break;
    }
  }
}

class memory_rows final : public row_source {
 public:
  memory_rows(std::string name, std::vector<column> features, std::vector<column> labels)
    : name_(std::move(name)), features_(features.size()), columns_(std::move(features)) {
    columns_.insert(columns_.end(), std::make_move_iterator(labels.begin()), std::make_move_iterator(labels.end()));
  }

  element_spec spec() const override {
    element_spec s;
    for (size_t i = 0; i < columns_.size(); ++i)
      (i < features_ ? s.features : s.labels).push_back(columns_[i].what);
    return s;
  }

  int64_t rows() const noexcept override { return columns_.front().rows.dims()[0]; }

  expected<void> read_rows(std::span<const row_range> ranges, std::span<std::byte* const> into,
                           const std::stop_token&) const override {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      const auto elements = c.what.dims.elements();
      const auto width = c.what.row_bytes();
      const std::byte* rows = c.rows.data();
      std::byte* to = into[i];
      if (c.convert == column::conversion::none) {
        for (const row_range& r : ranges) {
          std::memcpy(to, rows + r.first * width, static_cast<size_t>(r.count * width));
          to += r.count * width;
        }
      } else {
        for (const row_range& r : ranges) {
          copy_rows(rows + r.first * elements, to, r.count * elements, c.convert);
          to += r.count * width;
        }
      }
    }
    return {};
  }

  bool lends() const noexcept override {
    return std::all_of(columns_.begin(), columns_.end(),
                       [](const column& c) { return c.convert == column::conversion::none; });
  }

  std::vector<tensor> lend_rows(const row_range& range) const override {
    std::vector<tensor> lent;
    for (const column& c : columns_)
      lent.push_back(c.rows.slice(range.first, range.count));
    return lent;
  }

  void describe(std::vector<std::string>& stages, const reading* r) const override {
    stages.push_back(name_ + (r ? " of " + std::to_string(rows()) + " examples:" + input::to_text(spec()) : ""));
  }

 protected:
  source_fingerprint take_fingerprint() const override {
    source_fingerprint fingerprint;
    for (const column& c : columns_)
      fingerprint.push_back({c.path.empty() ? "'" + c.what.name + "' of " + name_ : c.path, c.rows.byte_size(),
                             c.modified, sample(c.rows.bytes(), fingerprint_budget / std::ssize(columns_))});
    return fingerprint;
  }

 private:
  std::string name_;
  size_t features_;
  std::vector<column> columns_;  ///< Features, then labels.
};

expected<void> check_columns(std::vector<column>& columns) {
  for (const column& c : columns) {
    if (auto named = check_name(c.what.name, "a component"); !named)
      return named;
    if (c.rows.dims().rank() == 0)
      return fail(errc::invalid_argument, "component '" + c.what.name + "' is a scalar: axis 0 must be the example");
  }
  std::sort(columns.begin(), columns.end(), [](const column& a, const column& b) { return a.what.name < b.what.name; });
  const auto twice = std::adjacent_find(columns.begin(), columns.end(),
                                        [](const column& a, const column& b) { return a.what.name == b.what.name; });
  if (twice != columns.end())
    return fail(errc::invalid_argument, "component '" + twice->what.name + "' is given twice");
  return {};
}

}  // namespace

expected<dataset> memory_source(std::string name, std::vector<column> features, std::vector<column> labels) {
  if (features.empty())
    return fail(errc::invalid_argument, name + " has no features");
  for (auto* columns : {&features, &labels})
    if (auto ok = check_columns(*columns); !ok)
      return fail(ok.error());
  const column& first = features.front();
  for (const auto* columns : {&features, &labels})
    for (const column& c : *columns)
      if (c.rows.dims()[0] != first.rows.dims()[0])
        return fail(errc::invalid_argument, "'" + first.what.name + "' has " + std::to_string(first.rows.dims()[0])
                                                + " examples, '" + c.what.name + "' has "
                                                + std::to_string(c.rows.dims()[0]));
  return dataset{std::make_shared<memory_rows>(std::move(name), std::move(features), std::move(labels))};
}

}  // namespace troupe::input
