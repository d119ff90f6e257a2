// A scope in which a part of a graph is built again, on other inputs, with the same variables.
#pragma once

#include "compute/graph/graph.hpp"

namespace troupe {

/// Parts that are built while a guard of `enter` lives have their names below the scope. The first part makes the
/// variables. Later ones get the same names again, and a variable that is there in place of a new one; another dtype or
/// shape is an error of the graph (invalid_argument, naming both). They leave nothing but operations: what they assign,
/// record, show to hooks or give to host calls is dropped, because the first part has done it. Scopes that are open do
/// not matter. The graph must live as long as this, and guards must not overlap.
class reusable_scope {
 public:
  reusable_scope(graph& g, const std::string& scope);

  class guard {
   public:
    explicit guard(reusable_scope& of);
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard();

   private:
    graph_contents& contents_;
    bool again_;
    std::map<std::string, int> names_;
    std::vector<graph_summary> summaries_;
    std::vector<observed_value> observed_;
    std::vector<graph_host_call> host_calls_;
  };
  [[nodiscard]] guard enter() { return guard{*this}; }

 private:
  graph_contents& contents_;
  std::string prefix_;
  bool built_ = false;
};

}  // namespace troupe
