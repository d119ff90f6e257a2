#include "messages/interfaces.hpp"
#include "support/simulation.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <doctest/doctest.h>

#include <limits>

namespace troupe::test {

namespace {

// -- one of each: a message without a sample does not compile ----------------------------------------------------

error trouble() { return {errc::data_loss, "a checksum is wrong", {"first note", "second note"}, "replica/3", 17}; }
tensor floats() {
  return tensor::of<float>(
      {2, 2}, {1.5f, -0.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::denorm_min()});
}
step_values some_values() { return {9, {floats(), tensor::scalar<int64_t>(-3)}, {{floats()}, {}}}; }

stored_plan a_stored_plan() {
  return {
      {3, 40, 50},
      true,
      {{"b/"}, {"c/kernel"}, {{"d/", "a/"}}},
      {{4_node, "replica/0"}},
      {{1_group,
        "a",
        {{"a/kernel", dtype::float32, {2, 3}, true, false}, {"a/kernel/Adam", dtype::int32, {2}, false, true, true}}}},
      {"global_step"}};
}

template <class M>
M sample(simulation&) = delete;

// clang-format off
template <> abandon sample(simulation&) { return {2, 30}; }
template <> all_applied sample(simulation&) { return {2, 79}; }
template <> answered sample(simulation&) { return {59, 40, true, fetch_observed}; }
template <> applied sample(simulation&) { return {2, 31, 1}; }
template <> apply_rule sample(simulation&) {
  return {119, 120, {{121, {{"loss", 0.5}}}, {122, {{"loss", 0.25}, {"accuracy", 1}}}}};
}
template <> begin sample(simulation&) { return {3, 32, std::string("\0\xff", 2), 0.5, {138, 139}}; }
template <> cancel sample(simulation&) { return {5_node, cancel::work}; }
template <> block sample(simulation&) {
  return {4, 1_edge, 33, 2, 3, 5, {floats(), tensor::of<uint8_t>({3}, {1, 2, 255}), tensor::of<bool>({2}, {true,
            false}),
                              tensor::of<double>({1}, {1e-300}), tensor::of<int32_t>({1}, {-7}),
                              tensor::zeros(dtype::float32, {0, 4})}};
}
template <> commit_seen sample(simulation&) {
  return {true, {140, 141}, "/m/model.ckpt-140-iteration-141", {{"finished", "true"}}, true, "a warning"};
}
template <> committed sample(simulation&) { return {5, {34, 85}, "/m/model.ckpt-34-iteration-85", {"one", "two"}}; }
template <> connect_parts sample(simulation& world) {
  return {world.record<snapshot_part, gone>().as<part_sink_actor>()};
}
template <> connect_reader sample(simulation& world) {
  return {6_edge, world.record<block, end_of_data>().as<block_sink_actor>()};
}
template <> connect_reducer sample(simulation& world) {
  return {world.record<gradient_part, applied>().as<gradient_sink_actor>()};
}
template <> connect_records sample(simulation& world) { return {world.record<record>().as<record_sink_actor>()}; }
template <> connect_reports sample(simulation& world) {
  return {world.record<step_report, stream_end>().as<report_sink_actor>()};
}
template <> connect_source sample(simulation& world) {
  return {7_edge, world.record<pull>().as<credit_source_actor>()};
}
template <> deadline sample(simulation&) { return {uint64_t{1} << 40, 3}; }
template <> started sample(simulation& world) {
  return {132, 1, {{12_node, world.record<pull>().address()}}, {"unpinned"}};
}
template <> name_newest sample(simulation&) { return {133}; }
template <> name_values sample(simulation&) { return {{"loss", "b/loss"}, {"norm"}}; }
template <> newest sample(simulation&) {
  return {134, true, {135, 2}, "/m/model.ckpt-135", {{"infeed/0", "x"}}, {{"finished", "false"}}};
}
template <> prepare_plan sample(simulation& world) { return {136, sample<newest>(world)}; }
template <> prepared sample(simulation&) { return {137, 1, trouble()}; }
template <> end_nodes sample(simulation&) { return {{{7_node}, {8_node}}}; }
template <> start_nodes sample(simulation&) { return {131, 9_node, {{10_node}, {11_node}}}; }
template <> departed sample(simulation&) { return {91, 92, {{3_node}, {4_node}}, {{"left/b", "12 nan_loss: x"}}}; }
template <> end_of_data sample(simulation&) { return {7, 2_edge, 35, trouble(), end_kind::failed}; }
template <> evaluate_at sample(simulation&) {
  return {8, {36, 86, true}, "/m/model.ckpt-36-iteration-86", 102, 103, true, true};
}
template <> evaluated sample(simulation&) {
  return {9, {37, 87}, true, {{"loss", 0.25}, {"accuracy", 0.75}}, 12, 1.5, trouble(), "/m/model.ckpt-37", 104,
            {{"confusion", floats()}}, {"passed over"}};
}
template <> export_at sample(simulation&) {
  return {105, {106, 107}, "/m/model.ckpt-106-iteration-107", 108, {{"loss", 0.5}}, true, true, "t0_dnn_grow_mean"};
}
template <> exported sample(simulation&) {
  return {109, {110, 111}, 112, true, {"/m/export/best/1795417474"}, trouble()};
}
template <> fact sample(simulation&) {
  job_event news{.what = job_event::kind::evaluated, .step = 38, .seconds = 2.5, .max_steps = 100, .loss = 0.125,
                 .steps_per_second = 800, .metrics = {{"loss", 0.5}}, .arrays = {{"confusion", floats()}},
                 .text = "a sentence",
                 .checkpoint = checkpoint_id{38, 88}, .failure = trouble(), .attempt = 4, .evaluation = "train"};
  return {fact::step, news, some_values(), 39, true, true, 60, {140, 141, 142, 0.5, 0.25, 0.75, 1.5, 2.5, 3.5}, 143,
          {{.number = 144, .who = "chief", .recorded = {{}, {}, 145}}}, {}};
}
template <> failure sample(simulation&) { return {10, node_id{6}, trouble()}; }
template <> flush sample(simulation&) { return {11}; }
template <> flushed sample(simulation&) { return {12}; }
template <> gone sample(simulation&) { return {61, 1_node}; }
template <> gradient_part sample(simulation&) {
  return {13, 40, 2, step_status::not_finite | step_status::ended, floats(), trouble(), true};
}
template <> gradient_sum sample(simulation&) { return {14, 41, step_status::bad_input, floats(), trouble()}; }
template <> halt sample(simulation&) { return {62}; }
template <> hooks_ended sample(simulation&) { return {80}; }
template <> hooks_ready sample(simulation&) {
  return {81, {{1, 2, true}, {3, 0, false}}, {true, true}, true, true, true, {{4, 5, 6}}, true, true};
}
template <> input_failed sample(simulation&) { return {63, 1_node, 64, trouble()}; }
template <> input_warned sample(simulation&) { return {65, 2_node, "the file has changed"}; }
template <> log_replaced sample(simulation&) { return {"the file has gone"}; }
template <> leave sample(simulation&) { return {74, 75_edge, 76}; }
template <> retire sample(simulation&) { return {77, 78, group_id{79}}; }
template <> probe sample(simulation&) { return {66, probe::ends, 153, 154}; }
template <> proceed sample(simulation&) { return {15}; }
template <> progress sample(simulation&) {
  return {16, 42, 7, 0.01, {42, 0.5, 0.75, {{"a", {0.125, 0.25}}}}, {{40, 0.1, 0.2, {}}, {41, 0.3, 0.4, {}}},
            {some_values()}, {{42, {{"count", 42}}}}, {{30, 31, 40, 0.5, 0.75, 0.25, 1.5}}, {40, 40, 42, 1, 2, 3, 4}};
}
template <> pull sample(simulation&) { return {17, 3_edge, 43, 44, 8}; }
template <> name_missing sample(simulation&) { return {82, 83}; }
template <> finish_log sample(simulation&) { return {54}; }
template <> note sample(simulation&) { return {note::checkpoint, 55, "/m/model.ckpt-55"}; }
template <> record sample(simulation&) {
  const histogram counts{-1, 2, 3, 4, 5, {0, 2.5}, {1, 2}, 6};
  return {27, 56, 57, {{summary_value::kind::text, "notes", 0.5, counts, tensor::of<uint8_t>({1, 2, 1}, {3, 4}),
            "words"}}, {{"ensemble/t0_a", {{.tag = "loss", .scalar = 0.25}}}}};
}
template <> read_variables sample(simulation&) { return {157, 158, {"dense/kernel", "dense/bias"}}; }
template <> record_credit sample(simulation&) { return {28, 58, node_id{3}}; }
template <> released sample(simulation&) { return {18, 45}; }
template <> step_report sample(simulation&) {
  return {19, 1_node, 46, {0.5, -0.25}, {some_values()}, {{46, {{{3, floats()}}, {}}}}, 0.125, {{46, {floats()}}},
          {{46, {{"count", 46}}}}};
}
template <> batches_evaluated sample(simulation&) { return {127, {128, 129}, 130, 131}; }
template <> request sample(simulation&) { return {request::abort, true, 0.5, group_id{3}, 7}; }
template <> restore sample(simulation& s) {
  return {20, {{1_group, s.record<state_part>().handle()}}, a_stored_plan()};
}
template <> restored sample(simulation&) {
  return {21, true, {47, 89}, "/m/model.ckpt-47", {{"infeed/0", std::string("\0a", 2)}}, {{"finished", "true"}},
            {"passed over"}};
}
template <> rewind sample(simulation&) { return {22, 48}; }
template <> run_until sample(simulation&) {
  return {155, run_until::renew, 156, fetch_values, false, false, true, trouble()};
}
template <> run sample(simulation&) { return {23, 49, {{48, mark_snapshot | mark_watch}, {49, mark_end}}}; }
template <> rule_applied sample(simulation&) { return {123, true, "loss lower than 0.3", trouble()}; }
template <> save_failed sample(simulation&) { return {24, 50, trouble()}; }
template <> set_loop sample(simulation&) { return {143, {144, 145}}; }
template <> settle sample(simulation&) { return {67, {68, 69}}; }
template <> snapshot_part sample(simulation&) {
  return {25, 51, 1_node, {{"dense/kernel", {2, 2}, 1, true, tensor::of<float>({2}, {1, 2})}},
          {{"infeed/0", std::string("\xff\0", 2)}}, {{"finished", "false"}}, {{"global_step", 90}}, true};
}
template <> scale_rate sample(simulation&) { return {113, 114, 0.25}; }
template <> show_state sample(simulation& s) {
  return {115, 116, {{3_node}, {4_node}}, {{1_group, s.record<state_part>().handle()}}};
}
template <> state_shown sample(simulation&) { return {117, 118}; }
template <> stand_in sample(simulation&) { return {84, a_stored_plan()}; }
template <> halted sample(simulation&) { return {69, 7_node}; }
template <> standing sample(simulation&) {
  const activity_span open{146, 147, 148, false, 0, wait_cause::room};
  const activity_span ended{149, 150, 151, true, 0, wait_cause::horizon};
  return {70,
          "infeed/0",
          {{"sent", 71}, {"granted", 72}},
          {73, {74, 75, 76, 77, 78}, 79, 80, 81, 82},
          {{"block"}, {open, ended}, 152},
          {"evaluator/infeed/0", "evaluator/replica/0"}};
}
template <> state_part sample(simulation&) {
  return {91, 92, {{"dense/kernel", {2, 2}, 1, true, tensor::of<float>({2}, {1, 2})}}, true, 93};
}
template <> state_taken sample(simulation&) { return {94, 95}; }
template <> stop sample(simulation&) { return {73}; }
template <> stream_end sample(simulation&) { return {26, 1_node, 52, trouble(), end_kind::stopped}; }
template <> late_properties sample(simulation&) { return {96, {97, 98}, {{"ended", "early"}}}; }
template <> late_properties_kept sample(simulation&) { return {99, {100, 101}}; }
template <> unlease sample(simulation&) { return {{53, 90}}; }
template <> variables_read sample(simulation&) { return {159, 160, 161, false, {floats()}, trouble()}; }
template <> verdict_seen sample(simulation&) {
  return {true, true, {142, 143}, 0.5, {144, 145}, "a rule", "a reason", "what is ignored"};
}
template <> wake sample(simulation&) { return {3, 91}; }
// clang-format on

// -- equality of all fields, found by the language and not by `inspect`, which is what is tested ----------------------

struct anything {
  template <class T>
  operator T() const;
};
template <class T, class... Fields>
concept made_of = requires {
  T{Fields{}...};
};

template <class T, class... Fields>
constexpr size_t fields_of() {
  if constexpr (made_of<T, Fields..., anything>)
    return fields_of<T, Fields..., anything>();
  else
    return sizeof...(Fields);
}

template <class T>
auto fields(const T& x) {
  constexpr size_t count = fields_of<T>();
  static_assert(count >= 1 && count <= 11, "teach this function more fields");
  if constexpr (count == 1) {
    const auto& [a] = x;
    return std::tie(a);
  } else if constexpr (count == 2) {
    const auto& [a, b] = x;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    const auto& [a, b, c] = x;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    const auto& [a, b, c, d] = x;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    const auto& [a, b, c, d, e] = x;
    return std::tie(a, b, c, d, e);
  } else if constexpr (count == 6) {
    const auto& [a, b, c, d, e, g] = x;
    return std::tie(a, b, c, d, e, g);
  } else if constexpr (count == 7) {
    const auto& [a, b, c, d, e, g, h] = x;
    return std::tie(a, b, c, d, e, g, h);
  } else if constexpr (count == 8) {
    const auto& [a, b, c, d, e, g, h, i] = x;
    return std::tie(a, b, c, d, e, g, h, i);
  } else if constexpr (count == 9) {
    const auto& [a, b, c, d, e, g, h, i, j] = x;
    return std::tie(a, b, c, d, e, g, h, i, j);
  } else if constexpr (count == 10) {
    const auto& [a, b, c, d, e, g, h, i, j, k] = x;
    return std::tie(a, b, c, d, e, g, h, i, j, k);
  } else {
    const auto& [a, b, c, d, e, g, h, i, j, k, l] = x;
    return std::tie(a, b, c, d, e, g, h, i, j, k, l);
  }
}

/// The plan is not compared: it is a pointer, as agents are in the same process.
auto fields(const prepared& x) { return std::tie(x.attempt, x.place, x.cause); }
/// Nor are hooks.
auto fields(const fact& x) { return std::tie(x.what, x.news, x.values, x.at, x.gate, x.last, x.number, x.of_loop); }

bool same(const tensor& a, const tensor& b) { return a == b; }
bool same(const job_event& a, const job_event& b) {
  const auto all = [](const job_event& e) {
    return std::tie(e.what, e.step, e.seconds, e.max_steps, e.loss, e.steps_per_second, e.metrics, e.arrays, e.text,
                    e.checkpoint, e.failure, e.attempt, e.evaluation);
  };
  return all(a) == all(b);
}
template <class T>
bool same(const T& a, const T& b);
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}
template <class T>
bool same(const T& a, const T& b) {
  if constexpr (requires { a == b; })
    return a == b;
  else
    return std::apply(
        [&](const auto&... x) { return std::apply([&](const auto&... y) { return (same(x, y) && ...); }, fields(b)); },
        fields(a));
}
/// True: no field of the sample has its default. A default would hide that `inspect` omits the field.
template <class T>
bool every_field_says_something(const T& x) {
  const T empty{};
  return std::apply(
      [&](const auto&... a) {
        return std::apply([&](const auto&... b) { return (!same(a, b) && ...); }, fields(empty));
      },
      fields(x));
}

template <class M>
void check_round_trip(simulation& world) {
  const M sent = sample<M>(world);
  world.run();
  CAPTURE(std::string{caf::type_name<M>::value});
  CHECK(every_field_says_something(sent));

  std::vector<char> bytes;
  caf::binary_serializer sink{world.system, bytes};
  REQUIRE_FALSE(sink(caf::make_message(sent)));
  caf::message arrived;
  caf::binary_deserializer source{world.system, bytes};
  REQUIRE_FALSE(source(arrived));
  CHECK(source.remaining() == 0);
  REQUIRE((arrived.size() == 1 && arrived.match_element<M>(0)));
  CHECK(same(arrived.get_as<M>(0), sent));
}

template <size_t... I>
void check_all(simulation& world, std::index_sequence<I...>) {
  (check_round_trip<typename caf::type_by_id<caf::id_block::troupe::begin + I>::type>(world), ...);
}

// -- tensors that are not -------------------------------------------------------------------------------------------

bool refused(simulation& world, uint8_t type, std::vector<int64_t> dims, std::string bytes) {
  std::vector<char> wire;
  caf::binary_serializer sink{world.system, wire};
  REQUIRE_FALSE(sink(type, dims, bytes));
  tensor x;
  caf::binary_deserializer source{world.system, wire};
  return static_cast<bool>(source(x));
}

}  // namespace

TEST_CASE_FIXTURE(simulation, "every message of the type-id block arrives over the wire with all of its fields") {
  check_all(*this, std::make_index_sequence<caf::id_block::troupe::end - caf::id_block::troupe::begin>());
}

TEST_CASE_FIXTURE(simulation, "optional fields that are absent arrive absent") {
  std::vector<char> bytes;
  caf::binary_serializer sink{system, bytes};
  REQUIRE_FALSE(sink(caf::make_message(fact{.what = fact::event, .news = {.step = 3}},
                                       failure{1, node_id{4}, {errc::state, "no step"}})));
  caf::message arrived;
  caf::binary_deserializer source{system, bytes};
  REQUIRE_FALSE(source(arrived));
  CHECK_FALSE(arrived.get_as<fact>(0).news.max_steps);
  CHECK_FALSE(arrived.get_as<fact>(0).news.failure);
  CHECK_FALSE(arrived.get_as<failure>(1).what.step);
}

TEST_CASE_FIXTURE(simulation, "a tensor whose bytes do not fit its shape is refused") {
  const auto f32 = static_cast<uint8_t>(dtype::float32);
  CHECK_FALSE(refused(*this, f32, {2, 1}, std::string(8, 'x')));
  CHECK_FALSE(refused(*this, f32, {}, std::string(4, 'x')));
  CHECK_FALSE(refused(*this, f32, {0, 3}, ""));
  SUBCASE("a negative extent") {
    CHECK(refused(*this, f32, {-2, -1}, std::string(8, 'x')));
    CHECK(refused(*this, f32, {0, -1}, ""));
  }
  SUBCASE("too few bytes, too many, or part of an element") {
    CHECK(refused(*this, f32, {2}, std::string(4, 'x')));
    CHECK(refused(*this, f32, {2}, std::string(12, 'x')));
    CHECK(refused(*this, f32, {2}, std::string(9, 'x')));
    CHECK(refused(*this, f32, {2}, ""));
  }
  SUBCASE("extents whose product is no number") {
    CHECK(refused(*this, f32, {INT64_MAX, 2}, std::string(8, 'x')));
    CHECK(refused(*this, f32, {int64_t{1} << 32, int64_t{1} << 32}, ""));
    CHECK(refused(*this, f32, {int64_t{1} << 62}, ""));
  }
  SUBCASE("more axes than a shape has") { CHECK(refused(*this, f32, std::vector<int64_t>(9, 1), std::string(4, 'x'))); }
  SUBCASE("an unknown element type") {
    CHECK(refused(*this, 99, {2}, std::string(8, 'x')));
    CHECK(refused(*this, 0, {}, ""));
  }
}

}  // namespace troupe::test
