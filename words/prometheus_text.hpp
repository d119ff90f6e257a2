// Counters as the text that Prometheus reads (its exposition format, version 0.0.4).
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

class prometheus_text {
 public:
  enum class kind : uint8_t { counter, gauge, histogram };
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Begins a metric; its values follow. `help` is one line.
  void begin(std::string_view name, kind what, std::string_view help);
  /// A value of the metric that was begun. `suffix` ("_sum") and `with` tell it from the others.
  void add(double value, labels with = {}, std::string_view suffix = {});
  void add(std::integral auto value, labels with = {}, std::string_view suffix = {}) {
    add_text(std::to_string(value), with, suffix);
  }
  const std::string& text() const noexcept { return text_; }

 private:
  void add_text(std::string_view value, labels with, std::string_view suffix);

  std::string text_;
  std::string name_;
};

}  // namespace troupe
