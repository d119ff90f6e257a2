#include <troupe/job_report.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace troupe::test {

namespace {

using waits = actor_report::waits;

actor_report actor_of(std::string name, double busy, waits waiting) {
  const auto role = name.substr(0, name.find('/'));
  return {.name = std::move(name), .role = role, .busy_seconds = busy, .waiting_seconds = waiting};
}

job_report job_of(std::vector<actor_report> actors) { return {10, 100, std::move(actors)}; }

}  // namespace

TEST_CASE("a job is bound by what its replicas lack most, and the report names who could give it") {
  const auto reader = actor_of("infeed/0", 9.7, {.room = 0.3});
  CHECK(bound_by(job_of({reader, actor_of("replica/0", 3.9, {.input = 6.1})}))
        == "The data bound the job: replicas wait for batches 61 % of the time, and infeed/0 is at work 97 % of it.");
  CHECK(bound_by(job_of({reader, actor_of("replica/0", 9.1, {.input = 0.9})}))
        == "Computation bounds the job: replicas are at work 91 % of the time.");
  CHECK(bound_by(job_of({actor_of("replica/0", 2, {.room = 8}), actor_of("outfeed", 1, {.room = 9}),
                         actor_of("summary_writer", 9, {.input = 1})}))
        == "A receiver bounds the job: replicas wait for room 80 % of the time, and summary_writer is at work 90 % of "
           "it.");
  CHECK(bound_by(job_of({actor_of("replica/0", 2, {.arena = 8}), actor_of("checkpoint_writer", 5, {.input = 5})}))
        == "Saves bound the job: replicas wait for memory that snapshots hold 80 % of the time, and checkpoint_writer "
           "is at work 50 % of it.");
  CHECK(bound_by(job_of({actor_of("replica/0", 2, {.horizon = 8}), actor_of("callbacks", 8, {.input = 2})}))
        == "Nothing that replicas lack: they wait for a grant of steps 80 % of the time, and callbacks is at work 80 % "
           "of it.");
}

TEST_CASE("a replica for which the others wait is told from a reduction that is slow for all") {
  CHECK(bound_by(job_of({actor_of("replica/0", 3, {.peers = 7}), actor_of("replica/1", 9, {.peers = 1}),
                         actor_of("replica/2", 3, {.peers = 7})}))
        == "One replica bounds the job: the others wait for replica/1 70 % of the time, and it is at work 90 % of it.");
  CHECK(bound_by(job_of({actor_of("replica/0", 3, {.peers = 7}), actor_of("replica/1", 3, {.input = 7}),
                         actor_of("infeed/1", 9, {.room = 1})}))
        == "The data bound the job: replica/1 waits for batches 70 % of the time, and infeed/1 is at work 90 % of it.");
  CHECK(bound_by(job_of({actor_of("replica/0", 4, {.peers = 6}), actor_of("replica/1", 4, {.peers = 6}),
                         actor_of("reducer", 5, {.input = 5})}))
        == "The reduction bounds the job: replicas wait for each other 60 % of the time, and reducer is at work 50 % "
           "of it.");
}

TEST_CASE("who works for an evaluation does not bound the job, and is told by its driver") {
  auto other = actor_of("evaluator/replica/0", 1, {.input = 9});
  other.role = "replica";
  other.driver = "evaluator";
  auto silent = actor_of("evaluator/infeed/0", 0, {});
  silent.role = "infeed";
  silent.driver = "evaluator";
  silent.answered = false;
  const auto all = job_of(
      {actor_of("infeed/0", 9, {.room = 1}), actor_of("replica/0", 4, {.input = 6}), other, silent});
  CHECK(bound_by(all)
        == "The data bound the job: replicas wait for batches 60 % of the time, and infeed/0 is at work 90 % of it.");
  const auto json = nlohmann::json::parse(to_json(all));
  CHECK(json.at("actors").at(2).at("driver") == "evaluator");
  CHECK_FALSE(json.at("actors").at(1).contains("driver"));
}

TEST_CASE("replicas that have not answered, or are not there, are said to be so") {
  auto silent = actor_of("replica/0", 0, {});
  silent.answered = false;
  CHECK(bound_by(job_of({silent})).starts_with("No replica has said what it does"));
  silent.role = "infeed";
  silent.name = "infeed/0";
  CHECK(bound_by(job_of({silent, actor_of("replica/0", 2, {.input = 8})}))
        == "The data bound the job: replicas wait for batches 80 % of the time, and infeed/0 does not answer: it is in "
           "the midst of its work.");
  CHECK(bound_by({}).starts_with("No replica has said what it does"));
  CHECK(bound_by(job_of({{.name = "follower", .role = "follower"}})).starts_with("This process evaluates what"));
  CHECK(to_text(job_of({silent})).find("infeed/0  in the midst of a long step") != std::string::npos);
  CHECK(to_prometheus(job_of({silent})).find("infeed/0") == std::string::npos);
}

TEST_CASE("the difference of two reports has what came between, and all of an actor that was started meanwhile") {
  auto first = job_of({actor_of("replica/0", 2, {.input = 1}), actor_of("infeed/0", 5, {})});
  first.actors[0].messages = 10;
  auto second = job_of({actor_of("replica/0", 2.5, {.input = 4}), actor_of("infeed/0", 1, {})});
  second.seconds = 14;
  second.actors[0].messages = 15;
  second.actors[0].queued = 3;
  second.actors[0].mailbox_max = 6;
  const auto part = since(second, first);
  CHECK(part.seconds == 4);
  CHECK(part.actors[0].busy_seconds == 0.5);
  CHECK(part.actors[0].waiting_seconds == waits{.input = 3});
  CHECK(part.actors[0].messages == 5);
  CHECK(part.actors[0].queued == 3);
  CHECK(part.actors[0].mailbox_max == 6);
  CHECK(part.actors[1] == second.actors[1]);
  second.actors[1] = actor_of("infeed/0", 4, {.room = 100});  // Longer than the one before, and yet another one.
  CHECK(since(second, first).actors[1] == second.actors[1]);
}

TEST_CASE("the table has a line for each actor, with shares in percent") {
  auto one = actor_of("replica/0", 2.5, {.input = 7.5});
  one.messages = 12;
  one.bytes = 3'400'000;
  one.queued = 2;
  one.mailbox_max = 5;
  CHECK(to_text(job_of({one}))
        == "              busy    input    peers     room    arena  horizon   messages       MB   queued  mailbox\n"
           "replica/0     25 %     75 %      0 %      0 %      0 %      0 %         12        3        2        5\n"
           "The data bound the job: replicas wait for batches 75 % of the time.\n");
}

TEST_CASE("the JSON of a report has every field, and what bounds the job") {
  auto one = actor_of("replica/0", 2.5, {.input = 7.5, .arena = 0.25});
  one.queued_max = 4;
  one.mailbox = 1;
  one.mailbox_max = 6;
  const auto all = nlohmann::json::parse(to_json(job_of({one})));
  CHECK(all.at("seconds") == 10);
  CHECK(all.at("step") == 100);
  CHECK(all.at("bound_by").get<std::string>() == bound_by(job_of({one})));
  const auto& a = all.at("actors").at(0);
  CHECK(a.at("name") == "replica/0");
  CHECK(a.at("role") == "replica");
  CHECK(a.at("answered") == true);
  CHECK(a.at("busy_seconds") == 2.5);
  CHECK(a.at("waiting_seconds").at("input") == 7.5);
  CHECK(a.at("waiting_seconds").at("arena") == 0.25);
  CHECK(a.at("queued_max") == 4);
  CHECK(a.at("mailbox") == 1);
  CHECK(a.at("mailbox_max") == 6);
}

TEST_CASE("Prometheus gets a value for each actor and cause") {
  const auto text = to_prometheus(job_of({actor_of("replica/0", 2.5, {.input = 7.5})}));
  CHECK(text.find("\ntroupe_job_step 100\n") != std::string::npos);
  CHECK(text.find("\ntroupe_actor_busy_seconds_total{actor=\"replica/0\"} 2.5\n") != std::string::npos);
  CHECK(text.find("\ntroupe_actor_waiting_seconds_total{actor=\"replica/0\",for=\"input\"} 7.5\n")
        != std::string::npos);
  CHECK(text.find("\ntroupe_actor_messages_total{actor=\"replica/0\"} 0\n") != std::string::npos);
  CHECK(text.find("\ntroupe_actor_mailbox{actor=\"replica/0\"} 0\n") != std::string::npos);
}

}  // namespace troupe::test
