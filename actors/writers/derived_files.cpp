#include "actors/writers/derived_files.hpp"

#include "ensemble/search_books.hpp"
#include "words/text.hpp"

namespace troupe {

namespace {

expected<void> write_if_new(file_system& files, const std::string& path, const std::string& text) {
  if (const auto there = read_file(files, path); there && *there == text)
    return {};
  const auto directory = parent_of(path);
  return files.create_directories(directory).and_then(
      [&] { return write_file_atomically(files, directory, file_name_of(path), text); });
}

}  // namespace

std::vector<std::string> write_derived_files(file_system& files, const std::string& directory,
                                             const std::map<std::string, std::string>& blobs) {
  const auto text = blobs.find(std::string{search_books_blob});
  if (text == blobs.end())
    return {};
  const auto books = parse_books(text->second, "the books");
  if (!books)
    return {to_text(books.error())};
  std::vector<std::string> warnings;
  for (const auto& file : derived_files(*books))
    if (auto written = write_if_new(files, join_path(directory, file.path), file.text); !written)
      warnings.push_back(file.path + " was not written: " + to_text(written.error()));
  return warnings;
}

}  // namespace troupe
