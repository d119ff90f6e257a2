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

TEST_CASE("a result that is not like the first is refused by what differs, and leaves nothing in any format") {
  const auto two = tensor::zeros(dtype::float32, {2}), three = tensor::zeros(dtype::float32, {3}),
             whole = tensor::zeros(dtype::int32, {2});
  const prediction right{{{"a", two}, {"x", two}}, {{"words", {"one", "two"}}}};
  const std::pair<prediction, const char*> others[] = {
      {{{{"a", two}, {"x", three}}, right.texts},
       "'x' of result 1 is float32 [3], and float32 [2] in the first result"},
      {{{{"a", two}, {"x", whole}}, right.texts}, "'x' of result 1 is int32 [2], and float32 [2] in the first result"},
      {{{{"a", two}}, right.texts}, "result 1 has no 'x', which is float32 [2] in the first result"},
      {{{{"a", two}, {"x", two}, {"y", two}}, right.texts},
       "'y' of result 1 is float32 [2], and is not in the first result"},
      {{right.values, {{"words", {"one"}}}}, "'words' of result 1 is 1 word, and 2 words in the first result"},
      {{right.values, {}}, "result 1 has no 'words', which is 2 words in the first result"},
      {{right.values, {{"kind", {"one"}}, {"words", {"one", "two"}}}},
       "'kind' of result 1 is 1 word, and is not in the first result"}};
  for (const auto format : {prediction_format::csv, prediction_format::jsonl, prediction_format::npy}) {
    CAPTURE(to_string(format));
    const auto disk = disk_with_directory();
    const bool arrays = format == prediction_format::npy;
    {
      auto file = created(disk, arrays ? "/d" : "/d/out", format);
      REQUIRE(file.write(right));
      for (const auto& [other, what] : others) {
        const auto refused = file.write(other);
        REQUIRE_FALSE(refused);
        CHECK(refused.error() == error{errc::invalid_argument, what});
      }
      REQUIRE(file.write(right));
      REQUIRE(file.finish());
    }
    if (arrays) {
      CHECK(names_in(*disk, "/d") == std::vector<std::string>{"a.npy", "x.npy"});
      for (const char* name : {"/d/a.npy", "/d/x.npy"})
        CHECK(*read_file(*disk, name) == npy_header(dtype::float32, {2, 2}) + std::string(16, '\0'));
    } else {
      const auto line = format == prediction_format::csv ? csv_line(right) : json_line(right);
      CHECK(*read_file(*disk, "/d/out") == (format == prediction_format::csv ? csv_header(right) : "") + line + line);
    }
  }
}

TEST_CASE("a first result that was refused leaves no row, and another may be the first") {
  const auto disk = disk_with_directory();
  const auto one = tensor::zeros(dtype::float32, {2});
  REQUIRE(write_file_atomically(*disk, "/d", "old.npy", "before"));
  {
    auto file = created(disk, "/d", prediction_format::npy);
    REQUIRE_FALSE(file.write({{{"a", one}, {"x", one}}, {}}));
    CHECK(names_in(*disk, "/d") == std::vector<std::string>{"old.npy"});
    REQUIRE(disk->remove("/d/old.npy"));
    REQUIRE(file.write({{{"x", one}}, {}}));
    REQUIRE(file.finish());
  }
  CHECK(names_in(*disk, "/d") == std::vector<std::string>{"x.npy"});
  CHECK(read_file(*disk, "/d/x.npy")->starts_with(npy_header(dtype::float32, {1, 2})));
}

TEST_CASE("a file that could not take a result takes no other and cannot be finished") {
  const auto large = tensor::zeros(dtype::uint8, {2 << 20}), one = tensor::zeros(dtype::uint8, {1});
  for (const auto format : {prediction_format::csv, prediction_format::npy}) {
    CAPTURE(to_string(format));
    const auto disk = faulty_file_system::around(memory_disk::make());
    REQUIRE(disk->create_directories("/d"));
    {
      auto file = created(disk, format == prediction_format::npy ? "/d" : "/d/out.csv", format);
      REQUIRE(file.write({{{"a", one}, {"x", large}}, {}}));
      disk->inject({.operation = file_operation::append, .path_contains = ".tmp"});
      const auto failed = file.write({{{"a", one}, {"x", large}}, {}});
      REQUIRE_FALSE(failed);
      CHECK(failed.error().category == errc::resource_exhausted);
      const auto again = file.write({{{"a", one}, {"x", large}}, {}});
      REQUIRE_FALSE(again);
      CHECK(again.error() == failed.error());
      const auto finished = file.finish();
      REQUIRE_FALSE(finished);
      CHECK(finished.error() == failed.error());
    }
    CHECK(names_in(*disk, "/d").empty());
  }
}

TEST_CASE("arrays of an earlier run are replaced if they have the same keys, and those of other keys are refused") {
  const auto disk = disk_with_directory();
  const auto one = tensor::zeros(dtype::float32, {2});
  for (const int64_t results : {2, 1}) {
    auto file = created(disk, "/d", prediction_format::npy);
    for (int64_t i = 0; i < results; ++i)
      REQUIRE(file.write({{{"x", one}, {"y", one}}, {}}));
    REQUIRE(file.finish());
  }
  const auto before = *read_file(*disk, "/d/y.npy");
  CHECK(before.starts_with(npy_header(dtype::float32, {1, 2})));
  {
    auto file = created(disk, "/d", prediction_format::npy);
    const auto refused = file.write({{{"x", one}}, {}});
    REQUIRE_FALSE(refused);
    CHECK(
        refused.error()
        == error{errc::failed_precondition, "/d/y.npy is not of these results: remove it, or name another directory"});
  }
  CHECK(names_in(*disk, "/d") == std::vector<std::string>{"x.npy", "y.npy"});
  CHECK(*read_file(*disk, "/d/y.npy") == before);
}

TEST_CASE("two keys that would have one array are refused, and neither is written") {
  const auto disk = disk_with_directory();
  const auto one = tensor::zeros(dtype::float32, {2});
  {
    auto file = created(disk, "/d", prediction_format::npy);
    const auto refused = file.write({{{"a/b", one}, {"a_b", one}}, {}});
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == error{errc::invalid_argument, "'a/b' and 'a_b' would both be written to /d/a_b.npy"});
  }
  CHECK(names_in(*disk, "/d").empty());
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

TEST_CASE("a file of predictions that was moved from says so") {
  auto file = created(memory_file_system(), "out.csv", prediction_format::csv);
  auto other = std::move(file);
  const error wanted{errc::state, "the handle holds no file: it was moved from"};
  CHECK(file.write(one_result(1)).error() == wanted);
  CHECK(file.finish().error() == wanted);
  CHECK(other.write(one_result(1)));
}

}  // namespace troupe
