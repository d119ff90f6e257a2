// Programs that only predict, for tests of the planner.
#pragma once

#include "tests/compute/operations/values.hpp"

namespace troupe::test {

using build = std::function<std::map<std::string, symbol>(graph&, symbol)>;

/// A program for the predictions that `build` makes from "x", which is noise of the given shape.
struct planned {
  graph g;
  tensor x;
  std::unique_ptr<program> p;

  planned(const shape& dims, const build& f, const program_options& options = {}) : x(noise<float>(dims, 3)) {
    model_spec spec;
    spec.mode = mode::predict;
    const auto extents = dims.extents();
    for (const auto& [name, s] : f(g, g.placeholder("x", dtype::float32, symbol_shape(extents.begin(), extents.end()))))
      spec.predictions[name] = s;
    auto made = program::make(g, spec, *parameter_layout::of(g, std::nullopt), options);
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    p = std::move(*made);
  }
  std::vector<tensor> run() {
    const std::byte* feed[] = {x.data()};
    REQUIRE(p->run({.feeds = feed}) == step_status::ok);
    std::vector<tensor> all;
    for (size_t i = 0; i < p->outputs().size(); ++i)
      all.push_back(p->output(static_cast<int32_t>(i)));
    return all;
  }
  int kernels(const std::string& title) const {
    int n = 0;
    const std::string text = p->to_text();
    for (size_t at = text.find("\n" + title); at != std::string::npos; at = text.find("\n" + title, at + 1))
      ++n;
    return n;
  }
  int kernels() const { return std::stoi(p->to_text().substr(p->to_text().find(", ") + 2)); }
};

/// The numbers of kernels with this title, with a planner pass and without it (`without`), both without fusion. Checks
/// that the outputs are equal.
inline std::pair<int, int> kernels_of(const shape& dims, const std::string& title, const build& f,
                                      program_options without) {
  without.fuse = false;
  planned fewer{dims, f, {.fuse = false}}, all{dims, f, without};
  CHECK(fewer.run() == all.run());
  CHECK(fewer.run() == all.run());  // Nothing that the second run reads was overwritten.
  CHECK(planned{dims, f}.run() == all.run());
  return {fewer.kernels(title), all.kernels(title)};
}

inline build only(const std::function<symbol(graph&, symbol)>& f) {
  return [f](graph& g, symbol x) { return std::map<std::string, symbol>{{"y", f(g, x)}}; };
}

}  // namespace troupe::test
