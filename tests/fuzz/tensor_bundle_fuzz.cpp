// TensorFlow checkpoints: the input as an index, and as the contents of a block in an index with right checksums.
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/snappy.hpp"
#include "storage/encodings/varint.hpp"
#include "storage/tensorflow/sorted_table.hpp"
#include "storage/tensorflow/table_layout.hpp"
#include "storage/tensorflow/tensor_bundle.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

using namespace table_layout;

namespace {

constexpr const char* index_path = "f.index";

std::string written_index() {
  auto files = memory_file_system();
  const auto value = tensor::zeros(dtype::float32, {2, 3}), step = tensor::scalar<int64_t>(7);
  const auto source = [](const char* name, const tensor& t) {
    const auto extents = t.dims().extents();
    return bundle_source{
        name, &element_type_of(t.type()), {extents.begin(), extents.end()}, [t] { return t.buffer(); }};
  };
  const auto done = write_bundle(
      *files, "", "f", {source("dnn/kernel", value), source("dnn/kernel/Adam", value), source("global_step", step)});
  require(done.has_value(), "memory takes it");
  return need(read_file(*files, index_path));
}

/// A table with right checksums whose only block contains the input. The first byte selects the compression.
std::string table_around(std::string_view input) {
  const char how = input.empty() ? uncompressed : static_cast<char>(input.front() & 1);
  input.remove_prefix(std::min<size_t>(1, input.size()));
  std::string table, place, index, footer;
  const auto add = [&table](std::string_view contents, char kind) {
    std::string block{contents};
    block.push_back(kind);
    append_fixed(block, masked(crc32c(block)));
    table += block;
  };
  append_varint(place, 0);
  append_varint(place, input.size());
  add(input, how);
  index = std::string("\0\1", 2) + static_cast<char>(place.size()) + "z" + place + std::string("\0\0\0\0\1\0\0\0", 8);
  append_varint(footer, 0);
  append_varint(footer, 0);
  append_varint(footer, table.size());
  append_varint(footer, index.size());
  add(index, uncompressed);
  footer.resize(footer_bytes - sizeof magic);
  append_fixed(footer, magic);
  return table + footer;
}

void read_all(const std::string& bytes) {
  auto files = memory_file_system();
  auto file = need(files->create(index_path));
  require(file->append(std::as_bytes(std::span{bytes})) && file->close(), "memory takes the file");
  auto data = need(files->create("f.data-00000-of-00001"));
  const std::string zeros(4096, '\0');
  require(data->append(std::as_bytes(std::span{zeros})) && data->close(), "memory takes the file");
  auto bundle = tensor_bundle::open(*files, "f");
  if (!bundle)
    return;
  for (const auto& t : bundle->tensors()) {
    const auto sound = bundle->verify(t);
    if (!t.type || t.problem) {
      require(!sound, "a tensor with a problem is not read");
      continue;
    }
    const bool read = t.type->bytes == 0 ? bundle->read_texts(t).has_value() : bundle->read(t).has_value();
    require(read == sound.has_value(), "what is verified is read");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string index = written_index();
  std::string_view footer = std::string_view{index}.substr(index.size() - footer_bytes);
  // The metaindex follows the only data block.
  const uint64_t metaindex = take_varint(footer).value_or(trailer_bytes);
  return {index, std::string(1, '\0') + index.substr(0, metaindex - trailer_bytes),
          std::string("\1\x0a\x04", 3) + "ab" + std::string("\x11\x02", 2),
          write_sorted_table(std::vector<table_entry>{{"", ""}, {"a", "1"}}, {.block_bytes = 1})};
}

void run(std::string_view input) {
  read_all(std::string{input});
  read_all(table_around(input));
  if (const auto whole = snappy_decompressed(input))
    require(whole->size() <= 32 * input.size(), "what Snappy yields is bounded by the input");
}

}  // namespace troupe::fuzz
