#include "storage/files/processors.hpp"
#include "tests/support/checkpoint_ids.hpp"
#include "tests/support/has.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/delete_checkpoints.hpp>
#include <troupe/inspect.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace troupe {

using test::has;

namespace {

using nlohmann::json;

dataset examples() {
  return *dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {12, 4})}},
                                {{"y", tensor::zeros(dtype::int32, {12})}});
}

estimator small(std::optional<std::string> model_dir = {}) {
  return {dnn_classifier({.hidden_units = {5}, .classes = 3}),
          {.model_dir = std::move(model_dir), .save_checkpoints_steps = 2}};
}

std::vector<std::string> names_of(const plan_description& plan) {
  std::vector<std::string> names;
  for (const auto& n : plan.nodes)
    names.push_back(n.name);
  return names;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// A finished job on the real disk, whose directory is removed with the test.
struct finished_job {
  finished_job() {
    std::string pattern = (std::filesystem::temp_directory_path() / "troupe_inspect_XXXXXX").string();
    path = ::mkdtemp(pattern.data());
    const auto result = train(small(path), {.input = examples().batch(4).repeat(), .max_steps = 4});
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  }
  ~finished_job() { std::filesystem::remove_all(path); }
  std::string path;
};

}  // namespace

TEST_CASE("the plan of a job has its nodes, the credit of its edges and the parts of a checkpoint") {
  auto e = small("unused");
  e.config.replicas = 2;
  const train_spec training{.input = examples().batch(4).repeat(), .max_steps = 10};
  const auto plan = inspect_plan(e, training, eval_spec{.input = examples().batch(4)});
  REQUIRE(plan);
  for (const char* name : {"infeed/0", "replica/0", "replica/1", "checkpoint_writer", "evaluator/replica/0", "chief"})
    CHECK(contains(names_of(*plan), name));
  REQUIRE(plan->edges.size() == 4);
  CHECK(plan->edges[1].to == "replica/1");
  CHECK(plan->edges[1].credit_blocks == 3);
  CHECK(plan->snapshot_parts == std::vector<std::string>{"infeed/0", "replica/0", "replica/1", "chief"});
  CHECK(has(to_text(*plan), "  infeed/0 => replica/1                      split  3 blocks\n"));
  CHECK(has(to_text(*plan), "  evaluator/infeed/0 => evaluator/replica/1  each   3 blocks\n"));
  CHECK(json::parse(to_json(*plan))["edges"][0]["from"] == "infeed/0");
  CHECK_FALSE(std::filesystem::exists("unused"));
  e.config.replicas = 0;
  CHECK(inspect_plan(e, training).error().category == errc::invalid_argument);
}

TEST_CASE("a graph is told with operations, variables, parameters and the program that is planned for it") {
  const auto graph = inspect_graph(small(), examples().batch(4).repeat(), mode::train);
  REQUIRE_MESSAGE(graph, (graph ? "" : to_text(graph.error())));
  CHECK(graph->parameters == 4 * 5 + 5 + 5 * 3 + 3);
  CHECK(graph->trainable_parameters == graph->parameters);
  REQUIRE(graph->variables.size() == 4);
  CHECK(graph->variables[0].name == "dnn/hiddenlayer_0/kernel");
  CHECK(graph->variables[0].shape == std::vector<int64_t>{4, 5});
  std::map<std::string, const graph_description::node*> nodes;
  for (const auto& n : graph->nodes) {
    for (const auto& input : n.inputs)
      CHECK_MESSAGE(nodes.contains(input), n.name << " comes before its input " << input);
    nodes[n.name] = &n;
  }
  REQUIRE(nodes.contains("x"));
  CHECK(nodes["x"]->op == "placeholder");
  CHECK(nodes["x"]->shape == "[batch, 4]");
  REQUIRE(nodes.contains("dnn/hiddenlayer_0/kernel"));
  CHECK(nodes["dnn/hiddenlayer_0/kernel"]->scope == "dnn/hiddenlayer_0");
  CHECK(has(graph->program.text, "dnn/hiddenlayer_0/kernel"));
  const auto text = to_text(*graph);
  CHECK(has(text, "43 parameters in 4 variables, 43 trainable\n"));
  const auto j = json::parse(to_json(*graph));
  CHECK(j["parameters"] == 43);
  CHECK(j["nodes"].size() == graph->nodes.size());
}

TEST_CASE("a program is told kernel by kernel, with buffers, bytes and FLOPs") {
  const auto graph = inspect_graph(small(), examples().batch(4).repeat(), mode::train);
  REQUIRE(graph);
  const program_description& p = graph->program;
  CHECK(p.rows == 4);
  // Only the last layer needs the gradient of its input.
  CHECK(p.flops == 2 * 4 * (2 * (4 * 5 + 5 * 3) + 5 * 3));
  CHECK(p.live_bytes_max > 0);
  CHECK(p.arena_bytes >= p.live_bytes_max);
  REQUIRE_FALSE(p.kernels.empty());
  CHECK(p.kernels[0].title == "matmul +bias +relu");
  CHECK(p.kernels[0].writes[0].shape == std::vector<int64_t>{4, 5});
  CHECK(p.kernels[0].writes[0].bytes == 4 * 5 * 4);
  const auto j = json::parse(to_json(*graph));
  CHECK(j["program"]["kernels"].size() == p.kernels.size());
  CHECK(j["program"]["flops"] == p.flops);
  CHECK(p.threads == 1);  // Too little work for two threads.
  CHECK(p.text.starts_with("1 thread, arena "));
  CHECK(j["program"]["threads"] == 1);
  auto e = small();
  e.config.replicas = 2;
  CHECK(inspect_graph(e, examples().batch(4).repeat(), mode::train)->program.rows == 2);
  e.config.intra_op_threads = 3;
  CHECK(inspect_graph(e, examples().batch(4).repeat(), mode::train)->program.threads == 3);
}

TEST_CASE("a pinned replica is told to train with one thread, and to evaluate as one that is not") {
  estimator e{dnn_classifier({.hidden_units = {1024, 1024}, .classes = 3}), {}};
  const auto threads = [&e](mode m, bool pinned) {
    e.config.pin_replicas = pinned;
    const auto graph = inspect_graph(e, examples().batch(12).repeat(), m);
    REQUIRE_MESSAGE(graph, (graph ? "" : to_text(graph.error())));
    return graph->program.threads;
  };
  CHECK((threads(mode::train, false) > 1) == (usable_processors() > 1));
  CHECK(threads(mode::train, true) == 1);
  CHECK(threads(mode::evaluate, true) == threads(mode::evaluate, false));
}

TEST_CASE("a profile has every kernel and the update, the longest first, and what they take together is the step") {
  const auto profile = profile_model(small(), examples().batch(4).repeat(), mode::train, 3);
  REQUIRE_MESSAGE(profile, (profile ? "" : to_text(profile.error())));
  CHECK(profile->rows == 4);
  CHECK(profile->steps == 3);
  const auto graph = inspect_graph(small(), examples().batch(4).repeat(), mode::train);
  CHECK(profile->kernels.size() == graph->program.kernels.size() + 1);
  double seconds = 0, grouped = 0;
  int64_t flops = 0, calls = 0;
  bool update = false;
  for (size_t k = 0; k < profile->kernels.size(); ++k) {
    const auto& kernel = profile->kernels[k];
    CHECK((k == 0 || kernel.seconds <= profile->kernels[k - 1].seconds));
    seconds += kernel.seconds;
    flops += kernel.flops;
    update = update || (kernel.title == "update" && has(kernel.name, "adam"));
  }
  for (const auto& o : profile->operations) {
    grouped += o.seconds;
    calls += o.calls;
  }
  CHECK(update);
  CHECK(seconds > 0);
  CHECK(profile->seconds == doctest::Approx(seconds));
  CHECK(grouped == doctest::Approx(seconds));
  CHECK(calls == static_cast<int64_t>(profile->kernels.size()));
  CHECK(flops == graph->program.flops);
  CHECK(has(to_text(*profile), " us a step of 4 rows, the mean of 3\n"));
  CHECK(has(to_text(*profile), "GFLOP/s  calls  operation\n"));
  const auto j = json::parse(to_json(*profile));
  CHECK(j["kind"] == "profile");
  CHECK(j["kernels"].size() == profile->kernels.size());
}

TEST_CASE("a profile ends where the data do, has no update unless it trains, and says what a step has to say") {
  const auto predicted = profile_model(small(), examples().batch(4), mode::predict);
  REQUIRE(predicted);
  CHECK(predicted->steps == 2);  // One of three batches is a warm-up.
  CHECK_FALSE(has(to_text(*predicted), "update"));
  CHECK(profile_model(small(), examples().batch(4), mode::evaluate, 1)->steps == 1);
  CHECK(profile_model(small(), examples().batch(12), mode::predict).error().category == errc::out_of_range);
  CHECK(profile_model(small(), examples().batch(4), mode::predict, 0).error().category == errc::invalid_argument);
  const auto wrong = *dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {2, 4})}},
                                            {{"y", tensor::of<int32_t>({2}, {0, 7})}});
  CHECK(has(profile_model(small(), wrong.batch(2).repeat(), mode::train).error().message,
            "label 7 of row 1 is outside [0, 3)"));
}

TEST_CASE("each mode has its own graph, and what a model function does wrong is its error") {
  const auto input = examples().batch(4);
  const auto trained = inspect_graph(small(), input, mode::train),
             predicted = inspect_graph(small(), input, mode::predict);
  REQUIRE((trained && predicted));
  CHECK(predicted->mode == mode::predict);
  CHECK(to_text(*trained) != to_text(*predicted));
  CHECK(inspect_graph(small(), input, mode::evaluate));
  const model lossless{"lossless", [](graph&, const features&, const labels&, mode) { return model_spec{}; }};
  CHECK(has(inspect_graph({lossless, {}}, input, mode::train).error().message, "a model needs a loss to train"));
  CHECK(inspect_graph({model{}, {}}, input, mode::train).error().category == errc::invalid_argument);
}

TEST_CASE("DOT has a cluster for each scope, within those it is in, and an edge for each input") {
  graph_description r{.model = "m\"x"};
  r.nodes = {{"x", "", "placeholder", "float32", "[batch, 4]", {}},
             {"a/b/kernel", "a/b", "variable", "float32", "[4, 2]", {}},
             {"a/b/matmul", "a/b", "matmul", "float32", "[batch, 2]", {"x", "a/b/kernel"}}};
  CHECK(to_dot(r) == R"dot(digraph "m\"x (train)" {
  node [shape=ellipse];
  "x" [label="x\nplaceholder\nfloat32 [batch, 4]", shape=box, style=rounded];
  subgraph "cluster_a" {
    label="a";
    subgraph "cluster_a/b" {
      label="b";
      "a/b/kernel" [label="kernel\nvariable\nfloat32 [4, 2]", shape=box, style=filled];
      "a/b/matmul" [label="matmul\nfloat32 [batch, 2]"];
    }
  }
  "x" -> "a/b/matmul";
  "a/b/kernel" -> "a/b/matmul";
}
)dot");
}

TEST_CASE(
    "a GraphDef has every node under its name with its inputs, its dtype and its shape, an unknown extent as -1") {
  const graph_description r{
      .nodes = {{"x", "", "placeholder", "float32", "[batch, 4]", {}}, {"a/y", "a", "matmul", "int64", "[]", {"x"}}}};
  const std::string bytes = to_graph_def(r);
  const auto has_bytes = [&](const std::string& part) { CHECK(has(bytes, part)); };
  has_bytes(std::string("\x0a\x01x\x12\x0bplaceholder"));
  has_bytes(
      std::string("\x0a\x03"
                  "a/y\x12\x06matmul\x1a\x01x"));
  has_bytes(std::string("dtype\x12\x02\x30\x01"));
  has_bytes(std::string("dtype\x12\x02\x30\x09"));
  has_bytes(std::string("\x3a\x11\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x02\x08\x04"));
}

TEST_CASE_FIXTURE(finished_job, "a path says by itself what is shown of it") {
  const auto kind = [](const std::string& p) { return json::parse(to_json(*inspect(p)))["kind"].get<std::string>(); };
  CHECK(kind(path) == "directory");
  CHECK(kind(path + "/checkpoint") == "directory");
  CHECK(kind(path + "/model.ckpt-4") == "checkpoint");
  CHECK(kind(path + "/model.ckpt-4.manifest.json") == "checkpoint");
  CHECK(kind(path + "/model.ckpt-4-00000-of-00001.safetensors") == "checkpoint");
  CHECK(inspect(path + "/model.ckpt-5").error().category == errc::not_found);
  CHECK(inspect(path + "/nothing").error().category == errc::not_found);
  std::ofstream{path + "/notes.txt"} << "?";
  CHECK(inspect(path + "/notes.txt").error().category == errc::invalid_argument);
}

TEST_CASE_FIXTURE(finished_job, "JSON with values has the bytes of every tensor, and text the position of the input") {
  const auto r = inspect_checkpoint(path + "/model.ckpt-4", {.values = true});
  REQUIRE(r);
  const auto j = json::parse(to_json(*r));
  CHECK(j["whole"] == true);
  CHECK(j["step"] == 4);
  CHECK(j["wall_time"].get<double>() > 1.6e9);
  bool found = false;
  for (const auto& t : j["tensors"])
    if (t["name"] == "global_step") {
      found = true;
      CHECK(t["base64"] == "BAAAAAAAAAA=");
      CHECK(t["dtype"] == "int64");
      CHECK(t["crc32c"].get<std::string>().size() == 8);
    }
  CHECK(found);
  const auto text = to_text(*r);
  CHECK(has(text, "troupe input 2 · next 4 of epoch 1"));
  CHECK(has(text, "whole (every byte read)"));
}

TEST_CASE_FIXTURE(
    finished_job,
    "checkpoints are deleted by step, the newest only on request, and nothing is made where nothing was") {
  CHECK(delete_checkpoints(path, {{0}})->deleted == ids({0}));
  CHECK(delete_checkpoints(path, {{4}}).error().category == errc::failed_precondition);
  CHECK(delete_checkpoints(path, {{4}}, {.newest_too = true})->deleted == ids({4}));
  const auto left = inspect_directory(path);
  REQUIRE(left);
  REQUIRE(left->checkpoints.size() == 1);
  CHECK(left->checkpoints[0].id == checkpoint_id{2});
  CHECK(left->newest == checkpoint_id{2});
  CHECK(delete_checkpoints(path + "/nowhere", {{4}}).error().category == errc::not_found);
  CHECK_FALSE(std::filesystem::exists(path + "/nowhere"));
}

TEST_CASE_FIXTURE(finished_job,
                  "every point of a tag is told with step and time, of a file or of all files of a directory") {
  const estimator e{dnn_classifier({.hidden_units = {5}, .classes = 3}),
                    {.model_dir = path, .save_summary_steps = 1, .save_checkpoints_steps = 2}};
  REQUIRE(train(e, {.input = examples().batch(4).repeat(), .max_steps = 9}));
  const auto all = event_points(path, "loss");
  REQUIRE_MESSAGE(all, (all ? "" : to_text(all.error())));
  CHECK(all->damages.empty());
  std::vector<int64_t> steps;
  for (const auto& p : all->points) {
    steps.push_back(p.step);
    CHECK(p.value->what == summary_value::kind::scalar);
    CHECK(p.wall_time > 1.6e9);
  }
  CHECK(std::is_sorted(steps.begin(), steps.end()));
  CHECK(std::adjacent_find(steps.begin(), steps.end()) == steps.end());
  const auto description = inspect_directory(path);
  REQUIRE(description);
  REQUIRE(description->event_files.size() == 2);
  const auto last = event_points(path + "/" + description->event_files[1], "loss");
  REQUIRE(last);
  CHECK(last->points.size() == 5);
  CHECK(last->points.back().value->scalar == all->points.back().value->scalar);
  CHECK(has(event_points(path, "lost").error().message, "has no value of the tag 'lost'; there are: "));
  CHECK(has(event_points(path, "lost").error().message, "'loss'"));
  CHECK(event_points(path, "lost").error().category == errc::not_found);
  CHECK(event_points(path + "/none", "loss").error().category == errc::not_found);
  std::filesystem::create_directory(path + "/empty");
  CHECK(event_points(path + "/empty", "loss").error().message == path + "/empty has no event file");
}

TEST_CASE("what may not be read is shown as that, and neither as damaged nor as whole") {
  const damage unread{"d/shard", "", {}, "may not be read: Permission denied", true},
      rotten{"d/shard", "w", 64, "has the checksum 1"};
  const auto of_checkpoint = to_text(checkpoint_description{.path = "d/model.ckpt-1", .damages = {unread}});
  CHECK(has(of_checkpoint, "in 0 files, not readable\n  not readable: d/shard: may not be read: Permission denied\n"));
  CHECK(has(to_text(checkpoint_description{.path = "d/model.ckpt-1", .damages = {unread, rotten}}),
            "in 0 files, damaged\n"));
  const directory_description r{
      .path = "d",
      .checkpoints = {{.id = {1}, .damages = {unread}}, {.id = {2}, .damages = {rotten}}, {.id = {3}}},
      .verified = true};
  CHECK(has(to_text(r), "3 checkpoints, 1 damaged, 1 not readable\n"));
  CHECK_FALSE(is_sound(r));
  const auto rows = json::parse(to_json(r))["checkpoints"];
  CHECK(rows[0]["damages"][0]["unreadable"] == true);
  CHECK(rows[1]["damages"][0]["unreadable"] == false);
}

TEST_CASE("the iteration of a checkpoint is shown where it is not 0") {
  const directory_description r{
      .path = "d", .checkpoints = {{.id = {7}, .bytes = 5}, {.id = {7, 1}, .bytes = 5}}, .newest = checkpoint_id{7, 1}};
  const auto text = to_text(r);
  CHECK(has(text, "2 checkpoints, the newest of step 7-iteration-1\n"));
  CHECK(has(text, "  step              7  "));
  CHECK(has(text, "  step  7-iteration-1  "));
  const auto j = json::parse(to_json(r));
  CHECK(j["newest"] == 7);
  CHECK(j["newest_iteration"] == 1);
  CHECK_FALSE(j["checkpoints"][0].contains("iteration"));
  CHECK(j["checkpoints"][1]["step"] == 7);
  CHECK(j["checkpoints"][1]["iteration"] == 1);
  const checkpoint_description one{.path = "d/model.ckpt-7-iteration-1", .id = checkpoint_id{7, 1}};
  CHECK(has(to_text(one), "d/model.ckpt-7-iteration-1: step 7-iteration-1\n"));
  CHECK(json::parse(to_json(one))["iteration"] == 1);
}

TEST_CASE("texts keep a terminal from obeying what a file contains, and columns stay aligned") {
  checkpoint_description r{.path = "a\x1b[31m"};
  r.tensors = {{"größe", "float32", {2, 3}, "f", 64, 24, 0x1a}, {"b", "int64", {}, "f", 88, 8}};
  const auto text = to_text(r);
  CHECK(has(text, "a?[31m\n"));
  CHECK(has(
      text,
      "  größe  float32  [2, 3]  24 bytes  0000001a  f  @64\n  b      int64    []       8 bytes            f  @88\n"));
}

TEST_CASE("numbers that JSON cannot write are null") {
  event_file_description r{.path = "f"};
  r.tags = {{"loss", 1, 3, 3, summary_value{.tag = "loss", .scalar = std::numeric_limits<double>::quiet_NaN()}}};
  CHECK(json::parse(to_json(r))["tags"][0]["last"].is_null());
  CHECK(has(to_text(r), "loss  scalar  1  steps 3 to 3  nan\n"));
}

}  // namespace troupe
