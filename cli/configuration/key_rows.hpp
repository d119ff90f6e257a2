// Makes the list of keys from tables of options: a key for each row, and one for each choice among alternatives.
#pragma once

#include "cli/configuration/explained_fields.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/keys.hpp"

#include <troupe/sequential.hpp>  // Its name_of is found in templates only if it is declared before them.

#include <algorithm>
#include <variant>

namespace troupe::cli {

/// The smallest range that contains both ranges.
inline field_range both_ranges(const field_range& a, const field_range& b) {
  field_range all = a;
  if (b.least < a.least || (b.least == a.least && !b.above))
    all.least = b.least, all.above = b.above;
  if (b.most > a.most || (b.most == a.most && !b.below))
    all.most = b.most, all.below = b.below;
  return all;
}

/// The key for a field of type T. A default that the user must replace is left out.
template <class T>
[[gnu::noinline]] key_info key_of(const std::string& prefix, const field_row& field, const T& value) {
  key_info key{values_of<T>(field.range), prefix + std::string{field.name}, std::string{field.about}};
  auto text = option_text(value);
  if (check_option("", value, field.range) && text != "[]" && !(key.may_be_none && text == "none"))
    key.standard = std::move(text);
  return key;
}

/// `each_field` for a table that is checked at compile time to explain every field.
template <class Options, class F>
void each_key(const Options& defaults, F f) {
  static_assert(has_explained_fields<Options>(),
                "a field has no text, or is a number without a range and without a unit in its name");
  each_field(defaults, f);
}

template <class Options>
void add_rows(std::vector<key_info>& keys, const std::string& prefix, const Options& defaults) {
  each_key(defaults, [&](const field_row& field, const auto& value) { keys.push_back(key_of(prefix, field, value)); });
}

/// Options of which one alternative is chosen. A field that several alternatives have becomes one key; its text names
/// the owners if not all have it.
class alternatives {
 public:
  template <class... Options>
  alternatives(const std::string& prefix, const std::variant<Options...>&) : prefix_(prefix) {
    (add(std::string{name_of(Options{})}, Options{}), ...);
  }

  /// Adds the fields of the struct that contains the alternatives. If an alternative has the same field, this one
  /// counts for all others.
  template <class Options>
  void surround(const Options& defaults) {
    each_key(defaults, [this](const field_row& field, const auto& value) {
      merged(key_of(prefix_, field, value), "any other").owners = names_;
    });
  }

  const std::vector<std::string>& names() const noexcept { return names_; }
  void finish(std::vector<key_info>& into) const {
    for (const auto& m : all_) {
      auto key = m.key;
      if (m.owners.size() < names_.size())
        key.about = joined(m.owners, ", ") + ": " + key.about;
      key.standard = standard_text(m);
      into.push_back(std::move(key));
    }
  }

 private:
  struct standard {
    std::string text;
    std::vector<std::string> owners;
  };
  struct entry {
    key_info key;
    std::vector<std::string> owners;
    std::vector<standard> standards;
  };

  template <class Options>
  void add(const std::string& owner, const Options& defaults) {
    names_.push_back(owner);
    each_key(defaults, [&](const field_row& field, const auto& value) {
      merged(key_of(prefix_, field, value), owner).owners.push_back(owner);
    });
  }

  entry& merged(const key_info& key, const std::string& owner) {
    auto found = std::find_if(all_.begin(), all_.end(), [&key](const entry& e) { return e.key.name == key.name; });
    if (found == all_.end())
      found = all_.insert(all_.end(), entry{key, {}, {}});
    found->key.range = both_ranges(found->key.range, key.range);
    if (key.standard.empty() || key.standard == owner)  // The name of a layer is its type, not a default.
      return *found;
    auto& known = found->standards;
    auto same = std::find_if(known.begin(), known.end(), [&key](const standard& s) { return s.text == key.standard; });
    if (same == known.end())
      same = known.insert(known.end(), standard{key.standard, {}});
    same->owners.push_back(owner);
    return *found;
  }

  /// "0.001; 0.01 for momentum, adagrad": the most frequent default comes first.
  static std::string standard_text(const entry& e) {
    auto all = e.standards;
    std::stable_sort(all.begin(), all.end(),
                     [](const standard& a, const standard& b) { return a.owners.size() > b.owners.size(); });
    std::string text;
    for (const auto& s : all)
      text += text.empty() ? s.text : "; " + s.text + " for " + joined(s.owners, ", ");
    return text;
  }

  std::string prefix_;
  std::vector<std::string> names_;
  std::vector<entry> all_;
};

/// The key that chooses an alternative.
inline key_info choice(const std::string& name, const std::string& about, const std::string& standard,
                       const alternatives& of) {
  return {{.choices = of.names()}, name, about, standard};
}

inline key_info tables(const std::string& name, const std::string& about) { return {{}, name, about, {}, true}; }

// -- parts that several tables have ------------------------------------------------

/// The keys of an optimizer. `at` is what they begin with, `about` the effect of the rule's name, and `others` is
/// appended to the default of it.
void add_optimizer_keys(std::vector<key_info>& keys, const std::string& at,
                        const std::string& about = "the update rule", const std::string& others = "");
/// The keys of the layers in the list `list`, such as "model.layers", whose own effect is `about`.
void add_layer_keys(std::vector<key_info>& keys, const std::string& list, const std::string& about);
/// The keys of [search].
void add_search_keys(std::vector<key_info>& keys);

}  // namespace troupe::cli
