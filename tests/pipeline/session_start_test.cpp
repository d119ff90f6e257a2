// How a session begins: initial functions, the readiness of variables, checkpoints by prefix, and sessions beside the
// chief's.
#include "support/ended_jobs.hpp"
#include "support/simulated_session.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// Time that passes only while somebody waits; `at` is called whenever that time has come.
struct hand_time final : follower_time {
  std::chrono::nanoseconds passed{0};
  std::vector<int64_t> waits;                   ///< In ms.
  std::map<int64_t, std::function<void()>> at;  ///< By second.
  std::chrono::nanoseconds now() override { return passed; }
  void wait(directory_watch*, std::chrono::milliseconds patience) override {
    waits.push_back(patience.count());
    passed += patience;
    while (!at.empty() && std::chrono::seconds{at.begin()->first} <= passed) {
      const auto next = at.extract(at.begin());
      next.mapped()();
    }
  }
};

texts files_in(file_system& files) {
  texts names;
  const auto all = files.list("/run");
  REQUIRE(all);
  for (const auto& f : *all)
    names.push_back(f.name + " " + std::to_string(f.size));
  return names;
}

tensor variable(const std::shared_ptr<file_system>& files, const std::string& name) {
  const auto found = newest_checkpoint(files).content;
  for (const auto& t : found.tensors)
    if (t.name == name)
      return t.value;
  FAIL("no variable " << name);
  return {};
}

}  // namespace

TEST_CASE(
    "[SUP-1] a session that is opened without any option has initial values, fetches and saves, and plans its model "
    "before its first run only") {
  small_job_options o{.max_steps = 3, .source = small_model(0)};
  int64_t builds = 0;
  o.source.build = [&builds, build = o.source.build](graph& g, const features& x, const labels& y, mode m) {
    ++builds;
    return build(g, x, y, m);
  };
  simulated_session s{o};
  const int64_t planned = builds;
  CHECK(planned > 0);
  CHECK(*s->save() == "/run/model.ckpt-0");
  const auto initial = variable(o.files, "dense/kernel");
  CHECK(initial.as<float>()[0] != 0);
  CHECK(s.run(3, {"loss"}).values.size() == 1);
  CHECK(s.close().global_step == 3);
  CHECK(newest_checkpoint(o.files).content.id.step == 3);
  CHECK_FALSE(variable(o.files, "dense/kernel") == initial);
  CHECK(builds == planned);
}

TEST_CASE("[SUP-2] contradictory options are refused by their names before anything begins") {
  const auto why = [](small_job_options o, const session_options& options) {
    texts book;
    o.hooks = {std::make_shared<signing_hook>("A", book)};
    const simulated_session s{o, 1, options};
    REQUIRE_FALSE(s.opened());
    CHECK(s.opened().error().category == errc::invalid_argument);
    CHECK(book.empty());
    const auto root = o.files->list("/");
    CHECK((!root || root->empty()));
    return s.opened().error().message;
  };
  CHECK(why({}, {.checkpoint = "/other/model.ckpt-3"})
            .starts_with("checkpoint (/other/model.ckpt-3) and model_dir (/run) cannot both be given"));
  CHECK(why({.keeps = false}, {.is_chief = false}).starts_with("a session beside the chief's needs its model_dir"));
  CHECK(why({.keeps = false}, {.checkpoint = "/run/model"}).find("/run/model") != std::string::npos);
  CHECK(why({}, {.is_chief = false, .max_wait_secs = 0}) == "max_wait_secs must be in [0.001, 3e7], not 0");
  CHECK(why({}, {.chief_hooks = {nullptr}}) == "chief_hooks[0] is null; leave it out");
  CHECK(why({.evaluates = true}, {}) == "a session trains one model, without evaluations and without a search");
}

TEST_CASE(
    "[SUP-3] init_fn and then ready are called before the first step without a checkpoint, and neither with one") {
  small_job_options o{.max_steps = 2, .source = small_model(0)};
  texts calls;
  session_options options{.init_fn = [&](parameter_access& all) -> expected<void> {
    calls.emplace_back("init_fn");
    const auto bias = all.read("dense/bias");
    REQUIRE(bias);
    CHECK(bias->as<float>()[0] == 0);
    const auto names = all.names();
    CHECK(std::find(names.begin(), names.end(), "dense/kernel") != names.end());
    CHECK(std::find(names.begin(), names.end(), "dense/kernel/Adam") != names.end());
    CHECK(all.read("lost").error().category == errc::not_found);
    CHECK(all.write("dense/bias", tensor::scalar(1.0f)).error().message
          == "'dense/bias' is float32[5], and what is written is float32[]");
    REQUIRE(all.write("dense/bias", tensor::of<float>({5}, {1, 2, 3, 4, 5})));
    CHECK(all.read("dense/bias")->as<float>()[1] == 2);
    return {};
  }};
  options.ready = [&](const parameter_access& all) -> std::vector<std::string> {
    calls.emplace_back("ready");
    CHECK(all.read("dense/bias")->as<float>()[1] == 2);
    return {};
  };
  {
    simulated_session s{o, 1, options};
    CHECK(calls == texts{"init_fn", "ready"});
    CHECK(*s->save() == "/run/model.ckpt-0");
    CHECK(variable(o.files, "dense/bias").as<float>()[4] == 5);
    s.run();
    s.close();
  }
  {
    simulated_session s{o, 2, options};
    CHECK(s->progress().step == 1);
    s.close();
  }
  CHECK(calls == texts{"init_fn", "ready"});
}

TEST_CASE("init_fn takes variables of any checkpoint, and its error and its exception are those of opening") {
  small_job_options from{.max_steps = 4, .source = small_model(0)};
  run_to_end(from);
  const auto prefix = newest_checkpoint(from.files).prefix;
  auto o = from;
  auto description = describe_small(o);
  description.basis.config.model_dir = "/other";
  const auto open_with = [&](std::function<expected<void>(parameter_access&)> f) {
    return std::make_unique<simulated_session>(description, 1, session_options{.init_fn = std::move(f)});
  };
  {
    const auto s = open_with([&](parameter_access& all) { return all.load(prefix, {"dense/bias"}); });
    REQUIRE_MESSAGE(s->opened(), (s->opened() ? "" : to_text(s->opened().error())));
    CHECK((*s)->progress().step == 0);
    REQUIRE((*s)->save());
    const auto store = checkpoint_store::open(o.files, "/other", {.read_only = true});
    REQUIRE(store);
    const auto content = (*store)->restore_newest();
    REQUIRE(content);
    for (const auto& t : content->content.tensors)
      if (t.name == "dense/bias")
        CHECK(t.value == variable(from.files, "dense/bias"));
    s->close();
  }
  o.files = memory_disk::make();
  description = describe_small(o);
  CHECK(open_with([&](parameter_access& all) { return all.load("/none/model.ckpt-3", {"dense/bias"}); })
            ->opened()
            .error()
            .category
        == errc::not_found);
  CHECK(open_with([&](parameter_access&) -> expected<void> { return fail(errc::data_loss, "torn"); })
            ->opened()
            .error()
            .category
        == errc::data_loss);
  CHECK(open_with([&](parameter_access&) -> expected<void> { throw std::runtime_error("no"); })
            ->opened()
            .error()
            .message.find("an exception left init_fn: no")
        != std::string::npos);
}

TEST_CASE("[SUP-4] variables that are not ready after the initial function are a state error that names them") {
  const session_options options{.ready = [](const parameter_access& all) {
    std::vector<std::string> zero;
    for (const auto& name : {"dense/bias", "dense/kernel"})
      if (all.read(name)->as<float>()[0] == 0)
        zero.push_back(name);
    return zero;
  }};
  const simulated_session s{small_job_options{}, 1, options};
  REQUIRE_FALSE(s.opened());
  CHECK(s.opened().error().category == errc::state);
  CHECK(s.opened().error().message == "the session is not ready: init_fn is not there to initialise 'dense/bias'");
  auto both = options;
  both.init_fn = [](parameter_access& all) { return all.write("dense/bias", tensor::of<float>({5}, {0, 1, 1, 1, 1})); };
  const simulated_session left{small_job_options{}, 1, both};
  REQUIRE_FALSE(left.opened());
  CHECK(left.opened().error().category == errc::state);
  CHECK(left.opened().error().message == "the session is not ready: init_fn has left 'dense/bias'");
  both.init_fn = [](parameter_access& all) { return all.write("dense/bias", tensor::of<float>({5}, {1, 1, 1, 1, 1})); };
  simulated_session ready{small_job_options{}, 1, both};
  ready.run();
  ready.close();
}

TEST_CASE("a checkpoint by its prefix is restored with its step, without an initial function and without a directory") {
  small_job_options from{.max_steps = 4};
  run_to_end(from);
  const auto prefix = newest_checkpoint(from.files).prefix;
  auto o = from;
  o.keeps = false;
  o.max_steps = 6;
  int calls = 0;
  simulated_session s{
      o, 1, {.init_fn = [&](parameter_access&) { return ++calls, expected<void>{}; }, .checkpoint = prefix}};
  CHECK(s->progress().step == 4);
  CHECK(calls == 0);
  CHECK(s.run().step == 5);
  s.close();
  o.source = small_model(0.2, gradient_descent{});
  const simulated_session other{o, 1, {.checkpoint = prefix}};
  REQUIRE_FALSE(other.opened());
  CHECK(other.opened().error().category == errc::failed_precondition);
}

TEST_CASE("[SUP-5] a session beside the chief's waits for its first checkpoint, with looks each 30 s") {
  small_job_options chief{.max_steps = 5};
  const auto time = std::make_shared<hand_time>();
  SUBCASE("one that comes at 60 s") {
    time->at[60] = [&] { run_to_end(chief); };
    auto o = chief;
    o.max_steps = 100;
    simulated_session s{describe_small(o), 1, {.is_chief = false, .max_wait_secs = 90}, {}, time};
    CHECK(s->progress().step == 5);
    CHECK(time->waits == std::vector<int64_t>{30'000, 30'000});
    s.close();
  }
  SUBCASE("one that never comes") {
    const simulated_session s{describe_small(chief), 1, {.is_chief = false, .max_wait_secs = 90}, {}, time};
    REQUIRE_FALSE(s.opened());
    CHECK(s.opened().error().category == errc::deadline_exceeded);
    CHECK(s.opened().error().message
          == "no checkpoint came to /run in 90 s (max_wait_secs): is a chief training there?");
    CHECK(time->passed == 90s);
  }
}

TEST_CASE("[SUP-6] the last look is when the time is up, also where that is before the next one was due") {
  const auto looks = [](double max_wait, std::optional<int64_t> comes) {
    small_job_options chief{.max_steps = 5};
    const auto time = std::make_shared<hand_time>();
    if (comes == 0)
      run_to_end(chief);
    else if (comes)
      time->at[*comes] = [&] { run_to_end(chief); };
    simulated_session s{describe_small(chief), 1, {.is_chief = false, .max_wait_secs = max_wait}, {}, time};
    CHECK(s.opened().has_value() == comes.has_value());
    if (!comes) {
      CHECK(s.opened().error().category == errc::deadline_exceeded);
      const auto limit = std::to_string(static_cast<int64_t>(max_wait)) + " s (max_wait_secs)";
      CHECK(s.opened().error().message == "no checkpoint came to /run in " + limit + ": is a chief training there?");
    }
    return time->waits;
  };
  using ms = std::vector<int64_t>;
  CHECK(looks(20, 0) == ms{});
  CHECK(looks(7200, 60) == ms{30'000, 30'000});
  CHECK(looks(45, {}) == ms{30'000, 15'000});
  CHECK(looks(45, 44) == ms{30'000, 15'000});
  CHECK(looks(20, {}) == ms{20'000});
  CHECK(looks(20, 19) == ms{20'000});
}

TEST_CASE("[SUP-28] a session beside the chief's has only its hooks, trains on a copy, and writes nothing") {
  CHECK(session_options{}.max_wait_secs == 7200);
  small_job_options o{.max_steps = 5, .recovers = 10};
  run_to_end(o);
  const auto files_before = files_in(*o.files);
  texts book;
  o.max_steps = 100;
  o.hooks = {std::make_shared<signing_hook>("A", book)};
  auto chief = o;
  chief.hooks.clear();
  for (const bool with_chief : {false, true}) {
    CAPTURE(with_chief);
    book.clear();
    std::unique_ptr<simulated_session> owner;
    if (with_chief)
      owner = std::make_unique<simulated_session>(chief);
    simulated_session s{o, 2, {.is_chief = false, .chief_hooks = {std::make_shared<signing_hook>("C", book)}}};
    CHECK(s->progress().step == 5);
    CHECK(s.run(3).step == 8);
    CHECK_FALSE(s->save());
    int64_t expects = 5;
    if (owner) {
      owner->run(2);
      REQUIRE((*owner)->save());
      expects = 7;
    }
    REQUIRE(s.kill("replica/0"));
    const auto made = s.run();
    CHECK(made.step == expects + 1);
    CHECK(made.steps_taken_back == 8 - expects);
    s.close();
    CHECK(std::none_of(book.begin(), book.end(), [](const std::string& x) { return x.ends_with("C"); }));
    CHECK(book.front() == "begin 5 A");
    if (owner)
      (*owner)->request_stop();
    else
      CHECK(files_in(*o.files) == files_before);
  }
  CHECK(newest_checkpoint(o.files).content.id.step == 7);
}

TEST_CASE("a session beside the chief's passes over a damaged checkpoint, as the chief does") {
  small_job_options o{.max_steps = 6, .save_steps = 3};
  run_to_end(o);
  const auto before = o.files->list("/run");
  REQUIRE(before);
  for (const auto& file : *before)
    if (file.name.starts_with("model.ckpt-6") && !file.name.ends_with("manifest.json")) {
      auto bytes = read_file(*o.files, "/run/" + file.name);
      REQUIRE(bytes);
      bytes->back() = static_cast<char>(bytes->back() ^ 1);
      REQUIRE(write_file_atomically(*o.files, "/run", file.name, *bytes));
    }
  o.max_steps = 100;
  simulated_session s{o, 1, {.is_chief = false}};
  CHECK(s->progress().step == 3);
  CHECK(s.run().step == 4);
  s.close();
}

TEST_CASE("a session beside the chief's with another model is refused, naming what differs") {
  small_job_options o{.max_steps = 5};
  run_to_end(o);
  o.source = small_model(0.2, gradient_descent{});
  const simulated_session s{o, 1, {.is_chief = false}};
  REQUIRE_FALSE(s.opened());
  CHECK(s.opened().error().category == errc::failed_precondition);
}

}  // namespace troupe::test
