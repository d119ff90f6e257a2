// A replica that restores its group's store before an attempt begins.
#include "support/replica_fixture.hpp"

namespace troupe::test {

namespace {

struct restoring_replica : replica_alone {
  recorder<state_taken> writer = record<state_taken>();
  recorder<halted> chief = record<halted>();

  state_part part(int32_t attempt, int64_t first, const std::vector<float>& values) {
    const auto run = tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>{values});
    return {attempt, 7, {{"toy/state", {memory->width}, first, true, run}}};
  }
  void write(const state_part& x) { tell_as(writer.handle(), worker, x); }
  std::vector<float> arena() const { return {memory->arena[0].get(), memory->arena[0].get() + memory->width}; }
};

}  // namespace

TEST_CASE_FIXTURE(restoring_replica,
                  "a part of the next attempt is written where it belongs and answered, initial values as well") {
  worker = spawn(replica, options);
  write({1, 6, {}, true, 3});
  CHECK(arena() == std::vector<float>{3, 3, 3, 3});
  CHECK(writer.last<state_taken>().attempt == 1);
  CHECK(writer.last<state_taken>().number == 6);
  write(part(1, 1, {8, 9}));
  CHECK(arena() == std::vector<float>{3, 8, 9, 3});
  CHECK(writer.last<state_taken>().number == 7);
}

TEST_CASE_FIXTURE(restoring_replica, "a part of an attempt that has begun is neither written nor answered") {
  start();
  write(part(1, 0, {5}));
  write(part(0, 0, {5}));
  CHECK(arena() == std::vector<float>{1, 1, 1, 1});
  CHECK(writer.count<state_taken>() == 0);
}

TEST_CASE_FIXTURE(restoring_replica,
                  "a late part of an attempt that was halted while it was restored does not write into the next one") {
  start();
  tell_as(chief.handle(), worker, halt{1});
  write(part(2, 0, {2, 2}));
  CHECK(writer.count<state_taken>() == 1);
  tell_as(chief.handle(), worker, halt{2});
  CHECK(chief.last<halted>().attempt == 2);
  write(part(2, 2, {2, 2}));
  CHECK(writer.count<state_taken>() == 1);
  write(part(3, 0, {3, 3, 3, 3}));
  write(part(2, 0, {2, 2}));
  CHECK(arena() == std::vector<float>{3, 3, 3, 3});
  CHECK(writer.count<state_taken>() == 2);
}

TEST_CASE_FIXTURE(restoring_replica, "a part that the model has no place for ends the replica with the reason") {
  start();
  write({2, 0, {{"other", {1}, 0, true, tensor::of<float>({1}, {1})}}});
  CHECK(writer.count<state_taken>() == 0);
  write(part(2, 0, {5}));
  CHECK_MESSAGE(writer.count<state_taken>() == 0, "it has ended");
}

}  // namespace troupe::test
