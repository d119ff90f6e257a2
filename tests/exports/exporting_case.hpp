// Exports the small model by rules.
#pragma once

#include "tests/exports/exported_case.hpp"

#include <troupe/exporter.hpp>

namespace troupe::test {

using metrics = std::map<std::string, double>;

inline export_occasion with_loss(double loss) {
  return {.metrics = {{"loss", loss}, {"accuracy", 1 - loss}, {"global_step", 3}}};
}

/// Exports the small model by rules; its clock stands still.
struct exporting_case : exported_case {
  std::shared_ptr<int64_t> now = std::make_shared<int64_t>(1'700'000'000);
  export_surroundings in{.clock = [now = now] { return *now; }};

  std::optional<std::string> run(const exporter& one, const export_occasion& occasion) {
    auto path = run_exporter(in, one, e, how, occasion);
    REQUIRE_MESSAGE(path, why(path));
    return *path;
  }
  std::vector<std::string> exports(const std::string& name) const {
    return *list_exports(directory / ("run/export/" + name));
  }
};

}  // namespace troupe::test
