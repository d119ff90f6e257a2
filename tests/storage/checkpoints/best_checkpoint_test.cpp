#include "storage/checkpoints/best_checkpoint.hpp"

#include "tests/storage/samples.hpp"

namespace troupe {

TEST_CASE("the best checkpoint stands in for the newest where that one says so, and only while it does") {
  auto store = open_store(memory_file_system());
  CHECK_FALSE(best_in_use(*store));
  commit(*store, 1);
  commit(*store, 2);
  CHECK_FALSE(best_in_use(*store));
  CHECK(best_kept(*store, "/m").error().message.starts_with("/m has no best checkpoint"));
  REQUIRE(store->add_verdict({2}, {{"best", "1"}, {"use_best", "false"}}));
  CHECK_FALSE(best_in_use(*store));
  CHECK(best_kept(*store, "/m") == checkpoint_id{1});
  REQUIRE(store->add_verdict({2}, {{"best", "1"}, {"use_best", "true"}}));
  CHECK(best_in_use(*store) == checkpoint_id{1});
  commit(*store, 3);
  CHECK_FALSE(best_in_use(*store));
}

}  // namespace troupe
