#include "tests/simulation/scenario.hpp"

#include "tests/simulation/recipe_fields.hpp"
#include "tests/simulation/recipe_limits.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace troupe::test::random_faults {

namespace {

// -- names ---------------------------------------------------------------------

std::string_view to_string(evaluation_mode m) noexcept { return m == evaluation_mode::waits ? "waits" : "beside"; }
std::string_view to_string(moment::anchor a) noexcept {
  return a == moment::beginning ? "the beginning" : a == moment::progress ? "progress" : "the trouble before";
}

template <class E>
constexpr E last_of();
template <>
constexpr evaluation_mode last_of() {
  return evaluation_mode::beside;
}
template <>
constexpr turn_order last_of() {
  return turn_order::starving;
}
template <>
constexpr moment::anchor last_of() {
  return moment::trouble_before;
}
template <>
constexpr trouble_kind last_of() {
  return trouble_kind::host_death;
}
template <>
constexpr file_operation last_of() {
  return file_operation::hold;
}
template <>
constexpr input_place last_of() {
  return input_place::eval_read;
}
template <>
constexpr hook_place last_of() {
  return hook_place::on_abort;
}

template <class E>
std::vector<std::string> names_of() {
  std::vector<std::string> all;
  for (int i = 0; i <= static_cast<int>(last_of<E>()); ++i)
    all.emplace_back(to_string(static_cast<E>(i)));
  return all;
}

// -- reading -------------------------------------------------------------------

/// Sets the fields that a table names, and keeps the first error in `wrong`.
class reader {
 public:
  reader(const toml::table& table, std::string where, std::string& wrong)
    : table_(table), where_(std::move(where)), wrong_(wrong) {}

  template <class T>
  void operator()(const char* name, T& field) {
    known_.insert(name);
    if (const auto* node = table_.get(name))
      set(name, *node, field);
  }
  template <class F>
  void part(const char* name, F fields) {
    known_.insert(name);
    const auto* node = table_.get(name);
    if (!node)
      return;
    if (!node->is_table())
      return refuse(name, *node, "a table");
    reader inner{*node->as_table(), where_ + name + ".", wrong_};
    fields(inner);
    inner.refuse_unknown();
  }
  template <class T, class F>
  void list(const char* name, std::vector<T>& all, F fields) {
    known_.insert(name);
    const auto* node = table_.get(name);
    if (!node)
      return;
    if (!node->is_array())
      return refuse(name, *node, "a list of tables");
    all.clear();
    for (const auto& each : *node->as_array()) {
      if (!each.is_table())
        return refuse(name, each, "a list of tables");
      reader inner{*each.as_table(), where_ + name + ".", wrong_};
      fields(inner, all.emplace_back());
      inner.refuse_unknown();
    }
  }
  void refuse_unknown() {
    for (const auto& [key, node] : table_)
      if (!known_.contains(std::string{key.str()}))
        refuse(std::string{key.str()}, node, "known: " + joined({known_.begin(), known_.end()}));
  }

 private:
  static std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& n : names)
      text += (text.empty() ? "" : ", ") + n;
    return text;
  }
  void refuse(const std::string& name, const toml::node& node, const std::string& wanted) {
    if (wrong_.empty())
      wrong_ = "line " + std::to_string(node.source().begin.line) + ": " + where_ + name + ": wanted " + wanted;
  }

  template <class T>
  void number(const std::string& name, const toml::node& node, T& field) {
    const auto value = node.value_exact<int64_t>();
    if (!value || !std::in_range<T>(*value))
      return refuse(name, node, "a whole number of its size");
    field = static_cast<T>(*value);
  }
  void set(const std::string& name, const toml::node& node, int32_t& field) { number(name, node, field); }
  void set(const std::string& name, const toml::node& node, int64_t& field) { number(name, node, field); }
  void set(const std::string& name, const toml::node& node, uint64_t& field) {
    int64_t value = 0;
    number(name, node, value);
    field = static_cast<uint64_t>(value);
  }
  void set(const std::string& name, const toml::node& node, double& field) {
    if (const auto value = node.value<double>())
      field = *value;
    else
      refuse(name, node, "a number");
  }
  void set(const std::string& name, const toml::node& node, bool& field) {
    if (const auto value = node.value_exact<bool>())
      field = *value;
    else
      refuse(name, node, "true or false");
  }
  void set(const std::string& name, const toml::node& node, std::string& field) {
    if (auto value = node.value_exact<std::string>())
      field = std::move(*value);
    else
      refuse(name, node, "a text");
  }
  void set(const std::string& name, const toml::node& node, std::chrono::milliseconds& field) {
    int64_t value = 0;
    number(name, node, value);
    field = std::chrono::milliseconds{value};
  }
  void set(const std::string& name, const toml::node& node, duration_range& field) {
    const auto* both = node.as_array();
    if (!both || both->size() != 2)
      return refuse(name, node, "[least, most] in microseconds");
    int64_t least = 0, most = 0;
    number(name, *both->get(0), least);
    number(name, *both->get(1), most);
    constexpr int64_t limit = std::numeric_limits<int64_t>::max() / 1'000;  // More would overflow when it is in
                                                                            // nanoseconds.
    field = {std::chrono::microseconds{std::clamp(least, -limit, limit)},
             std::chrono::microseconds{std::clamp(most, -limit, limit)}};
  }
  /// `false` clears the value that the seed drew.
  template <class T>
  void set(const std::string& name, const toml::node& node, std::optional<T>& field) {
    field.reset();
    if (node.value_exact<bool>() != std::optional{false})
      set(name, node, field.emplace());
  }
  template <class T>
  void set(const std::string& name, const toml::node& node, std::map<std::string, T>& field) {
    const auto* table = node.as_table();
    if (!table)
      return refuse(name, node, "a table by node");
    field.clear();
    for (const auto& [key, value] : *table)
      set(name + "." + std::string{key.str()}, value, field[std::string{key.str()}]);
  }
  template <class E>
  requires std::is_enum_v<E>
  void set(const std::string& name, const toml::node& node, E& field) {
    const auto names = names_of<E>();
    const auto found = std::find(names.begin(), names.end(), node.value_or(std::string{}));
    if (found == names.end())
      return refuse(name, node, "one of " + joined(names));
    field = static_cast<E>(found - names.begin());
  }

  const toml::table& table_;
  std::string where_;
  std::string& wrong_;
  std::set<std::string> known_;
};

/// Sets the fields that the table names. Returns the first error, or an empty text.
std::string read_into(const toml::table& table, std::string& title, bool& timeless, recipe& r) {
  std::string wrong;
  reader all{table, "", wrong};
  all("title", title);
  all("timeless", timeless);
  recipe_fields(all, r);
  all.refuse_unknown();
  return wrong;
}

// -- writing -------------------------------------------------------------------

/// Writes every field, so that no seed draws any.
class writer {
 public:
  explicit writer(toml::table& table) : table_(table) {}

  template <class T>
  void operator()(const char* name, const T& field) {
    put(table_, name, field);
  }
  template <class F>
  void part(const char* name, F fields) {
    toml::table inner;
    writer w{inner};
    fields(w);
    table_.insert(name, std::move(inner));
  }
  template <class T, class F>
  void list(const char* name, std::vector<T>& all, F fields) {
    toml::array tables;
    for (auto& each : all) {
      toml::table inner;
      writer w{inner};
      fields(w, each);
      tables.push_back(std::move(inner));
    }
    table_.insert(name, std::move(tables));
  }

 private:
  static void put(toml::table& to, const std::string& name, bool x) { to.insert(name, x); }
  static void put(toml::table& to, const std::string& name, double x) { to.insert(name, x); }
  static void put(toml::table& to, const std::string& name, const std::string& x) { to.insert(name, x); }
  template <class T>
  requires std::is_integral_v<T>
  static void put(toml::table& to, const std::string& name, T x) { to.insert(name, static_cast<int64_t>(x)); }
  template <class E>
  requires std::is_enum_v<E>
  static void put(toml::table& to, const std::string& name, E x) { to.insert(name, std::string{to_string(x)}); }
  static void put(toml::table& to, const std::string& name, std::chrono::milliseconds x) {
    to.insert(name, static_cast<int64_t>(x.count()));
  }
  static void put(toml::table& to, const std::string& name, const duration_range& x) {
    to.insert(name, toml::array{x.least.count() / 1'000, x.most.count() / 1'000});
  }
  template <class T>
  static void put(toml::table& to, const std::string& name, const std::optional<T>& x) {
    if (x)
      put(to, name, *x);
    else
      to.insert(name, false);
  }
  template <class T>
  static void put(toml::table& to, const std::string& name, const std::map<std::string, T>& x) {
    toml::table inner;
    for (const auto& [key, value] : x)
      put(inner, key, value);
    to.insert(name, std::move(inner));
  }

  toml::table& table_;
};

}  // namespace

expected<scenario> scenario::parse(const std::string& toml, const std::string& name) {
  scenario s;
  s.name_ = name;
  s.text_ = toml;
  try {
    recipe r;
    if (const auto wrong = read_into(toml::parse(toml), s.title_, s.timeless_, r); !wrong.empty())
      return fail(errc::invalid_argument, name + ", " + wrong);
    if (const auto wrong = impossible(r); !wrong.empty())
      return fail(errc::invalid_argument, name + ": " + wrong);
  } catch (const toml::parse_error& e) {
    return fail(errc::invalid_argument,
                name + ", line " + std::to_string(e.source().begin.line) + ": " + std::string{e.description()});
  }
  return s;
}

expected<scenario> scenario::read(const std::string& path) {
  std::ifstream in{path};
  std::stringstream text;
  text << in.rdbuf();
  if (!in)
    return fail(errc::not_found, "the scenario " + path + " cannot be read");
  return parse(text.str(), path);
}

recipe scenario::draw(uint64_t seed) const {
  auto r = timeless_ ? draw_recipe(seed) : draw_timed_recipe(seed);
  std::string title;
  bool timeless = false;
  read_into(toml::parse(text_), title, timeless, r);  // No error is possible: `parse` has read the same text.
  for (auto& run : r.disturbed)
    if (run.schedule == run_recipe{}.schedule)
      run.schedule = seed;
  return r;
}

std::string to_toml(recipe r, const std::string& title) {
  toml::table all;
  all.insert("title", title);
  writer w{all};
  recipe_fields(w, r);
  std::stringstream text;
  text << all << "\n";
  return text.str();
}

}  // namespace troupe::test::random_faults
