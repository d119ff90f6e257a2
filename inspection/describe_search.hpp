// Describes the search of a model directory from the books in its newest checkpoint.
#pragma once

#include "ensemble/search_books.hpp"
#include "storage/files/file_system.hpp"

#include <troupe/search/search_description.hpp>

namespace troupe {

search_description describe_search(const search_books& books);
/// Reads the books in the newest checkpoint of `directory`; absent if that is of no search. Errors: those of the store,
/// and of books that are damaged.
expected<std::optional<search_description>> read_search(const std::shared_ptr<file_system>& files,
                                                        const std::string& directory);

}  // namespace troupe
