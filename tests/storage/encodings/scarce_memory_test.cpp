// Files that are read while memory ends: whichever allocation fails, the result is an error or std::bad_alloc, and the
// program goes on.
#include "tests/support/scarce_memory.hpp"

#include "storage/checkpoints/manifest.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/exports/export_json.hpp"
#include "storage/runs/run_record.hpp"
#include "tests/storage/samples.hpp"

namespace troupe {

namespace {

/// Calls `read` again and again with one more successful allocation each time, until none fails. Returns how often one
/// failed.
template <class Read>
int64_t refusals(Read read) {
  for (int64_t allocations = 0;; ++allocations) {
    bool whole = false, ended = true;
    std::optional<error> told;
    try {
      const test::scarce_memory memory{allocations};
      const auto found = read();
      ended = memory.ended();
      whole = found.has_value();
      if (!whole)
        told = found.error();
    } catch (const std::bad_alloc&) {}
    if (told)
      CHECK(told->category == errc::resource_exhausted);
    if (!ended) {
      CHECK(whole);
      return allocations;
    }
  }
}

}  // namespace

TEST_CASE(
    "a manifest, a run record and a header of safetensors for which memory ends at any moment are errors, and nothing "
    "worse") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  commit(*store, 1);
  const auto text = *read_file(*fs, "/m/model.ckpt-1.manifest.json");
  CHECK(refusals([&] { return parse_manifest(text, "f", {1}); }) > 100);
  const std::string shard = "/m/model.ckpt-1-00000-of-00001.safetensors";
  const auto file = *fs->open(shard);
  CHECK(refusals([&] { return read_safetensors_header(*file, shard); }) > 10);
  const auto record = run_record_text({.wall_time = 1,
                                       .command = {"troupe", "train"},
                                       .directory = "/a directory with a long name",
                                       .versions = {{"troupe", "1"}},
                                       .settings = {{"run.seed", "3"}},
                                       .resolved = {{"run.seed", "3"}}});
  CHECK(refusals([&] { return parse_run_record(record, "f"); }) > 20);
  graph_file graph{
      .origin = {.model = "m", .global_step = 1, .checkpoint = "/m/model.ckpt-1", .evaluation = {{"loss", 0.5}}},
      .graph = {},
      .checksums = {}};
  graph.graph.unknowns = {"batch"};
  graph.graph.nodes.push_back(
      {.name = "x", .operation = "input", .inputs = {}, .type = dtype::float32, .dims = {}, .attributes = {}});
  const auto graph_text = *write_graph_json(graph);
  REQUIRE(parse_graph_json(graph_text, "f"));
  CHECK(refusals([&] { return parse_graph_json(graph_text, "f"); }) > 20);
}

}  // namespace troupe
