// Restoration by messages: parts within their credit, and owners that do not answer.
#include "support/writer_fixture.hpp"
#include "tests/support/has.hpp"

namespace troupe::test {

namespace {

/// A writer whose owner `patient` records parts, and takes one only when a test says so.
struct restoring_writer : writer_alone {
  recorder<state_part> patient = record<state_part>();

  /// Commits a state of 20 parts, and replaces the writer by a new one.
  void commit_large() {
    options.part_bytes_max = 32;
    parameters = model_store(40, false);  // 320 bytes, and 320 of momentum.
    stored.groups = {stored_of(parameters)};
    start();
    save(3);
    REQUIRE(chief.count<committed>() == 1);
    anon_send_exit(writer, caf::exit_reason::user_shutdown);
    run();
    writer = spawn(checkpoint_writer, options, chief.as<commit_sink_actor>());
  }
  void restore_to(int32_t attempt, const recorder<state_part>& to) {
    tell(writer, restore{attempt, {{{}, to.as<state_owner_actor>()}}, stored});
  }
  void take(int32_t attempt, int64_t number) { tell(writer, state_taken{attempt, number}); }
};

}  // namespace

TEST_CASE_FIXTURE(
    restoring_writer,
    "a state is sent in parts of bounded size, three at a time, and is restored when the last one is taken") {
  commit_large();
  restore_to(2, patient);
  auto& parts = patient.all<state_part>();
  CHECK(parts.size() == 3);
  for (int64_t number = 0; number < 20; ++number) {
    CAPTURE(number);
    CHECK(chief.count<restored>() == 1);
    REQUIRE(parts.size() > static_cast<size_t>(number));
    CHECK(parts.size() == static_cast<size_t>(std::min<int64_t>(number + 3, 20)));
    CHECK(parts.back().attempt == 2);
    int64_t bytes = 0;
    for (const auto& piece : parts.back().pieces)
      bytes += piece.elements.byte_size();
    CHECK(bytes == 32);
    take(2, number);
  }
  REQUIRE(chief.count<restored>() == 2);
  CHECK(chief.last<restored>().attempt == 2);
  CHECK(chief.last<restored>().id == checkpoint_id{3});
  CHECK(parts.size() == 20);
}

TEST_CASE_FIXTURE(restoring_writer, "answers that come twice, or of another attempt, are no credit") {
  commit_large();
  restore_to(2, patient);
  take(2, 0);
  CHECK(patient.count<state_part>() == 4);
  take(2, 0);
  take(1, 1);
  take(3, 2);
  take(2, 99);
  CHECK(patient.count<state_part>() == 4);
  take(2, 1);
  CHECK(patient.count<state_part>() == 5);
}

TEST_CASE_FIXTURE(restoring_writer,
                  "a restoration whose owner takes nothing gives way to that of the next attempt, which is whole") {
  commit_large();
  restore_to(2, patient);
  take(2, 0);
  auto next = simulation::record<state_part>();
  restore_to(3, next);
  take(2, 1);
  CHECK(patient.count<state_part>() == 4);
  REQUIRE(next.count<state_part>() == 3);
  CHECK(next.all<state_part>().front().number == 0);
  CHECK(next.all<state_part>().front().attempt == 3);
  for (int64_t number = 0; number < 20; ++number)
    take(3, number);
  REQUIRE(chief.count<restored>() == 2);
  CHECK(chief.last<restored>().attempt == 3);
  CHECK(next.count<state_part>() == 20);
}

TEST_CASE_FIXTURE(restoring_writer,
                  "the chief hears of a fresh start once the owner of every group has its initial values") {
  const auto other = model_store(2);
  stored.groups.push_back(stored_of(other, 1_group));
  options.seed = 5;
  auto second = simulation::record<state_part>();
  writer = spawn(checkpoint_writer, options, chief.as<commit_sink_actor>());
  tell(writer, restore{1, {{{}, patient.as<state_owner_actor>()}, {1_group, second.as<state_owner_actor>()}}, stored});
  REQUIRE(patient.count<state_part>() == 1);
  REQUIRE(second.count<state_part>() == 1);
  CHECK(second.last<state_part>().initial);
  CHECK(second.last<state_part>().seed == 5);
  take(1, 0);
  CHECK(chief.count<restored>() == 0);
  take(1, 1);
  REQUIRE(chief.count<restored>() == 1);
  CHECK_FALSE(chief.last<restored>().found);
}

TEST_CASE_FIXTURE(restoring_writer, "no part of a checkpoint of another model is sent") {
  start();
  save(3);
  anon_send_exit(writer, caf::exit_reason::user_shutdown);
  run();
  const auto other = model_store(6, false);
  stored.groups = {stored_of(other)};
  writer = spawn(checkpoint_writer, options, chief.as<commit_sink_actor>());
  restore_to(2, patient);
  CHECK(chief.last<failure>().what.category == errc::failed_precondition);
  CHECK(patient.count<state_part>() == 0);
}

TEST_CASE_FIXTURE(restoring_writer,
                  "a checkpoint that turns out to be damaged after parts of it were sent gives way to the older one, "
                  "with its books") {
  commit_large();
  restore_to(2, patient);
  for (int64_t number = 0; number < 20; ++number)
    take(2, number);
  REQUIRE(chief.count<restored>() == 2);
  scribble(7);
  const auto older = all_values();
  const auto newer_part = [this](snapshot_part part) {
    part.attempt = 2;
    return part;
  };
  const auto save_as_second = [&](int64_t step) {
    tell(writer, newer_part(chief_part(step)));
    tell(writer, newer_part(infeed_part(step)));
    tell_as(lender.handle(), writer, newer_part(replica_part(step)));
  };
  save_as_second(4);
  scribble(1000);
  save_as_second(5);
  REQUIRE(chief.count<committed>() == 3);
  const std::string shard = "/m/model.ckpt-5-00000-of-00001.safetensors";
  auto bytes = read_file(*disk, shard).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  disk->overwrite(shard, bytes);

  parts_taken.clear();
  tell(writer, restore{3, {{{}, owner}}, stored});
  run();
  REQUIRE(chief.count<restored>() == 3);
  const auto& news = chief.last<restored>();
  CHECK(news.id == checkpoint_id{4});
  CHECK(news.blobs.at("infeed/0") == "batch 4");
  REQUIRE(news.warnings.size() == 1);
  CHECK(has(news.warnings[0], "model.ckpt-5 is passed over: " + shard));
  CHECK(parts_taken.size() > 20);
  for (size_t i = 0; i < parts_taken.size(); ++i)
    CHECK(parts_taken[i].number == static_cast<int64_t>(i));
  CHECK(all_values() == older);

  SUBCASE("where none is whole, the job fails and each is named") {
    for (const auto* name :
         {"/m/model.ckpt-4-00000-of-00001.safetensors", "/m/model.ckpt-3-00000-of-00001.safetensors"}) {
      auto other = read_file(*disk, name).value();
      other.back() = static_cast<char>(other.back() ^ 1);
      disk->overwrite(name, other);
    }
    anon_send_exit(writer, caf::exit_reason::user_shutdown);
    run();
    writer = spawn(checkpoint_writer, options, chief.as<commit_sink_actor>());
    tell(writer, restore{4, {{{}, owner}}, stored});
    run();
    REQUIRE(chief.count<failure>() == 1);
    const auto text = to_text(chief.last<failure>().what);
    for (const auto* step :
         {"model.ckpt-5 is passed over", "model.ckpt-4 is passed over", "model.ckpt-3 is passed over"})
      CHECK(has(text, step));
  }
}

TEST_CASE_FIXTURE(restoring_writer, "no more of a state is read than its owner has room for") {
  commit_large();
  const auto reads = [this] {
    const auto trace = files->trace();
    return std::count_if(trace.begin(), trace.end(),
                         [](const auto& call) { return call.starts_with("read") && has(call, ".safetensors"); });
  };
  const auto before = reads();
  restore_to(2, patient);
  const auto first = reads() - before;
  CHECK(first < 8);  // Headers and three of the twenty parts.
  take(2, 0);
  CHECK(reads() - before == first + 1);
}

}  // namespace troupe::test
