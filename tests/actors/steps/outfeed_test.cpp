#include "support/outfeed_fixture.hpp"

namespace troupe::test {

TEST_CASE_FIXTURE(outfeed_alone, "progress is the state reached, with the loss since the last one") {
  start(1, 10);
  report(0, 10, {1, 2, 6}, {}, 0.3);
  report(0, 13, {4});
  REQUIRE(chief.count<progress>() == 2);
  const auto& p = chief.all<progress>()[0];
  CHECK(p.step == 13);
  CHECK(p.block_steps == 3);
  CHECK(p.seconds_per_step == doctest::Approx(0.1));
  CHECK(p.loss.step == 13);
  CHECK(p.loss.last == 6);
  CHECK(p.loss.mean == 3);
  CHECK(chief.last<progress>().step == 14);
  CHECK(chief.last<progress>().loss.mean == 4);
}

TEST_CASE_FIXTURE(outfeed_alone, "a step has been reached when all replicas have reported it") {
  start(3);
  report(0, 0, {1, 1, 1});
  report(2, 0, {4}, {}, 0.5);
  CHECK(chief.count<progress>() == 0);
  report(1, 0, {1, 1});
  REQUIRE(chief.count<progress>() == 1);
  CHECK(chief.last<progress>().step == 1);
  CHECK(chief.last<progress>().loss.last == 2);
  CHECK_MESSAGE(chief.last<progress>().seconds_per_step == 0.5, "the slowest replica's");
  report(2, 1, {4, 4, 4});
  CHECK(chief.last<progress>().step == 2);
  report(1, 2, {1});
  CHECK(chief.last<progress>().step == 3);
  report(0, 3, {1});
  CHECK(chief.count<progress>() == 3);
}

TEST_CASE_FIXTURE(outfeed_alone, "a repeated report changes nothing") {
  start();
  report(0, 0, {1, 2}, {{2, {tensor::scalar(5)}}});
  report(0, 0, {1, 2}, {{2, {tensor::scalar(5)}}});
  report(0, 0, {1}, {});
  CHECK(chief.count<progress>() == 1);
  report(0, 2, {3});
  CHECK(chief.last<progress>().step == 3);
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "losses are logged on exact multiples, however reports are cut, averaged since the last point") {
  start(1, 2);
  report(0, 2, {1, 3, 5});
  report(0, 5, {5, 5});
  report(0, 7, {9, 1, 1, 1, 2, 0, 0, 0, 4});
  std::vector<loss_point> logged;
  for (const auto& p : chief.all<progress>())
    logged.insert(logged.end(), p.logged.begin(), p.logged.end());
  REQUIRE(logged.size() == 4);
  CHECK(logged[0].step == 4);
  CHECK(logged[0].mean == 2);
  CHECK(logged[0].last == 3);
  CHECK(logged[1].step == 8);
  CHECK(logged[1].mean == 6);
  CHECK(logged[2].step == 12);
  CHECK(logged[2].mean == 1.25);
  CHECK(logged[3].step == 16);
  CHECK(logged[3].mean == 1);
}

TEST_CASE_FIXTURE(outfeed_alone, "nothing is logged where nobody wants it") {
  options.log_every = 0;
  start();
  report(0, 0, {1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(chief.last<progress>().logged.empty());
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "watched values are passed on when all replicas have reached their state, as replica 0 saw them") {
  start(2);
  report(0, 0, {1, 1}, {{2, {tensor::scalar(7.0f)}}});
  report(1, 0, {1}, {});
  REQUIRE(chief.count<progress>() == 1);
  CHECK(chief.last<progress>().watched.empty());
  report(1, 1, {1}, {{2, {tensor::scalar(8.0f)}}});
  REQUIRE(chief.last<progress>().watched.size() == 1);
  CHECK(chief.last<progress>().watched[0].step == 2);
  CHECK(chief.last<progress>().watched[0].values.at(0) == tensor::scalar(7.0f));
}

TEST_CASE_FIXTURE(outfeed_alone, "values of a state that was reached before are passed on alone") {
  start(1, 5);
  report(0, 5, {}, {{5, {}}});
  REQUIRE(chief.count<progress>() == 1);
  CHECK(chief.last<progress>().step == 5);
  CHECK(chief.last<progress>().watched.size() == 1);
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "a state that is watched after it was reached has the mean loss over replicas and shards, as one "
                  "that was watched before") {
  options.groups[0].outputs = {{.what = program_output::kind::loss}};
  start(2);
  report(0, 0, {1, 3});
  report(1, 0, {1, 5});
  REQUIRE(chief.last<progress>().step == 2);
  report(0, 2, {}, {{2, {tensor::scalar(9.0f)}}});
  REQUIRE(chief.last<progress>().watched.size() == 1);
  CHECK(chief.last<progress>().watched[0].values.at(0) == tensor::scalar(4.0f));
  report(0, 2, {6}, {{3, {tensor::scalar(9.0f)}}});
  report(1, 2, {8});
  REQUIRE(chief.last<progress>().watched.size() == 1);
  CHECK(chief.last<progress>().watched[0].values.at(0) == tensor::scalar(7.0f));
}

TEST_CASE_FIXTURE(outfeed_alone, "the end is told after every report, when all replicas have come to it") {
  start(2);
  report(0, 0, {1, 1});
  end(0, 2);
  report(1, 0, {1});
  CHECK(chief.count<stream_end>() == 0);
  report(1, 1, {1});
  end(1, 2);
  CHECK(chief.order() == order_of<progress, progress, stream_end>());
  CHECK(chief.last<stream_end>().step == 2);
  CHECK(chief.last<stream_end>().cause.category == errc::out_of_range);
}

TEST_CASE_FIXTURE(outfeed_alone, "a flush is answered after all that is complete, and the end that one replica knows") {
  start(2);
  report(0, 0, {1, 1});
  end(0, 2);
  report(1, 0, {1});
  tell_as(chief.handle(), drain, flush{3});
  CHECK(chief.order() == order_of<progress, stream_end, flushed>());
  CHECK(chief.last<flushed>().number == 3);
  CHECK(chief.last<progress>().step == 1);
}

TEST_CASE_FIXTURE(outfeed_alone, "a flush before the first attempt is answered too") {
  drain = spawn(outfeed, options, chief.as<progress_sink_actor>());
  report(0, 0, {1});
  tell_as(chief.handle(), drain, flush{1});
  CHECK(chief.order() == order_of<flushed>());
}

TEST_CASE_FIXTURE(outfeed_alone, "reports of another attempt are dropped, and a new one forgets the old") {
  start(2);
  report(0, 0, {1, 1});
  tell(drain, begin{3, 8, {}});
  tell(drain, begin{2, 0, {}});
  report(1, 0, {1, 1});
  end(0, 2);
  end(1, 2);
  CHECK(chief.order().empty());
  for (int32_t r : {0, 1})
    tell(drain, step_report{3, node_id{r}, 8, {6}, {}, {}, 0});
  REQUIRE(chief.count<progress>() == 1);
  CHECK(chief.last<progress>().step == 9);
  CHECK(chief.last<progress>().attempt == 3);
  CHECK(chief.last<progress>().loss.mean == 6);
}

TEST_CASE_FIXTURE(outfeed_alone,
                  "reports and ends of replicas that began the next attempt earlier are kept until it begins here") {
  start(2);
  report(0, 0, {1});
  const auto report_of = [](int32_t replica, double loss) {
    return step_report{2, node_id{replica}, 10, {loss}, {}, {}, 0};
  };
  tell(drain, report_of(0, 4));
  tell(drain, stream_end{2, 0_node, 11, {errc::out_of_range, "the data ended"}});
  tell(drain, report_of(1, 6));
  CHECK(chief.order().empty());
  tell(drain, begin{2, 10, {}});
  REQUIRE(chief.count<progress>() == 1);
  CHECK(chief.last<progress>().attempt == 2);
  CHECK(chief.last<progress>().step == 11);
  CHECK(chief.last<progress>().loss.mean == 5);
  CHECK(chief.count<stream_end>() == 0);
  tell(drain, stream_end{2, 1_node, 11, {errc::out_of_range, "the data ended"}});
  CHECK(chief.count<stream_end>() == 1);
}

TEST_CASE_FIXTURE(outfeed_alone, "a record has the loss of its step, the rate, the speed and the model's own values") {
  options.groups[0].summaries = {{{summary_value::kind::scalar, "toy", {}}}, gradient_descent{.rate = 0.5f}};
  start(2);
  const auto recorded = [&](int32_t replica, int64_t step, std::vector<double> losses, float value) {
    const int64_t at = step + static_cast<int64_t>(losses.size());
    tell(drain,
         step_report{1, node_id{replica}, step, std::move(losses), {}, {{at, {{{0, tensor::scalar(value)}}}}}, 0});
  };
  recorded(0, 0, {1, 3}, 5);
  CHECK(writer.count<troupe::record>() == 0);
  recorded(1, 0, {1, 3}, 7);
  REQUIRE(writer.count<troupe::record>() == 1);
  const auto first = writer.last<troupe::record>();
  CHECK(first.step == 2);
  CHECK(first.number == 0);
  REQUIRE_MESSAGE(first.values.size() == 3, "no speed yet");
  CHECK(first.values[0].scalar == 3);
  CHECK(first.values[1].scalar == 0.5);
  CHECK(first.values[2].tag == "toy");
  CHECK(first.values[2].scalar == 6);
  advance_time(std::chrono::seconds{4});
  recorded(0, 2, {9}, 1);
  recorded(1, 2, {9}, 1);
  const auto& second = writer.last<troupe::record>();
  CHECK(second.values[0].scalar == 9);
  CHECK(second.values.back().tag == "global_step/sec");
  CHECK(second.values.back().scalar == doctest::Approx(0.25));
}

TEST_CASE_FIXTURE(
    outfeed_alone,
    "[EST-61] beyond ten records without room nothing is passed on, the end included, until there is some") {
  start();
  for (int64_t s = 0; s < 12; ++s)
    tell(drain, step_report{1, 0_node, s, {1}, {}, {{s + 1, {}}}, 0});
  end(0, 12);
  CHECK(writer.count<troupe::record>() == 10);
  CHECK(chief.last<progress>().step == 10);
  CHECK(chief.count<stream_end>() == 0);
  SUBCASE("room that was there already opens nothing") { tell(drain, record_credit{1, 10}); }
  SUBCASE("room of another attempt opens nothing") { tell(drain, record_credit{2, 50}); }
  CHECK(writer.count<troupe::record>() == 10);
  tell(drain, record_credit{1, 11});
  CHECK(chief.last<progress>().step == 11);
  tell(drain, record_credit{1, 20});
  CHECK(chief.last<progress>().step == 12);
  CHECK(writer.last<troupe::record>().number == 11);
  CHECK(chief.count<stream_end>() == 1);
}

TEST_CASE_FIXTURE(outfeed_alone, "a flush passes on even what there is no room for") {
  options.records_ahead = 1;
  start();
  for (int64_t s = 0; s < 3; ++s)
    tell(drain, step_report{1, 0_node, s, {1}, {}, {{s + 1, {}}}, 0});
  CHECK(chief.last<progress>().step == 1);
  tell_as(chief.handle(), drain, flush{1});
  CHECK(chief.last<progress>().step == 3);
  CHECK(writer.count<troupe::record>() == 3);
}

}  // namespace troupe::test
