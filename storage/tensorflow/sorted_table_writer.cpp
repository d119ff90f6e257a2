#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/varint.hpp"
#include "storage/tensorflow/table_layout.hpp"

#include <algorithm>
#include <cassert>

namespace troupe {

using namespace table_layout;

namespace {

class block_builder {
 public:
  explicit block_builder(int restart_every) : restart_every_(restart_every) {}

  void add(std::string_view key, std::string_view value) {
    const bool restart = entries_++ % restart_every_ == 0;
    if (restart)
      restarts_.push_back(static_cast<uint32_t>(contents_.size()));
    size_t shared = 0;
    while (!restart && shared < std::min(key.size(), last_.size()) && key[shared] == last_[shared])
      ++shared;
    append_varint(contents_, shared);
    append_varint(contents_, key.size() - shared);
    append_varint(contents_, value.size());
    contents_.append(key.substr(shared)).append(value);
    last_ = key;
  }
  bool empty() const noexcept { return entries_ == 0; }
  size_t bytes() const noexcept { return contents_.size(); }
  const std::string& last() const noexcept { return last_; }

  /// Appends the block to the table and returns its place.
  place finish(std::string& table) {
    if (restarts_.empty())
      restarts_.push_back(0);  // LevelDB's blocks always have at least one restart.
    for (const uint32_t r : restarts_)
      append_fixed(contents_, r);
    append_fixed(contents_, static_cast<uint32_t>(restarts_.size()));
    const place at{table.size(), contents_.size()};
    contents_.push_back(uncompressed);
    append_fixed(contents_, masked(crc32c(contents_)));
    table += contents_;
    *this = block_builder{restart_every_};
    return at;
  }

 private:
  int restart_every_;
  int entries_ = 0;
  std::string contents_, last_;
  std::vector<uint32_t> restarts_;
};

void append_place(std::string& to, const place& at) {
  append_varint(to, at.offset);
  append_varint(to, at.bytes);
}

}  // namespace

std::string write_sorted_table(std::span<const table_entry> entries, const table_options& options) {
  std::string table;
  block_builder block{options.restart_every}, index{1};
  const auto close = [&] {
    const std::string last = block.last();
    std::string value;
    append_place(value, block.finish(table));
    // The key may be any from this block's last key up to, but not including, the next block's first key.
    index.add(last, value);
  };
  const table_entry* before = nullptr;
  for (const auto& e : entries) {
    assert(!before || before->key < e.key);
    before = &e;
    block.add(e.key, e.value);
    if (block.bytes() >= options.block_bytes)
      close();
  }
  if (!block.empty())
    close();
  std::string footer;
  append_place(footer, block.finish(table));  // The metaindex; it has no entries.
  append_place(footer, index.finish(table));
  footer.resize(footer_bytes - sizeof magic);
  append_fixed(footer, magic);
  return table + footer;
}

}  // namespace troupe
