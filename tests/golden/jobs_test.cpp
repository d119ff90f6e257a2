// Whole jobs on real threads and files: parameters, slots, books and event files equal the recorded ones bit by bit,
// except wall times, file names and rates. A change that is meant to change them makes the file anew:
//   TROUPE_RENEW_GOLDEN=jobs.txt build/release/tests/golden/test_golden_jobs
#include "storage/checkpoints/checkpoint_store.hpp"
#include "tests/golden/checksums.hpp"
#include "tests/golden/kept_lines.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/whole_event_log.hpp"

#include <troupe/sequential.hpp>
#include <troupe/troupe.hpp>

namespace troupe::test {

namespace {

struct kept_job {
  std::string name;
  troupe::model source;
  int64_t replicas = 1;
  int64_t steps = 60;
};

const optimizer by = momentum{.rate = 0.02f};

/// Reads an image as a sequence of 28 steps of 28 numbers.
model_spec read_rows(graph& g, const features& x, const labels& y, mode m) {
  const auto rows = reshape(x["pixels"], {g.unknown("batch"), 28, 28});
  const auto last = nn::lstm(rows, {.units = 24}).last.h;
  const auto logits = nn::dense(last, {.units = 10});
  g.scalar("last/mean", reduce_mean(last));
  return multi_class_head{.classes = 10}.spec(g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = by});
}

std::vector<kept_job> jobs() {
  const auto dense = dnn_classifier({.hidden_units = {256, 128}, .classes = 10, .optimizer = by, .dropout = 0.2f});
  const auto convolutional = sequential_classifier(
      {.layers = {layer::conv2d{.filters = 8, .kernel_size = {3, 3}, .activation = relu}, layer::max_pool{},
                  layer::flatten{}, layer::dense{.units = 32, .activation = relu}, layer::dropout{.rate = 0.3}},
       .classes = 10,
       .input_shape = {28, 28, 1},
       .optimizer = by});
  return {{"dense", dense, 1, 200},
          {"dense, two replicas", dense, 2, 200},
          {"convolutional", convolutional},
          {"lstm", {"lstm", read_rows}}};
}

/// A position without the lines with the times at which its data files were written.
std::string without_prints(const std::string& blob) {
  std::string text;
  for (const auto& line : lines_of(blob))
    if (!line.starts_with("source "))
      text += line + "\n";
  return text;
}

void describe_events(file_system& files, const std::string& directory, const std::string& as, std::string& to) {
  const auto paths = list_event_logs(files, directory);
  REQUIRE(paths);
  REQUIRE(paths->size() == 1);
  const auto log = read_whole_log(files, paths->front());
  REQUIRE(log);
  for (const auto& event : log->events)
    for (const auto& v : event.values)
      if (!v.tag.ends_with("/sec") && v.tag != "checkpoint_path")  // A rate, and a path.
        to += as + " step " + std::to_string(event.step) + " " + v.tag + " " + std::to_string(checksum(v)) + "\n";
}

std::string outcome_of(const kept_job& job) {
  const temporary_directory directory;
  const auto path = directory / "run";
  const auto data = *fashion_mnist("/usr/share/datasets/fashion-mnist");
  const estimator e{
      job.source,
      {.model_dir = path, .seed = 1, .save_summary_steps = 20, .save_checkpoints_steps = 30, .replicas = job.replicas}};
  const auto result = train_and_evaluate(e, {.input = data.train.shuffle().batch(32).repeat(), .max_steps = job.steps},
                                         {.input = data.test.take(500).batch(100), .throttle_secs = 0});
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  std::string text;
  for (const auto& [name, value] : result->metrics)
    text += job.name + " result " + name + " " + bits(value) + "\n";

  const auto files = posix_file_system();
  const auto store = checkpoint_store::open(files, path, {.read_only = true});
  REQUIRE(store);
  for (const auto id : (*store)->listed()) {
    const auto found = (*store)->restore(id);
    REQUIRE(found);
    const std::string at = job.name + " checkpoint " + to_string(id) + " ";
    for (const auto& t : found->content.tensors)
      text += at + t.name + " " + std::to_string(crc32c(t.value.bytes())) + "\n";
    for (const auto& [name, bytes] : found->content.blobs)
      text += at + "blob " + name + " " + std::to_string(crc32c(without_prints(bytes))) + "\n";
    for (const std::string name : {"first_step", "finished"})
      text += at + name + " " + found->content.properties.at(name) + "\n";
  }
  describe_events(*files, path, job.name + " training", text);
  describe_events(*files, path + "/eval", job.name + " evaluation", text);
  return text;
}

std::string all_outcomes() {
  std::string text;
  for (const auto& job : jobs())
    text += outcome_of(job);
  return text;
}

}  // namespace

TEST_CASE("jobs come to the parameters, slots, books, metrics and event files that they came to") {
  check_kept(all_outcomes(), "jobs.txt");
}

}  // namespace troupe::test
