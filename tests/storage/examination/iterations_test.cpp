#include "storage/examination/examination.hpp"
#include "tests/storage/samples.hpp"

namespace troupe {

TEST_CASE("two iterations of one step are two checkpoints of a directory, each with files and damages of its own") {
  const auto disk = memory_file_system();
  const auto store = open_store(disk);
  commit(*store, 7);
  commit(*store, 7, 1);
  REQUIRE(disk->remove("/m/model.ckpt-7-00000-of-00001.safetensors"));
  const auto r = examine_directory(*disk, "/m", {.verify = true});
  REQUIRE(r);
  CHECK(r->newest == checkpoint_id{7, 1});
  REQUIRE(r->checkpoints.size() == 2);
  CHECK(r->checkpoints[0].id == checkpoint_id{7});
  CHECK(r->checkpoints[0].damages.size() == 1);
  CHECK(r->checkpoints[1].id == checkpoint_id{7, 1});
  CHECK(r->checkpoints[1].damages.empty());
  const auto grown = examine_checkpoint(*disk, "/m", {7, 1}, {});
  REQUIRE(grown);
  CHECK(grown->path == "/m/model.ckpt-7-iteration-1");
  CHECK(grown->id == checkpoint_id{7, 1});
}

}  // namespace troupe
