// The files of a search that follow from the books of a commit: people and AdaNet's tools read them, Troupe does not.
#pragma once

#include "storage/files/file_system.hpp"

#include <map>

namespace troupe {

/// Writes the files that follow from the books of a search among `blobs`, below `directory`; a file that is there
/// already with that text stays. Blobs without such books lead to no file. Returns a warning for each file that could
/// not be written: it is written with a later commit, or when another attempt begins.
std::vector<std::string> write_derived_files(file_system& files, const std::string& directory,
                                             const std::map<std::string, std::string>& blobs);

}  // namespace troupe
