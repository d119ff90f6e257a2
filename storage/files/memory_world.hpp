// The state of a memory disk: its nodes, the directories that name them, and which part of this survives a crash.
#pragma once

#include "storage/files/memory_file_system.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <set>

namespace troupe::memory {

using bytes_ptr = std::shared_ptr<std::string>;

/// A file or directory, independent of its name. Bytes are only ever appended, so the synced part is a prefix.
struct node {
  bool directory = false;
  bytes_ptr content = std::make_shared<std::string>();
  size_t synced = 0;
  /// The content before a truncation; a crash restores it unless the file has been synced since.
  bytes_ptr before_truncation;
  double modified = 0;

  void crash(const crash_options& options, std::mt19937_64& random);
};
using node_ptr = std::shared_ptr<node>;

/// One change of a directory. A rename is a single change, so it cannot survive in part.
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
  /// Removed directories that a crash may restore. Kept so that their addresses stay valid as keys.
  std::vector<node_ptr> removed;
  uint64_t life = 0;  ///< The number of crashes so far. Handles of an earlier life are invalid.
  double clock = 0;   ///< Advances with every change, so that times are ordered and reproducible.

  std::condition_variable changed;  ///< For those that watch directories.

  /// Changes a directory.
  void make(directory& in, change c) {
    in.make(std::move(c));
    changed.notify_all();
  }
  void crash(const crash_options& options);
  /// Null if nothing is at this path.
  node_ptr node_at(const std::vector<std::string>& parts);

 private:
  void survive(node& n, const crash_options& options, std::mt19937_64& random, std::set<const node*>& alive);
};

/// The names on the path from the root to `path`.
std::vector<std::string> parts_of(const std::string& path);

}  // namespace troupe::memory
