// What the JSON of all descriptions has in common.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace troupe {

using description_json = nlohmann::ordered_json;

template <class T>
description_json or_null(const std::optional<T>& value) {
  return value ? description_json(*value) : description_json(nullptr);
}

template <class T, class F>
description_json array_of(const std::vector<T>& items, F to_item) {
  auto all = description_json::array();
  for (const auto& i : items)
    all.push_back(to_item(i));
  return all;
}

/// With a line end. Bytes that are not UTF-8 become U+FFFD.
inline std::string dumped(const description_json& j) {
  return j.dump(1, ' ', false, description_json::error_handler_t::replace) + "\n";
}

}  // namespace troupe
