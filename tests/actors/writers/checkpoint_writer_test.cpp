#include "support/writer_fixture.hpp"
#include "tests/support/has.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(writer_alone, "a directory without a checkpoint gives freshly initialised variables") {
  scribble(3);
  start();
  REQUIRE(chief.count<restored>() == 1);
  CHECK_FALSE(chief.last<restored>().found);
  CHECK(chief.last<restored>().id.step == 0);
  CHECK(chief.last<restored>().attempt == 1);
  CHECK(parameters->view(0, parameters->layout().find("dense/kernel")).as<float>()[7] == 1);
}

TEST_CASE_FIXTURE(writer_alone, "a snapshot is committed when all of its parts have come, and not before") {
  start();
  scribble(1);
  tell(writer, chief_part(7));
  lend(7);
  CHECK(chief.count<committed>() == 0);
  CHECK(lender.count<released>() == 0);
  CHECK(listed().empty());
  tell(writer, infeed_part(7));
  REQUIRE(chief.count<committed>() == 1);
  CHECK(chief.last<committed>().id == checkpoint_id{7});
  CHECK(chief.last<committed>().attempt == 1);
  CHECK(chief.last<committed>().prefix == "/m/model.ckpt-7");
  CHECK(listed() == ids({7}));
  REQUIRE(lender.count<released>() == 1);
  CHECK(lender.last<released>().step == 7);
  CHECK(lender.last<released>().attempt == 1);

  const auto stored = (*checkpoint_store::open(disk, "/m", {.read_only = true}))->restore({7});
  REQUIRE(stored);
  CHECK(stored->content.blobs.at("infeed/0") == "batch 7");
  CHECK(stored->content.properties.at("finished") == "false");
  CHECK(stored->content.properties.at("numerics_version") == "1");

  SUBCASE("a part that comes again is released again, and nothing is committed twice") {
    lend(7);
    tell(writer, infeed_part(7));
    CHECK(chief.count<committed>() == 1);
    CHECK(lender.count<released>() == 2);
  }
  SUBCASE("so is a part of another attempt") {
    auto old = replica_part(9);
    old.attempt = 0;
    tell_as(lender.handle(), writer, old);
    CHECK(lender.last<released>().attempt == 0);
    CHECK(lender.last<released>().step == 9);
  }
}

TEST_CASE_FIXTURE(writer_alone,
                  "the arena is free when the commit is durable, and the chief hears of it after its owner") {
  auto both = record<released, restored, failure, committed, save_failed>();
  writer = spawn(checkpoint_writer, options, both.as<commit_sink_actor>());
  tell(writer, restore{1, {{{}, owner}}, stored});
  tell(writer, chief_part(1));
  tell(writer, infeed_part(1));
  tell_as(both.handle(), writer, replica_part(1));
  CHECK(both.order() == order_of<restored, released, committed>());
  disk->crash();
  CHECK(listed() == ids({1}));
}

TEST_CASE_FIXTURE(writer_alone, "a part that comes twice before the set is complete counts once") {
  start();
  lend(3);
  lend(3);
  tell(writer, chief_part(3));
  CHECK(chief.count<committed>() == 0);
  tell(writer, infeed_part(3));
  CHECK(chief.count<committed>() == 1);
}

TEST_CASE_FIXTURE(writer_alone, "a trainable variable that is not finite is refused, and nothing is written") {
  start();
  save(1);
  const auto before = disk->list("/m");
  std::vector<float> bad(8, 1);
  bad[3] = NAN;
  REQUIRE(parameters->assign("dense/kernel", tensor::of<float>({4, 2}, std::span<const float>{bad})));
  save(2);
  REQUIRE(chief.count<save_failed>() == 1);
  CHECK(chief.last<save_failed>().step == 2);
  CHECK(chief.last<save_failed>().cause.category == errc::nan_loss);
  CHECK(has(chief.last<save_failed>().cause.message, "dense/kernel"));
  CHECK(chief.last<save_failed>().cause.source == "checkpoint_writer");
  CHECK(chief.last<save_failed>().cause.step == 2);
  CHECK(lender.count<released>() == 2);
  CHECK(disk->list("/m")->size() == before->size());
  CHECK(listed() == ids({1}));
}

TEST_CASE_FIXTURE(writer_alone, "a full disk fails the save and leaves the older checkpoint whole") {
  start();
  scribble(1);
  const auto good = all_values();
  save(1);
  scribble(50);
  files->inject({.operation = file_operation::append});
  save(2);
  REQUIRE(chief.count<save_failed>() == 1);
  CHECK(chief.last<save_failed>().step == 2);
  CHECK(chief.last<save_failed>().cause.category == errc::resource_exhausted);
  CHECK_MESSAGE(lender.count<released>() == 2, "the arena is free all the same");
  files->heal();
  CHECK(listed() == ids({1}));
  SUBCASE("from which another job goes on") {
    anon_send_exit(writer, caf::exit_reason::user_shutdown);
    run();
    start();
    CHECK(chief.last<restored>().id.step == 1);
    CHECK(all_values() == good);
  }
  SUBCASE("a later save succeeds") {
    save(3);
    CHECK(listed() == ids({1, 3}));
  }
}

TEST_CASE_FIXTURE(writer_alone, "what was saved is restored bit for bit, with position and books") {
  start();
  scribble(0.1f);
  const auto saved = all_values();
  save(12);
  anon_send_exit(writer, caf::exit_reason::user_shutdown);
  run();
  scribble(70);
  start();
  REQUIRE(chief.count<restored>() == 2);
  const auto& r = chief.last<restored>();
  CHECK(r.found);
  CHECK(r.id == checkpoint_id{12});
  CHECK(r.prefix == "/m/model.ckpt-12");
  CHECK(r.blobs.at("infeed/0") == "batch 12");
  CHECK(r.properties.at("finished") == "false");
  CHECK(r.warnings.empty());
  CHECK(all_values() == saved);
  SUBCASE("saving it again verifies it and lists it again") {
    save(12);
    CHECK(chief.count<committed>() == 2);
    CHECK(listed() == ids({12}));
  }
}

TEST_CASE_FIXTURE(writer_alone,
                  "a writer that stands in for a dead one opens the directory and leaves the store alone") {
  scribble(5);
  const auto before = all_values();
  start(false);
  CHECK(chief.order().empty());
  CHECK(all_values() == before);
  save(4);
  CHECK(listed() == ids({4}));
}

TEST_CASE_FIXTURE(writer_alone, "a directory that another writer owns is an error of the restoration") {
  start();
  auto other = record<restored, failure>();
  const auto second = spawn(checkpoint_writer, options, other.as<commit_sink_actor>());
  tell(second, restore{2, {}, stored});
  REQUIRE(other.count<failure>() == 1);
  CHECK(other.last<failure>().what.category == errc::failed_precondition);
  CHECK(other.last<failure>().what.source == "checkpoint_writer");
  CHECK(other.last<failure>().attempt == 2);
  SUBCASE("and a snapshot sent to it fails") {
    auto failed = record<save_failed, failure>();
    const auto third = spawn(checkpoint_writer, options, failed.as<commit_sink_actor>());
    tell(third, stand_in{1, stored});
    for (const auto& part : {chief_part(2), infeed_part(2), replica_part(2)})
      tell_as(lender.handle(), third, part);
    CHECK(failed.count<failure>() == 1);
    CHECK(failed.count<save_failed>() == 1);
    CHECK(lender.count<released>() == 1);
  }
}

TEST_CASE_FIXTURE(writer_alone,
                  "a checkpoint of another model is refused with every variable that differs, and both shapes") {
  start();
  save(3);
  anon_send_exit(writer, caf::exit_reason::user_shutdown);
  run();
  const auto other = model_store(6, false);
  stored.groups = {stored_of(other)};
  start();
  REQUIRE(chief.count<failure>() == 1);
  const auto& e = chief.last<failure>().what;
  CHECK(e.category == errc::failed_precondition);
  CHECK(has(e.message, "/m/model.ckpt-3"));
  CHECK(has(e.message, "4 variables differ"));
  CHECK(has(e.message, "dense/kernel differs: the model wants float32 [6, 2], the checkpoint has float32 [4, 2]"));
  CHECK(has(e.message, "dense/kernel/Momentum differs"));
  CHECK(has(e.message, "dense/bias is unexpected: the checkpoint has float32 [2]"));
}

TEST_CASE_FIXTURE(writer_alone, "slices of two replicas are stored as whole variables, so their number may change") {
  parameters = model_store(1000);
  stored.groups = {stored_of(parameters)};
  stored.parts = {{2_node, "replica/0"}, {3_node, "replica/1"}};
  start();
  scribble(0.25f);
  const auto saved = all_values();
  auto second = record<released>();
  tell_as(lender.handle(), writer, replica_part(5, 0, 2));
  CHECK(chief.count<committed>() == 0);
  tell_as(second.handle(), writer, replica_part(5, 1, 2));
  REQUIRE(chief.count<committed>() == 1);
  CHECK(lender.count<released>() == 1);
  CHECK(second.count<released>() == 1);
  anon_send_exit(writer, caf::exit_reason::user_shutdown);
  run();
  scribble(9);
  start();
  CHECK(chief.last<restored>().id.step == 5);
  CHECK(all_values() == saved);
}

TEST_CASE_FIXTURE(
    writer_alone,
    "a grown state at the step of the last commit is committed as another checkpoint, and both are whole") {
  start();
  scribble(0.5f);
  const auto small = all_values();
  save(10);
  anon_send_exit(writer, caf::exit_reason::user_shutdown);
  run();
  stored.iteration.number = 1;
  start();
  CHECK(chief.last<restored>().id == checkpoint_id{10});
  CHECK(all_values() == small);
  scribble(70);
  const auto large = all_values();
  save(10);
  REQUIRE(chief.count<committed>() == 2);
  CHECK(chief.last<committed>().id == checkpoint_id{10, 1});
  CHECK(chief.last<committed>().prefix == "/m/model.ckpt-10-iteration-1");
  CHECK_MESSAGE(chief.last<committed>().warnings.empty(), "it is not the old one with other values");
  CHECK(lender.count<released>() == 2);
  CHECK(listed() == std::vector<checkpoint_id>{{10}, {10, 1}});
  save(12);
  CHECK(listed() == std::vector<checkpoint_id>{{10}, {10, 1}, {12, 1}});

  const auto kernel = [&](checkpoint_id id) {
    const auto found = (*checkpoint_store::open(disk, "/m", {.read_only = true}))->restore(id);
    REQUIRE(found);
    for (const auto& t : found->content.tensors)
      if (t.name == "dense/kernel")
        return t.value;
    return tensor{};
  };
  const auto entry = static_cast<size_t>(parameters->layout().find("dense/kernel"));
  CHECK(kernel({10}) == small[entry]);
  CHECK(kernel({10, 1}) == large[entry]);
}

TEST_CASE_FIXTURE(writer_alone, "a checkpoint of a later iteration than the job's is refused, and nothing is loaded") {
  stored.iteration.number = 2;
  start();
  save(10);
  anon_send_exit(writer, caf::exit_reason::user_shutdown);
  run();
  stored.iteration.number = 1;
  start();
  REQUIRE(chief.count<failure>() == 1);
  CHECK(chief.last<failure>().what.category == errc::failed_precondition);
  CHECK(has(chief.last<failure>().what.message,
            "/m/model.ckpt-10-iteration-2 is of iteration 2 of a search, and this job of iteration 1"));
}

TEST_CASE_FIXTURE(writer_alone, "a kill at any call while a grown state is saved leaves the old one or the new one") {
  bool reported = false;
  int64_t calls = 0;
  for (; !reported; ++calls) {
    CAPTURE(calls);
    disk = memory_disk::make();
    files = faulty_file_system::around(disk);
    options.files = files;
    options.store = {.keep_checkpoint_max = 1};
    stored.iteration.number = 0;
    start();
    save(10);
    anon_send_exit(writer, caf::exit_reason::user_shutdown);
    run();
    stored.iteration.number = 1;
    start();
    files->fail_after(calls);
    const auto before = chief.count<committed>();
    save(10);
    reported = chief.count<committed>() > before;
    anon_send_exit(writer, caf::exit_reason::user_shutdown);
    run();
    disk->crash();
    const auto left = (*checkpoint_store::open(disk, "/m", {.read_only = true}))->restore_newest();
    REQUIRE_MESSAGE(left, (left ? "" : to_text(left.error())));
    CHECK(left->warnings.empty());
    CHECK((left->content.id == checkpoint_id{10, 1} || (left->content.id == checkpoint_id{10} && !reported)));
  }
  CHECK(calls > 10);
}

TEST_CASE_FIXTURE(writer_alone, "an iteration's lease is its own") {
  options.store.keep_checkpoint_max = 1;
  options.lease_commits = true;
  stored.iteration.number = 2;
  start();
  const auto kept = [&] { return disk->info("/m/model.ckpt-1-iteration-2.manifest.json").has_value(); };
  save(1);
  save(3);
  CHECK(kept());
  tell(writer, unlease{{1}});
  CHECK(kept());
  tell(writer, unlease{{1, 2}});
  CHECK_FALSE(kept());
}

TEST_CASE_FIXTURE(writer_alone, "a commit under a lease is kept until it is given back") {
  options.store.keep_checkpoint_max = 1;
  options.lease_commits = true;
  start();
  const auto kept = [&](int64_t step) {
    return disk->info("/m/model.ckpt-" + std::to_string(step) + ".manifest.json").has_value();
  };
  save(1);
  save(2);
  CHECK(kept(1));
  tell(writer, unlease{{1}});
  CHECK_FALSE(kept(1));
  CHECK(kept(2));
}

TEST_CASE_FIXTURE(
    writer_alone,
    "a commit bears the time of day: where the launcher put the actor clock's zero, and what has passed since") {
  options.wall_offset = 1.7e9;
  start();
  save(1);
  advance_time(std::chrono::minutes{90});
  save(2);
  auto store = checkpoint_store::open(disk, "/m", {.read_only = true});
  const double first = (*store)->inspect({1})->wall_time, second = (*store)->inspect({2})->wall_time;
  CHECK(first >= 1.7e9);
  CHECK(first < 1.7e9 + 3600);
  CHECK(second - first == doctest::Approx(5400));
}

TEST_CASE_FIXTURE(writer_alone, "without a directory the store gets initial values") {
  options.directory.clear();
  start();
  CHECK(chief.order() == order_of<restored>());
  CHECK_FALSE(chief.last<restored>().found);
  CHECK(files->calls() == 0);
}

}  // namespace troupe::test
