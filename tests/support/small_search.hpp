// A whole search of three iterations, small enough to simulate thousands of times, as a job that its chief searches.
#pragma once

#include "tests/support/search_job.hpp"

namespace troupe::test {

struct small_search {
  small_job_options o{.max_steps = 0, .recovers = 5};  ///< `max_steps` 0: as many as the search makes.
  search_options search = [] {
    auto options = small_search_options(adam{.rate = 0.02f});
    options.max_iterations = 3;
    return options;
  }();
};

inline training_job describe_search(const small_search& s) {
  auto job = search_job(s.search, s.o);
  if (s.o.max_steps == 0)
    job.max_steps.reset();
  job.basis.config.summary_steps = 4;
  job.basis.config.keep_checkpoint_max = 0;
  return job;
}

inline std::shared_ptr<prepared_job> prepare_search(const small_search& s = {}) {
  auto made = prepare(describe_search(s));
  if (!made)
    throw std::runtime_error(to_text(made.error()));
  return *made;
}

/// The books of the newest checkpoint.
inline search_books newest_books(const std::shared_ptr<file_system>& files) {
  const auto content = newest_checkpoint(files).content;
  auto books = parse_books(content.blobs.at(std::string{search_books_blob}), "books");
  if (!books)
    throw std::runtime_error(to_text(books.error()));
  return std::move(*books);
}

}  // namespace troupe::test
