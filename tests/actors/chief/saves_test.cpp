#include "actors/chief/saves.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {
using steps = std::vector<int64_t>;
committed commit_of(int64_t step) { return {1, {step}, "/m/model.ckpt-" + std::to_string(step), {}}; }
}  // namespace

TEST_CASE("a save is on its way from its mark until it is committed or has failed") {
  saves s;
  s.place(10, false);
  s.place(20, false);
  CHECK(s.steps() == steps{10, 20});
  s.committed(commit_of(10));
  CHECK(s.steps() == steps{20});
  s.failed(20);
  CHECK_FALSE(s.any());
  CHECK(s.is_settled({10}));
  CHECK(s.is_settled({20}));
  CHECK_FALSE(s.is_settled({30}));
}

TEST_CASE(
    "a commit is published when the reports below it are in, the oldest first, and only then is it the newest known") {
  saves s;
  s.committed(commit_of(20));
  s.committed(commit_of(10));
  CHECK_FALSE(s.take_published(9));
  CHECK_FALSE(s.last_commit());
  CHECK(s.any_held());
  CHECK(s.take_published(25)->id.step == 10);
  CHECK(s.last_commit() == checkpoint_id{10});
  CHECK(s.take_published(25)->id.step == 20);
  CHECK(s.prefix() == "/m/model.ckpt-20");
  CHECK_FALSE(s.any_held());
}

TEST_CASE("a save at the step of the restored checkpoint is settled in its iteration, and not in a later one") {
  saves s;
  s.start_from({1, true, {20, 1}, "/m/model.ckpt-20-iteration-1", {}, {}, {}});
  CHECK(s.is_settled({20, 1}));
  CHECK_FALSE(s.is_settled({20, 2}));
  s.place(20, false);
  s.committed({1, {20, 2}, "/m/model.ckpt-20-iteration-2", {}});
  CHECK(s.is_settled({20, 2}));
  CHECK(s.take_published(20)->id == checkpoint_id{20, 2});
  CHECK(s.last_commit() == checkpoint_id{20, 2});
  CHECK(s.prefix() == "/m/model.ckpt-20-iteration-2");
}

TEST_CASE("a commit whose reports did not come counts at the end") {
  saves s;
  s.committed(commit_of(20));
  s.count_held();
  CHECK(s.last_commit() == checkpoint_id{20});
  CHECK(s.prefix() == "/m/model.ckpt-20");
}

TEST_CASE("books that wait for records are taken once the reports are in, each once") {
  saves s;
  s.place(10, true);
  s.place(20, true);
  s.place(30, false);
  CHECK(s.take_books_up_to(15) == steps{10});
  CHECK(s.take_books_up_to(15).empty());
  CHECK(s.take_books_up_to(40) == steps{20});
  s.books_lost();
  CHECK(s.take_books_up_to(40) == steps{10, 20, 30});
}

TEST_CASE("beyond the end nothing is awaited") {
  saves s;
  s.place(10, false);
  s.place(20, true);
  s.cancel_above(15);
  CHECK(s.steps() == steps{10});
  CHECK(s.take_books_up_to(40).empty());
}

TEST_CASE("the oldest save is waited for when its state is reached, or when the job fails") {
  saves s;
  CHECK_FALSE(s.is_awaited(100, true));
  s.place(10, false);
  CHECK_FALSE(s.is_awaited(9, false));
  CHECK(s.is_awaited(10, false));
  CHECK(s.is_awaited(9, true));
}

TEST_CASE("a save that is asked for while one is on its way is made afterwards, once for all who asked") {
  saves s;
  CHECK(s.may_save_now());
  CHECK_FALSE(s.take_wish());
  s.place(10, false);
  CHECK_FALSE(s.may_save_now());
  CHECK_FALSE(s.may_save_now());
  CHECK(s.take_wish());
  CHECK_FALSE(s.take_wish());
}

TEST_CASE("a save by time that is skipped is news once for each save that it waits for") {
  saves s;
  CHECK_FALSE(s.is_first_skip());
  s.place(10, false);
  CHECK(s.is_first_skip());
  CHECK_FALSE(s.is_first_skip());
  s.committed(commit_of(10));
  s.place(20, false);
  CHECK(s.is_first_skip());
}

TEST_CASE(
    "a save counts until the reports of its steps are in, also one that is committed before: a slow outfeed bounds how "
    "many are placed") {
  saves s;
  s.place(10, false);
  s.place(20, false);
  s.committed(commit_of(10));
  s.committed(commit_of(20));
  CHECK_FALSE(s.any());
  CHECK(s.unreported() == 2);
  CHECK_FALSE(s.take_published(9));
  CHECK(s.take_published(19));
  CHECK(s.unreported() == 1);
}

TEST_CASE("the writer is asked once a wait which part is missing") {
  saves s;
  CHECK_FALSE(s.may_inquire());
  s.place(10, false);
  CHECK(s.may_inquire());
  CHECK_FALSE(s.may_inquire());
  s.begin_wait();
  CHECK(s.may_inquire());
}

}  // namespace troupe::test
