// A training that is a search, on the data and the disk of small_job.hpp. Its subnetworks are "linear" and
// "1_layer_dnn" at first.
#pragma once

#include "ensemble/names.hpp"
#include "ensemble/search_books.hpp"
#include "pipeline/launch/launcher.hpp"
#include "pipeline/plan/search_plan.hpp"
#include "plan/checked_plan.hpp"
#include "support/small_job.hpp"

#include <troupe/search/generators.hpp>

namespace troupe::test {

inline search_options small_search_options(const optimizer& by = momentum{.rate = .05f}) {
  return {.head = multi_class_head{.classes = 3},
          .subnetwork_generator = generators::simple_dnn({.optimizer = by, .layer_size = 4}),
          .max_iteration_steps = 10,
          .ensemblers = {complexity_regularized_ensembler{.optimizer = gradient_descent{.rate = .05f}, .name = "cr"}}};
}

/// The candidates of iteration 0.
inline constexpr auto linear_grows = "t0_linear_grow_cr", dnn_grows = "t0_1_layer_dnn_grow_cr";

inline training_job search_job(const search_options& search, const small_job_options& o = {}) {
  auto job = describe_small(o);
  job.basis.source = nullptr;
  become_search(job, search);
  return job;
}

inline planned_job planned_search(const training_job& job, const job_books& books = {}) {
  auto made = plan_of(job, books);
  if (!made)
    throw std::runtime_error(to_text(made.error()));
  return std::move(*made);
}

template <class All>
const auto& called(const All& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.name == name; });
  if (found == all.end())
    throw std::runtime_error("nothing is called " + name);
  return *found;
}
inline const plan_group& group_called(const planned_job& planned, const std::string& name) {
  return called(planned.plan.groups, name);
}
inline const plan_node& node_called(const planned_job& planned, const std::string& name) {
  return called(planned.plan.nodes, name);
}

inline checked_plan checked(const planned_job& planned) {
  auto made = checked_plan::of(planned.plan);
  if (!made)
    throw std::runtime_error(to_text(made.error()));
  return std::move(*made);
}

inline std::shared_ptr<prepared_job> prepared_search(const training_job& job, planned_job planned) {
  auto made = prepare(job, std::move(planned));
  if (!made)
    throw std::runtime_error(to_text(made.error()));
  return *made;
}

/// What is stored at state `tick` of a planned iteration; with a winner, once that is chosen.
inline job_books books_at(const planned_job& planned, int64_t tick, std::optional<size_t> winner = {}) {
  const auto name = std::string{search_books_blob};
  auto books = parse_books(planned.blobs.at(name), "the plan");
  if (!books)
    throw std::runtime_error(to_text(books.error()));
  books->tick = books->global_step = tick;
  for (auto& s : books->subnetworks)
    s.step = tick - books->begins_at;
  checkpoint_info info{.id = {tick, books->iteration()}, .prefix = "/run/model.ckpt-" + std::to_string(tick)};
  info.blobs[name] = books_text(winner ? grown(*books, {.winner = *winner}, {}) : *books);
  return info;
}

}  // namespace troupe::test
