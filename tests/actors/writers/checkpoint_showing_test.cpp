// Shown states: parts and the request `show_state` come in any order, and only evaluators that take part have to
// answer.
#include "support/writer_fixture.hpp"

namespace troupe::test {

namespace {

struct showing_writer : writer_alone {
  /// Evaluators that record parts, and take one only when a test says so.
  recorder<state_part> patient = record<state_part>();
  recorder<state_part> hung = record<state_part>();

  /// Makes a store of 320 bytes of variables and 320 of momentum, which is sent in parts of 32 bytes.
  showing_writer() {
    parameters = model_store(40, false);
    stored.groups = {stored_of(parameters)};
    options.part_bytes_max = 32;
    start();
    scribble(1);
  }
  void show(int64_t step, std::vector<const recorder<state_part>*> readers) {
    show_state wish{1, step, {{2_node}}, {}};
    for (const auto* reader : readers)
      wish.readers.push_back({{}, reader->as<state_owner_actor>()});
    tell(writer, wish);
  }
  void lend_shown(int64_t step) {
    auto part = replica_part(step);
    part.shown = true;
    tell_as(lender.handle(), writer, part);
  }
  void take(const state_part& part) { tell(writer, state_taken{part.attempt, part.number}); }
  /// Takes each part as it arrives, and returns the elements of all.
  std::vector<float> take_all(recorder<state_part>& reader) {
    std::vector<float> all;
    for (size_t i = 0; i < reader.all<state_part>().size(); ++i) {
      const auto part = reader.all<state_part>()[i];
      for (const auto& piece : part.pieces) {
        CHECK(piece.name == "dense/kernel");
        CHECK(piece.first == static_cast<int64_t>(all.size()));
        const auto elements = piece.elements.as<float>();
        all.insert(all.end(), elements.begin(), elements.end());
      }
      take(part);
    }
    return all;
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    showing_writer,
    "the variables of a state, and not its slots, are shown once the parts and the wish are there, in either order") {
  SUBCASE("parts first") {
    lend_shown(3);
    CHECK(patient.count<state_part>() == 0);
    show(3, {&patient});
  }
  SUBCASE("the wish first") {
    show(3, {&patient});
    CHECK(patient.count<state_part>() == 0);
    lend_shown(3);
  }
  const auto shown = take_all(patient);
  const auto kernel = parameters->view(0, parameters->layout().find("dense/kernel")).as<float>();
  CHECK(shown == std::vector<float>(kernel.begin(), kernel.end()));
  CHECK(patient.count<state_part>() == 10);
  REQUIRE(chief.count<state_shown>() == 1);
  CHECK(chief.last<state_shown>().step == 3);
  CHECK(lender.count<released>() == 1);
  CHECK(listed().empty());
}

TEST_CASE_FIXTURE(showing_writer, "the memory of a state is lent until the last reader has taken the last part") {
  lend_shown(3);
  show(3, {&patient, &hung});
  CHECK(take_all(patient).size() < 80);  // Its credit ends while the other takes nothing.
  CHECK(lender.count<released>() == 0);
  CHECK(chief.count<state_shown>() == 0);
  for (size_t i = 0; i < hung.all<state_part>().size(); ++i) {
    const auto part = hung.all<state_part>()[i];
    take(part);
    take_all(patient);
  }
  CHECK(lender.count<released>() == 1);
  CHECK(chief.count<state_shown>() == 1);
}

TEST_CASE_FIXTURE(showing_writer, "the others get the rest where a reader is given up") {
  lend_shown(3);
  show(3, {&patient, &hung});
  take_all(patient);
  CHECK(chief.count<state_shown>() == 0);
  const auto sent_to_hung = hung.count<state_part>();
  show(3, {&patient});
  CHECK(take_all(patient).size() == 80);
  CHECK(hung.count<state_part>() == sent_to_hung);
  CHECK(chief.count<state_shown>() == 1);
  CHECK(lender.count<released>() == 1);
}

TEST_CASE_FIXTURE(showing_writer, "a late answer to a part of one state is no credit for a part of the next") {
  lend_shown(3);
  show(3, {&hung});
  const auto late = hung.all<state_part>();
  REQUIRE(late.size() == 3);
  show(3, {});
  REQUIRE(chief.count<state_shown>() == 1);
  lend_shown(5);
  show(5, {&hung});
  REQUIRE(hung.count<state_part>() == 6);
  for (const auto& part : late)
    take(part);
  CHECK(hung.count<state_part>() == 6);
  CHECK(chief.count<state_shown>() == 1);
  take(hung.all<state_part>()[3]);
  CHECK(hung.count<state_part>() == 7);
}

TEST_CASE_FIXTURE(showing_writer, "what is abandoned is not shown, and its memory goes back") {
  lend_shown(3);
  tell(writer, abandon{1, 2});
  CHECK(lender.count<released>() == 1);
  show(3, {&patient});
  CHECK(patient.count<state_part>() == 0);
}

}  // namespace troupe::test
