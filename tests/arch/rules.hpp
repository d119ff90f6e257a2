// The rules of docs/ARCHITECTURE.md that a reader of the sources can check, each a plain function on the tree.
#pragma once

#include "tests/arch/source_tree.hpp"

namespace troupe::arch {

using source_files = std::vector<source_file>;
using violations = std::vector<violation>;

/// A folder includes only from folders that it may know; every C++ file is in a folder of that table.
violations includes_against_the_arrows(const source_files& files);
/// Nor does it reach one that it may not know by way of a header.
violations reached_against_the_arrows(const source_files& files);
/// What estimator/ and everything without actors compiles, but estimator/caf.cpp, reaches no header of CAF's.
violations caf_reached_from_the_front_door(const source_files& files);
/// CAF is for messages/, actors/, the launcher in pipeline/, and <troupe/caf.hpp>.
violations caf_outside_its_folders(const source_files& files);
/// What a public header may not mention: protobuf, CAF outside caf.hpp, Eigen outside eigen.hpp.
violations foreign_types_in_public_headers(const source_files& files);
/// Files are opened, renamed and removed by storage/ alone.
violations file_access_outside_storage(const source_files& files);
/// Time comes from an actor's clock and randomness from keys: nothing below pipeline/ looks at either.
violations clocks_and_chance(const source_files& files);
/// A file that passes 400 lines is ready to be divided.
violations long_files(const source_files& files);
/// A public header is installed, and compiled alone, only if include/meson.build lists it.
violations unlisted_public_headers(const source_files& files, const std::string& meson_build);

}  // namespace troupe::arch
