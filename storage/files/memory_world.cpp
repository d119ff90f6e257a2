#include "storage/files/memory_world.hpp"

#include <algorithm>

namespace troupe::memory {

namespace {

void put(entries& to, const change& c) {
  if (!c.erased.empty())
    to.erase(c.erased);
  if (!c.set.empty())
    to[c.set] = c.what;
}

}  // namespace

void node::crash(const crash_options& options, std::mt19937_64& random) {
  if (before_truncation && !(options.torn_tails && random() % 2)) {
    content = before_truncation;
  } else if (content->size() > synced) {
    auto survived = std::make_shared<std::string>(*content, 0, synced);
    if (options.torn_tails) {
      const size_t kept = random() % (content->size() - synced + 1);
      const bool zeros = random() % 2;
      survived->append(zeros ? std::string(kept, '\0') : content->substr(synced, kept));
    }
    content = std::move(survived);
  }
  before_truncation.reset();
  synced = content->size();
}

void directory::make(change c) {
  put(now, c);
  unsynced.push_back(std::move(c));
}

void world::survive(node& n, const crash_options& options, std::mt19937_64& random, std::set<const node*>& alive) {
  if (!alive.insert(&n).second)
    return;  // A file has two names if a crash loses the rename between them.
  if (!n.directory)
    return n.crash(options, random);
  directory& d = directories[&n];
  for (const auto& c : d.unsynced)
    if (options.entries_may_survive && random() % 2)
      put(d.durable, c);
  d.unsynced.clear();
  d.now = d.durable;
  for (const auto& [name, child] : d.now)
    survive(*child, options, random, alive);
}

void world::crash(const crash_options& options) {
  const std::lock_guard guard{mutex};
  ++life;
  locked.clear();
  held.clear();
  std::mt19937_64 random{options.seed};
  std::set<const node*> alive;
  survive(*root, options, random, alive);
  std::erase_if(directories, [&](const auto& d) { return !alive.contains(d.first); });
}

node_ptr world::node_at(const std::vector<std::string>& parts) {
  node_ptr at = root;
  for (const auto& part : parts) {
    const auto in = directories.find(at.get());
    const auto found = in == directories.end() ? entries::iterator{} : in->second.now.find(part);
    if (in == directories.end() || found == in->second.now.end())
      return nullptr;
    at = found->second;
  }
  return at;
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (auto part = path.substr(begin, end - begin); !part.empty() && part != ".")
      parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

}  // namespace troupe::memory
