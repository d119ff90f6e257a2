// What is on a memory disk: nodes, the directories that name them, and which of it a crash would spare.
#pragma once

#include "storage/files/memory_file_system.hpp"

#include <map>
#include <mutex>
#include <random>
#include <set>

namespace troupe::memory {

using bytes_ptr = std::shared_ptr<std::string>;

/// A file or directory, whatever it is called. Bytes are only ever appended, so that what is synced is a prefix.
struct node {
  bool directory = false;
  bytes_ptr content = std::make_shared<std::string>();
  size_t synced = 0;
  bytes_ptr before_truncation;  ///< What a crash brings back if the file is not synced after it was created anew.
  double modified = 0;

  void crash(const crash_options& options, std::mt19937_64& random);
};
using node_ptr = std::shared_ptr<node>;

/// One change of a directory; a rename is one, so that it cannot survive by half.
struct change {
  std::string erased;
  std::string set;
  node_ptr what;
};

using entries = std::map<std::string, node_ptr>;

struct directory {
  entries now;
  entries durable;
  std::vector<change> unsynced;

  void make(change c);
};

struct world {
  std::mutex mutex;
  std::map<const node*, directory> directories;
  node_ptr root = std::make_shared<node>(node{.directory = true});
  std::set<const node*> locked;
  std::multiset<const node*> held;
  std::vector<node_ptr> removed;  ///< Directories that a crash may bring back: their addresses, which are keys, stay theirs.
  uint64_t life = 0;  ///< Grows with every crash; a handle of an earlier life is dead.
  double clock = 0;   ///< Ticks with every change, so that times are ordered and the same in every run.

  void crash(const crash_options& options);
  /// Null where nothing has this path.
  node_ptr node_at(const std::vector<std::string>& parts);

 private:
  void survive(node& n, const crash_options& options, std::mt19937_64& random, std::set<const node*>& alive);
};

/// The names on the way from the root to `path`.
std::vector<std::string> parts_of(const std::string& path);

}  // namespace troupe::memory
