// Rules of docs/ARCHITECTURE.md that can be checked in the sources. Each is a plain function of the tree and returns
// the violations.
#pragma once

#include "tests/arch/source_tree.hpp"

#include <set>

namespace troupe::arch {

using source_files = std::vector<source_file>;
using violations = std::vector<violation>;

/// A file includes only from folders that its own folder may know. Every C++ file is in a folder of the table.
violations includes_against_the_arrows(const source_files& files);
/// No header that a file reaches through includes is in a folder that the file may not know.
violations reached_against_the_arrows(const source_files& files);
/// No file in estimator/ or in a folder without actors reaches a header of CAF, except estimator/caf.cpp.
violations caf_reached_from_the_front_door(const source_files& files);
/// Only messages/, actors/, the launcher in pipeline/ and <troupe/caf.hpp> use CAF.
violations caf_outside_its_folders(const source_files& files);
/// Public headers mention neither protobuf nor Eigen; only caf.hpp mentions CAF, and only spdlog.hpp spdlog.
violations foreign_types_in_public_headers(const source_files& files);
/// Only storage/ opens, renames and removes files.
violations file_access_outside_storage(const source_files& files);
/// Code below pipeline/ uses no clock and no random numbers: time comes from an actor's clock, randomness from keys.
violations clocks_and_chance(const source_files& files);
/// No file has more than 400 lines.
violations long_files(const source_files& files);
/// The ColumnLimit of a .clang-format; 0 if it sets none.
int column_limit(const std::string& clang_format);
/// No line is wider than `columns`.
violations wide_lines(const source_files& files, int columns);
/// A comment names only documents that exist. `documents` are their paths, such as "docs/numerics.md"; a comment may
/// name those in docs/ without the folder.
violations missing_documents(const source_files& files, const std::set<std::string>& documents);
/// A public header says within its first three lines whether it is one to begin with. troupe.hpp includes these headers
/// and no others.
violations headers_of_unknown_use(const source_files& files);
/// The number of lines of the headers that troupe.hpp includes.
size_t lines_to_begin_with(const source_files& files);
/// include/meson.build lists every public header: only listed headers are installed and compiled alone.
violations unlisted_public_headers(const source_files& files, const std::string& meson_build);

}  // namespace troupe::arch
