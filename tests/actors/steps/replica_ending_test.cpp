// A replica that is stopped or halted, or whose outfeed has ended.
#include "support/replica_fixture.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(replica_alone,
                  "a replica that is told to stop ends at the step at hand, whether its batch has come or not, and its "
                  "state is saved") {
  start();
  grant(100, {{50, mark_snapshot}});
  feed(0, 3);
  tell(worker, stop{1});
  CHECK(parts() == steps{3});
  REQUIRE(out.count<stream_end>() == 1);
  CHECK(out.last<stream_end>().step == 3);
  CHECK(out.last<stream_end>().cause.category == errc::cancelled);
  feed(3, 2);
  CHECK(reports() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}});
}

TEST_CASE_FIXTURE(replica_alone, "at the horizon there is nothing to stop") {
  start();
  grant(3, {{3, mark_snapshot}});
  feed(0, 3);
  tell(worker, stop{1});
  CHECK(out.count<stream_end>() == 0);
  CHECK(parts() == steps{3});
}

TEST_CASE_FIXTURE(replica_alone, "data that end at the step of a stop are the end of the data") {
  start();
  grant(100);
  feed(0, 3);
  end_data(3);
  tell(worker, stop{1});
  REQUIRE(out.count<stream_end>() == 1);
  CHECK(out.last<stream_end>().cause.category == errc::out_of_range);
}

TEST_CASE_FIXTURE(replica_alone, "a replica that is halted computes no further and says that no part of it comes") {
  start();
  grant(100, {{5, mark_snapshot}});
  feed(0, 3);
  tell(worker, halt{1});
  feed(3, 3);
  CHECK(reports() == std::vector<std::pair<int64_t, int64_t>>{{0, 3}});
  CHECK(parts().empty());
  REQUIRE(out.count<gone>() == 1);
  CHECK(out.last<gone>().part == options.id);
}

TEST_CASE_FIXTURE(replica_alone, "an actor that replaces the outfeed receives the end once more") {
  recorder<step_report, stream_end> other = record<step_report, stream_end>();
  start();
  grant(100);
  feed(0, 2);
  SUBCASE("which was before") {
    end_data(2);
    CHECK(out.count<stream_end>() == 1);
    tell(worker, connect_reports{other.as<report_sink_actor>()});
  }
  SUBCASE("which comes after, with the reports before it") {
    tell(worker, connect_reports{other.as<report_sink_actor>()});
    feed(2, 1);
    end_data(3);
    CHECK(other.count<step_report>() == 1);
  }
  CHECK(other.count<stream_end>() == 1);
}

TEST_CASE_FIXTURE(replica_alone, "the part of a mark is with the writer before its step is reported") {
  start();
  grant(4, {{2, mark_snapshot}});
  feed(0, 2);
  CHECK(out.order() == order_of<snapshot_part, step_report>());
}

}  // namespace troupe::test
