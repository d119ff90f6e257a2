// Data that threads of the program bring, and a coordinator that ends the threads together.
#include "examples/orders.hpp"

#include <troupe/batch_feed.hpp>
#include <troupe/troupe.hpp>

#include <iostream>
#include <thread>

namespace tr = troupe;

/// 32 orders of a source that ends after `batches` batches, or fails there.
tr::expected<std::optional<tr::example_tensors>> next_orders(int64_t& batch, int64_t batches, bool fails) {
  if (batch == batches && fails)
    return tr::fail(tr::errc::unavailable, "the line to the shop is down");
  if (batch++ == batches)
    return std::nullopt;
  std::vector<float> amounts(32), visits(32);
  std::vector<int32_t> late(32);
  for (size_t i = 0; i < late.size(); ++i) {
    amounts[i] = static_cast<float>((static_cast<int64_t>(i) * 7 + batch * 3) % 10) / 10;
    visits[i] = static_cast<float>((static_cast<int64_t>(i) * 3 + batch) % 10) / 10;
    late[i] = amounts[i] > visits[i] ? 1 : 0;
  }
  return tr::example_tensors{
      {{"amount", tr::tensor::of<float>({32}, amounts)}, {"visits", tr::tensor::of<float>({32}, visits)}},
      {{"late", tr::tensor::of<int32_t>({32}, late)}}};
}

int main(int argc, char**) {
  const bool fails = argc > 1;
  const tr::element_spec spec{.features = {{.name = "amount"}, {.name = "visits"}},  // Each one float32.
                              .labels = {{.name = "late", .type = tr::dtype::int32}}};
  // README begins
  tr::batch_feed feed{spec, {.batch_size = 32, .capacity = 8, .feeders = 2, .name = "orders"}};
  tr::coordinator together;
  std::vector<std::thread> feeders;
  for (const int64_t batches : {60, 40})
    feeders.emplace_back([=, batch = int64_t{0}]() mutable {
      tr::feed_from(together, feed, "shop of " + std::to_string(batches),
                    [&] { return next_orders(batch, batches, fails); });
    });
  const auto model = tr::dnn_classifier({.hidden_units = {16}, .classes = 2});
  const auto result = tr::train({model, {.seed = 1}}, {.input = feed.input()});
  together.request_stop();
  const auto ended = together.join();
  // README ends
  for (auto& f : feeders)
    f.join();
  if (!ended)
    std::cout << "the feeders: " << ended.error().message << "\n";
  if (!result)
    return tr::print_error(result.error());
  std::cout << result->global_step << " steps\n";
}
