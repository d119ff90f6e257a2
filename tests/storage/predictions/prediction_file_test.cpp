#include "storage/predictions/prediction_file.hpp"

#include "storage/encodings/npy.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "storage/files/memory_file_system.hpp"
#include "tests/storage/samples.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace troupe {

namespace {

prediction one_result(int64_t i) {
  return {{{"class_ids", tensor::scalar<int64_t>(i)},
           {"x", tensor::of<float>({3}, {0.1f, std::numeric_limits<float>::infinity(), -1e-9f})},
           {"z", tensor::of<bool>({2, 1}, {true, false})}},
          {{"kind", {"a \"b\", c"}}, {"words", {"one", "two"}}}};
}

prediction_file created(const std::shared_ptr<file_system>& files, const std::string& path, prediction_format format) {
  auto file = create_prediction_file(files, path, format);
  REQUIRE_MESSAGE(file, (file ? "" : to_text(file.error())));
  return std::move(*file);
}

std::shared_ptr<file_system> disk_with_directory() {
  auto disk = memory_file_system();
  REQUIRE(disk->create_directories("/d"));
  return disk;
}

}  // namespace

TEST_CASE("a line of CSV has the names and elements in one order, shortest digits, and quotes where they are needed") {
  CHECK(csv_header(one_result(1)) == "class_ids,kind,words_0,words_1,x_0,x_1,x_2,z_0_0,z_1_0\n");
  CHECK(csv_line(one_result(7)) == "7,\"a \"\"b\"\", c\",one,two,0.1,inf,-1e-09,true,false\n");
  prediction bare;
  bare.texts["kind"] = {""};
  bare.values["n"] = tensor::scalar<uint8_t>(255);
  CHECK(csv_line(bare) == ",255\n");
}

TEST_CASE(
    "a JSON line is an object that a parser reads back, with null for what is not finite and damaged text mended") {
  auto one = one_result(-3);
  one.texts["kind"] = {"tab\t\xff"};
  const auto line = json_line(one);
  CHECK(line.back() == '\n');
  const auto read = nlohmann::json::parse(line);
  CHECK(read["class_ids"] == -3);
  CHECK(read["kind"] == "tab\t\xef\xbf\xbd");
  CHECK(read["words"] == nlohmann::json{"one", "two"});
  CHECK(read["x"][1].is_null());
  CHECK(read["x"][0].get<float>() == 0.1f);
  CHECK(read["z"] == nlohmann::json::array({{true}, {false}}));
  CHECK(read.size() == 5);
  CHECK(json_line({}) == "{}\n");
}

TEST_CASE("a text file has its name only once it is finished, and nothing is left of one that is not") {
  const auto disk = disk_with_directory();
  for (prediction_format format : {prediction_format::csv, prediction_format::jsonl}) {
    const std::string path = "/d/out." + std::string{to_string(format)};
    {
      auto left = created(disk, path, format);
      REQUIRE(left.write(one_result(0)));
      CHECK(names_in(*disk, "/d") == std::vector<std::string>{"out." + std::string{to_string(format)} + ".tmp"});
    }
    CHECK(names_in(*disk, "/d").empty());
    auto file = created(disk, path, format);
    for (int64_t i = 0; i < 3; ++i)
      REQUIRE(file.write(one_result(i)));
    REQUIRE(file.finish());
    const std::string lines = format == prediction_format::csv
                                  ? csv_header(one_result(0)) + csv_line(one_result(0)) + csv_line(one_result(1))
                                        + csv_line(one_result(2))
                                  : json_line(one_result(0)) + json_line(one_result(1)) + json_line(one_result(2));
    CHECK(*read_file(*disk, path) == lines);
    REQUIRE(disk->remove(path));
  }
  auto empty = created(disk, "/d/empty.csv", prediction_format::csv);
  REQUIRE(empty.finish());
  CHECK(read_file(*disk, "/d/empty.csv")->empty());
}

TEST_CASE("npy files hold all results of a key behind a header that says how many, beyond what is buffered too") {
  const auto disk = memory_file_system();
  const auto wide = tensor::zeros(dtype::float64, {40'000});
  {
    auto file = created(disk, "/d/arrays", prediction_format::npy);
    for (int64_t i = 0; i < 12; ++i)
      REQUIRE(file.write({{{"class_ids", tensor::scalar<int64_t>(i)}, {"a/wide", wide}}, {{"kind", {"left out"}}}}));
    REQUIRE(file.finish());
  }
  CHECK(names_in(*disk, "/d/arrays") == std::vector<std::string>{"a_wide.npy", "class_ids.npy"});
  const auto classes = *read_file(*disk, "/d/arrays/class_ids.npy");
  const auto header = npy_header(dtype::int64, {12});
  REQUIRE(classes.size() == header.size() + 12 * 8);
  CHECK(classes.starts_with(header));
  for (size_t i = 0; i < 12; ++i)
    CHECK(static_cast<size_t>(classes[header.size() + 8 * i]) == i);
  CHECK(read_file(*disk, "/d/arrays/a_wide.npy")->size()
        == npy_header(dtype::float64, {12, 40'000}).size() + 12 * 40'000 * 8);
}

TEST_CASE("a result that is not like the first one cannot go into the same array") {
  const auto disk = memory_file_system();
  auto file = created(disk, "/d", prediction_format::npy);
  REQUIRE(file.write({{{"x", tensor::zeros(dtype::float32, {2})}}, {}}));
  const auto refused = file.write({{{"x", tensor::zeros(dtype::float32, {3})}}, {}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error()
        == error{errc::invalid_argument, "'x' of result 1 is float32 [3], and was not in the first result"});
}

TEST_CASE("a disk that is full is told, and what was under the name before is still there") {
  for (prediction_format format : {prediction_format::csv, prediction_format::npy}) {
    const auto disk = faulty_file_system::around(memory_disk::make());
    const std::string path = format == prediction_format::npy ? "/d" : "/d/out.csv",
                      name = format == prediction_format::npy ? "/d/class_ids.npy" : path;
    REQUIRE(disk->create_directories("/d"));
    REQUIRE(write_file_atomically(*disk, "/d", name.substr(3), "before"));
    disk->inject({.operation = file_operation::append, .path_contains = ".tmp"});
    {
      auto file = created(disk, path, format);
      REQUIRE(file.write(one_result(1)));
      const auto finished = file.finish();
      REQUIRE_FALSE(finished);
      CHECK(finished.error().category == errc::resource_exhausted);
    }
    CHECK(*read_file(*disk, name) == "before");
    CHECK(names_in(*disk, "/d").size() == 1);
  }
}

TEST_CASE("arrays that cannot all be written or named leave none of them behind") {
  for (const auto operation : {file_operation::append, file_operation::sync, file_operation::rename}) {
    CAPTURE(to_string(operation));
    const auto disk = faulty_file_system::around(memory_disk::make());
    {
      auto file = created(disk, "/d", prediction_format::npy);
      REQUIRE(file.write(one_result(1)));
      // z is the last of three arrays.
      disk->inject({.operation = operation, .path_contains = "z.npy"});
      REQUIRE_FALSE(file.finish());
    }
    CHECK(names_in(*disk, "/d").empty());
  }
}

TEST_CASE("a directory is no file to write to, which is said before there is anything to write") {
  const auto disk = disk_with_directory();
  const auto refused = create_prediction_file(disk, "/d", prediction_format::csv);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == error{errc::failed_precondition, "cannot write to /d: it is a directory"});
}

TEST_CASE("a file in a directory that is not there cannot be created") {
  const auto refused = create_prediction_file(memory_file_system(), "/nowhere/out.csv", prediction_format::csv);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().category == errc::not_found);
}

}  // namespace troupe
