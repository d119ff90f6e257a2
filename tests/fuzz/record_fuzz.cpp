#include "storage/records/record_file.hpp"
#include "storage/records/record_index.hpp"
#include "tests/fuzz/target.hpp"

namespace troupe::fuzz {

namespace {

/// The first byte of an input selects the compression of the rest.
constexpr compression all_compressions[] = {compression::none, compression::zlib, compression::gzip};

void check_index(const readable_file& file, int64_t records, bool sound) {
  for (const int64_t places_max : {1, 4, 1 << 20}) {
    auto index = record_index::of(file, "f", places_max);
    require(index.has_value() || !sound, "a file that is read whole has an index");
    if (!index)
      return;
    require(index->records() >= records, "an index has all records that are read");
    std::string payload;
    for (int64_t i = 0; i < index->records(); ++i)
      require(index->read(file, i, payload).has_value() || i >= records, "a record is read by its place too");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (size_t how = 0; how < std::size(all_compressions); ++how) {
    auto files = memory_file_system();
    auto writer = need(create_record_file(files, "f", all_compressions[how]));
    for (const std::string& record : {std::string{"first"}, std::string{}, std::string(300, 'x')})
      require(writer->write(record).has_value(), "the record is written");
    require(writer->close().has_value(), "the file is written");
    all.push_back(static_cast<char>(how) + need(read_file(*files, "f")));
  }
  return all;
}

void run(std::string_view input) {
  if (input.empty())
    return;
  const auto how = all_compressions[static_cast<unsigned char>(input[0]) % std::size(all_compressions)];
  const auto files = holding(input.substr(1));
  auto reader = need(record_file_reader::open(*files, "f", how));
  int64_t records = 0;
  for (;; ++records) {
    const auto record = reader->next();
    if (!record)
      require(reader->next() == record, "an error is said again");
    if (!record || !*record) {
      if (how == compression::none)
        check_index(*need(files->open("f")), records, record.has_value());
      return;
    }
  }
}

}  // namespace troupe::fuzz
