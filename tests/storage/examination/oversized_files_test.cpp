// Files that are larger than memory are named, restored around and shown as damage.
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/examination/examination.hpp"
#include "tests/storage/samples.hpp"

#include <filesystem>
#include <fstream>

namespace troupe {

TEST_CASE("a file that is larger than memory is damage like any other: what does not need it goes on without it") {
  const temporary_directory disk;
  const auto fs = posix_file_system();
  auto store = open_store(fs, {}, disk.path);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  const auto enlarge = [&](const std::string& name) {
    std::ofstream{disk.path + "/" + name, std::ios::app} << "x";
    std::filesystem::resize_file(disk.path + "/" + name, uintmax_t{1} << 40);
    return disk.path + "/" + name + ": it has 1099511627776 bytes, and a file of its kind ";
  };
  SUBCASE("a verdict is left out") {
    const auto text = enlarge(verdict_name({2}));
    const auto restored = store->restore_newest();
    REQUIRE(restored);
    CHECK(restored->content.id == checkpoint_id{2});
    REQUIRE(restored->warnings.size() == 1);
    CHECK(has(restored->warnings[0], text));
  }
  SUBCASE("in place of the newest checkpoint the one before it is taken") {
    const auto text = enlarge(manifest_name({2}));
    const auto restored = store->restore_newest();
    REQUIRE(restored);
    CHECK(restored->content.id == checkpoint_id{1});
    REQUIRE_FALSE(restored->warnings.empty());
    CHECK(has(restored->warnings[0], text));
    const auto shown = examine_checkpoint(*fs, disk.path, {2}, {});
    REQUIRE(shown);
    REQUIRE(shown->damages.size() == 1);
    CHECK(shown->damages[0].file == disk.path + "/" + manifest_name({2}));
    CHECK(has(shown->damages[0].reason, "it has 1099511627776 bytes"));
    CHECK(shown->tensors.size() == sample(2).tensors.size());
  }
  SUBCASE("the list is read from the names of the files") {
    const auto text = enlarge("checkpoint");
    const auto restored = store->restore_newest();
    REQUIRE(restored);
    CHECK(restored->content.id == checkpoint_id{2});
    REQUIRE_FALSE(restored->warnings.empty());
    CHECK(has(restored->warnings[0], text));
    const auto shown = examine_directory(*fs, disk.path, {});
    REQUIRE(shown);
    CHECK(shown->checkpoints.size() == 2);
    REQUIRE_FALSE(shown->warnings.empty());
    CHECK(has(shown->warnings[0], text));
  }
}

}  // namespace troupe
