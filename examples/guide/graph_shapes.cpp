// A graph by itself: what a model function builds, without a job.
// README begins
#include <troupe/operations.hpp>

#include <iostream>

namespace tr = troupe;

int main() {
  tr::graph g;
  const auto batch = g.unknown("batch");  // Known once a program is planned.
  const auto x = g.placeholder("x", tr::dtype::float32, {batch, 3});
  const auto w = g.variable({.name = "w", .dims = {3, 2}, .initial = tr::init::glorot_uniform()});
  const auto y = tr::softmax(tr::matmul(x, w));
  std::cout << g.to_text();

  const auto wrong = tr::relu(y + x);  // [batch, 2] + [batch, 3]
  std::cout << (wrong.valid() ? "valid" : "invalid") << "\n" << to_text(g.status().error()) << "\n";
}
// README ends
