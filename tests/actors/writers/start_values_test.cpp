#include "actors/writers/start_values.hpp"

#include "support/writer_fixture.hpp"

namespace troupe::test {

namespace {

/// A store with an embedding of words, a layer, a counter, and the slots of the optimizer.
std::shared_ptr<parameter_store> model_of(int64_t words = 3, int64_t units = 2, const optimizer& by = momentum{}) {
  graph g;
  g.variable({.name = "words/table", .dims = {words, 2}, .initial = init::constant(9)});
  g.variable({.name = "logits/kernel", .dims = {units, words}, .initial = init::constant(8)});
  g.variable({.name = "logits/bias", .dims = {words}, .initial = init::constant(7)});
  g.variable({.name = "counter", .dims = {1}, .trainable = false});
  auto store = *parameter_store::create(*parameter_layout::of(g, by), 1);
  store->initialise(1);
  return store;
}

/// A disk with a checkpoint of step 9 of such a model. In each variable the elements are 0, 1, 2 and so on. The
/// vocabulary is a, b, c.
struct old_run {
  std::shared_ptr<memory_disk> disk = memory_disk::make();

  explicit old_run(std::vector<named_tensor> more = {}) {
    checkpoint_content content{.id = {9},
                               .tensors = {{"words/table", rows({3, 2})},
                                           {"logits/kernel", rows({2, 3})},
                                           {"logits/bias", rows({3})},
                                           {"words/table/Momentum", rows({3, 2})},
                                           {"counter", rows({1})},
                                           {"global_step", tensor::scalar<int64_t>(9)}}};
    for (auto& t : more)
      content.tensors.push_back(std::move(t));
    REQUIRE((*checkpoint_store::open(disk, "/old"))->commit(content));
    REQUIRE(write_file_atomically(*disk, "/old", "words.txt", "a\nb\r\nc\n"));
  }
  static tensor rows(const shape& dims) {
    std::vector<float> values(static_cast<size_t>(dims.elements()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i);
    return tensor::of<float>(dims, std::span<const float>{values});
  }

  expected<start_values::values> read(warm_start_settings settings,
                                      const std::shared_ptr<parameter_store>& into = model_of()) const {
    if (settings.ckpt_to_initialize_from.empty())
      settings.ckpt_to_initialize_from = "/old";
    REQUIRE(validate(settings));
    start_values start{disk, std::move(settings)};
    for (const auto& e : into->layout().entries())
      if (e.trainable)
        start.add_trainable(e.name);
    const auto layout = layout_of(into);
    const auto checked = start.check({&layout, 1});
    auto values = start.read({&layout, 1}, 1);
    CHECK_MESSAGE(checked.has_value() == values.has_value(), "a check finds what reading finds, but for damage");
    return values;
  }
  std::vector<std::string> names(const warm_start_settings& settings,
                                 const std::shared_ptr<parameter_store>& into = model_of()) const {
    const auto values = read(settings, into);
    REQUIRE_MESSAGE(values, (values ? "" : to_text(values.error())));
    std::vector<std::string> all;
    for (const auto& t : values->tensors)
      all.push_back(t.name);
    std::sort(all.begin(), all.end());
    return all;
  }
  error refused(const warm_start_settings& settings, const std::shared_ptr<parameter_store>& into = model_of()) const {
    const auto values = read(settings, into);
    REQUIRE_FALSE(values);
    return values.error();
  }
  tensor value(const warm_start_settings& settings, const std::shared_ptr<parameter_store>& into = model_of()) const {
    const auto values = read(settings, into);
    REQUIRE_MESSAGE(values, (values ? "" : to_text(values.error())));
    REQUIRE(values->tensors.size() == 1);
    return values->tensors.front().value;
  }
};

using names = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "[EST-62] an expression is over trainable variables, a list of them also over slots and the global step, and none "
    "over vocabularies alone") {
  const old_run old;
  CHECK(old.names({}) == names{"logits/bias", "logits/kernel", "words/table"});
  CHECK(old.read({})->step == 0);
  CHECK(old.names({.vars_to_warm_start = "logits"}) == names{"logits/bias", "logits/kernel"});
  CHECK_MESSAGE(old.names({.vars_to_warm_start = ".*bias"}) == names{"logits/bias"},
                "it matches from the beginning of a name on");
  CHECK(old.refused({.vars_to_warm_start = "bias"}).category == errc::invalid_argument);
  CHECK(old.names({.global_vars_to_warm_start = {"words/.*", "counter"}})
        == names{"counter", "words/table", "words/table/Momentum"});
  const auto with_step = old.read({.global_vars_to_warm_start = {"logits/bias$", "global_step"}});
  REQUIRE(with_step);
  CHECK(with_step->step == 9);
  CHECK(with_step->tensors.size() == 1);
  CHECK(old.read({.global_vars_to_warm_start = {"global_step"}})->tensors.empty());
  CHECK(old.read({.global_vars_to_warm_start = {"counter"}})->step == 0);
  const vocab_info same{.new_words = {"a", "b", "c"}, .old_words = {"a", "b", "c"}};
  CHECK(old.names({.vars_to_warm_start = {}, .var_name_to_vocab_info = {{"words/table", same}}})
        == names{"words/table"});
  CHECK(old.names({.vars_to_warm_start = "logits/bias", .var_name_to_vocab_info = {{"words/table", same}}})
        == names{"logits/bias", "words/table"});
}

TEST_CASE(
    "a list of expressions chooses among what both have: slots that a file of weights lacks begin as ever, and an "
    "expression for nothing is an error") {
  const auto disk = memory_disk::make();
  const auto weights = [] {
    return std::vector<named_tensor>{{"words/table", old_run::rows({3, 2})}, {"logits/kernel", old_run::rows({2, 3})}};
  };
  REQUIRE((*checkpoint_store::open(disk, "/weights"))->commit({.id = {9}, .tensors = weights()}));
  old_run old;
  old.disk = disk;
  const auto from = [](std::vector<std::string> all, bool freeze = false) {
    return warm_start_settings{
        .ckpt_to_initialize_from = "/weights", .global_vars_to_warm_start = std::move(all), .freeze = freeze};
  };
  CHECK(old.names(from({".*"})) == names{"logits/kernel", "words/table"});
  CHECK(old.read(from({".*"}))->step == 0);
  CHECK(old.names(from({".*"}), model_of(3, 2, {.moving_average = 0.9f}))
        == names{"logits/kernel", "logits/kernel/ExponentialMovingAverage", "words/table",
                 "words/table/ExponentialMovingAverage"});
  CHECK(old.names(from({"words", "logits"})) == names{"logits/kernel", "words/table"});
  const auto nothing = old.refused(from({".*", "logits/bias"}));
  CHECK(nothing.category == errc::not_found);
  CHECK(nothing.message
        == "warm_start.global_vars_to_warm_start: 'logits/bias' matches nothing that both the model and "
           "/weights/model.ckpt-9 have");
  CHECK(nothing.notes == std::vector<std::string>{"it has 'logits/kernel', 'words/table'"});
  CHECK(old.refused(from({"global_step"})).category == errc::not_found);
  CHECK_MESSAGE(old.refused(from({".*"}, true)).message == "warm start: /weights/model.ckpt-9 has no 'logits/bias'",
                "a variable with initial values would never be trained");
}

TEST_CASE(
    "[EST-63] each new word takes the row of the old vocabulary that is its own; new words and rows out of vocabulary "
    "are initialised") {
  const old_run old;
  vocab_info info{.new_words = {"c", "a", "d"}, .old_vocab = "/old/words.txt"};
  const auto table = [&](const vocab_info& v, int64_t rows = 3) {
    return old.value({.vars_to_warm_start = {}, .var_name_to_vocab_info = {{"words/table", v}}}, model_of(rows));
  };
  CHECK(table(info) == tensor::of<float>({3, 2}, {4, 5, 0, 1, 0, 0}));
  info.num_oov_buckets = 2;
  info.backup_initializer = init::constant(5);
  CHECK(table(info, 5) == tensor::of<float>({5, 2}, {4, 5, 0, 1, 5, 5, 5, 5, 5, 5}));
  info.old_vocab_size = 2;
  CHECK_MESSAGE(table(info, 5) == tensor::of<float>({5, 2}, {5, 5, 0, 1, 5, 5, 5, 5, 5, 5}),
                "c is beyond the first two old words");
  info.own_initializer = true;
  CHECK(table(info, 5) == tensor::of<float>({5, 2}, {9, 9, 0, 1, 9, 9, 9, 9, 9, 9}));
  info.new_vocab_size = 1;
  CHECK(table(info, 3) == tensor::of<float>({3, 2}, {9, 9, 9, 9, 9, 9}));
  const vocab_info columns{.new_words = {"c", "a", "d"}, .old_words = {"a", "b", "c"}, .axis = 1};
  CHECK_MESSAGE(old.value({.vars_to_warm_start = {}, .var_name_to_vocab_info = {{"logits/kernel", columns}}})
                    == tensor::of<float>({2, 3}, {2, 0, 0, 5, 3, 0}),
                "words may be along any axis");
}

TEST_CASE("[EST-64] names that nothing uses are an error that lists them, whether they rename or have a vocabulary") {
  const old_run old;
  const vocab_info info{.new_words = {"a"}, .old_words = {"a"}};
  CHECK(old.refused({.var_name_to_prev_var_name = {{"logits/biass", "x"}, {"logits/bias", "logits/bias"}, {"a", "b"}}})
        == error{errc::invalid_argument,
                 "warm_start.var_name_to_prev_var_name: no variable that is taken is called 'a', 'logits/biass'"});
  CHECK(old.refused({.vars_to_warm_start = "logits", .var_name_to_prev_var_name = {{"words/table", "logits/bias"}}})
        == error{errc::invalid_argument,
                 "warm_start.var_name_to_prev_var_name: no variable that is taken is called 'words/table'"});
  CHECK(old.refused({.var_name_to_vocab_info = {{"tables", info}, {"tables/b", info}}})
        == error{errc::invalid_argument,
                 "warm_start.var_name_to_vocab_info: no variable is called 'tables', 'tables/b'"});
}

TEST_CASE("a variable takes what the map says that it was called, and its moving average begins as it does") {
  const old_run old{{{"head/b", tensor::of<float>({3}, {1, 2, 3})}}};
  const auto taken = old.read(
      {.vars_to_warm_start = "logits/bias", .var_name_to_prev_var_name = {{"logits/bias", "head/b"}}},
      model_of(3, 2, {.moving_average = 0.9f}));
  REQUIRE(taken);
  REQUIRE(taken->tensors.size() == 2);
  CHECK(taken->tensors[0].name == "logits/bias/ExponentialMovingAverage");
  for (const auto& t : taken->tensors)
    CHECK(t.value == tensor::of<float>({3}, {1, 2, 3}));
  CHECK(taken->from == "/old/model.ckpt-9");
}

TEST_CASE(
    "variables of another shape are an error with both shapes and the file, and missing ones with what there is") {
  const old_run old;
  const auto wrong = old.refused({}, model_of(4, 3));
  CHECK(wrong.category == errc::invalid_argument);
  CHECK(wrong.message
        == "warm start from /old/model.ckpt-9: 3 variables differ: 'words/table' is float32[4, 2], and it is "
           "float32[3, 2] there; "
           "'logits/kernel' is float32[3, 4], and it is float32[2, 3] there; 'logits/bias' is float32[4], and it "
           "is float32[3] there");
  const auto missing = old.refused({.var_name_to_prev_var_name = {{"words/table", "gone"}}});
  CHECK(missing.category == errc::not_found);
  CHECK(missing.message == "warm start: /old/model.ckpt-9 has no 'gone'");
  REQUIRE(missing.notes.size() == 2);
  CHECK(missing.notes[0]
        == "it has 'counter', 'global_step', 'logits/bias', 'logits/kernel', 'words/table', 'words/table/Momentum'");
  CHECK(
      old.refused({.ckpt_to_initialize_from = "/nowhere"}).message.starts_with("warm_start.ckpt_to_initialize_from: "));
  CHECK(old.refused({.vars_to_warm_start = "nothing"}).message
        == "warm_start.vars_to_warm_start: no trainable variable is meant by it; there are 'logits/bias', "
           "'logits/kernel', 'words/table'");
}

TEST_CASE("a vocabulary that cannot be is refused with its field and value") {
  const old_run old;
  const auto refused = [&](const vocab_info& info) {
    return old.refused({.vars_to_warm_start = {}, .var_name_to_vocab_info = {{"words/table", info}}}).message;
  };
  const std::vector<std::string> abc{"a", "b", "c"};
  const std::string label = "warm_start.var_name_to_vocab_info['words/table']";
  CHECK(refused({.new_words = {"a", "b", "a"}, .old_words = abc})
        == label + ": the new words have 'a' twice, as numbers 0 and 2");
  CHECK(refused({.new_words = abc, .old_words = {"x", "x"}})
        == label + ": the old words have 'x' twice, as numbers 0 and 1");
  CHECK(refused({.new_words = {"a", "b"}, .old_words = abc})
        == label + ": 2 new words and 0 num_oov_buckets are not the extent 3 of axis 0 of the variable, which is "
                   "float32[3, 2]");
  CHECK(refused({.new_words = abc, .new_vocab_size = 4, .old_words = abc})
        == label + ".new_vocab_size is 4, and new_words has 3 words");
  CHECK(refused({.new_words = abc, .old_vocab = "/old/words.txt", .old_vocab_size = 4})
        == label + ".old_vocab_size is 4, and /old/words.txt has 3 words");
  CHECK(refused({.new_words = abc, .old_words = abc, .axis = 2})
        == label + ".axis is 2, and the variable is float32[3, 2]");
  CHECK(refused({.new_words = abc, .old_words = abc, .old_vocab_size = 0}) == label + ": there are no old words");
  CHECK(refused({.new_words = abc, .old_vocab = "/old/none.txt"}).starts_with(label + ".old_vocab: "));
  CHECK(refused({.new_words = abc, .old_words = {"a", "b", "c", "d"}})
        == "warm start from /old/model.ckpt-9: 1 variable differs: 'words/table' is float32[3, 2], and it is "
           "float32[3, 2] there: "
           "with 4 old words along axis 0 it must have as many there at least, and the other extents of the variable");
}

TEST_CASE("settings that cannot be are refused without a look at any file") {
  const auto refused = [](warm_start_settings s) {
    if (s.ckpt_to_initialize_from.empty())
      s.ckpt_to_initialize_from = "/old";
    const auto valid = validate(s);
    REQUIRE_FALSE(valid);
    CHECK(valid.error().category == errc::invalid_argument);
    return valid.error().message;
  };
  CHECK(validate(warm_start_settings{}).error().message
        == "warm_start.ckpt_to_initialize_from must name a checkpoint, not ''");
  CHECK(refused({.vars_to_warm_start = "a("})
            .starts_with("warm_start.vars_to_warm_start: 'a(' is no regular expression: "));
  CHECK(refused({.vars_to_warm_start = ""}) == "warm_start.vars_to_warm_start must not be ''");
  CHECK(refused({.global_vars_to_warm_start = {"a", "["}})
            .starts_with("warm_start.global_vars_to_warm_start: '[' is no regular expression: "));
  CHECK(refused({.var_name_to_prev_var_name = {{"a", ""}}})
        == "warm_start.var_name_to_prev_var_name['a'] must not be ''");
  const auto of = [&](vocab_info v) { return refused({.var_name_to_vocab_info = {{"a", std::move(v)}}}); };
  const std::string label = "warm_start.var_name_to_vocab_info['a']";
  CHECK(of({}) == label + " needs new_vocab or new_words, and not both");
  CHECK(of({.new_vocab = "x", .new_words = {"y"}}) == label + " needs new_vocab or new_words, and not both");
  CHECK(of({.new_words = {"y"}}) == label + " needs old_vocab or old_words, and not both");
  CHECK(of({.new_words = {"y"}, .num_oov_buckets = -1}) == label + ".num_oov_buckets must be at least 0, not -1");
  CHECK(of({.new_words = {"y"}, .old_words = {"y"}, .axis = -1}) == label + ".axis must be in [0, 7], not -1");
  CHECK(of({.new_words = {"y"}, .old_words = {"y"}, .backup_initializer = init::values(tensor::scalar(1.0f))})
        == label + ".backup_initializer cannot be values of its own: it draws the rows of new words");
}

TEST_CASE("a damaged source is an error when its values are read, with the file and the tensor") {
  const old_run old;
  const std::string shard = "model.ckpt-9-00000-of-00001.safetensors";
  auto bytes = read_file(*old.disk, "/old/" + shard).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  REQUIRE(write_file_atomically(*old.disk, "/old", shard, bytes));
  const auto store = model_of();
  const auto layout = layout_of(store);
  start_values start{old.disk, {.ckpt_to_initialize_from = "/old", .global_vars_to_warm_start = {".*"}}};
  const auto values = start.read({&layout, 1}, 1);
  REQUIRE_FALSE(values);
  CHECK((values.error().category == errc::data_loss || values.error().category == errc::not_found));
}

TEST_CASE_FIXTURE(
    writer_alone,
    "a writer without a checkpoint sends initial values and then those of a warm start, and remembers whose they are") {
  REQUIRE((*checkpoint_store::open(disk, "/old"))
              ->commit({.id = {5},
                        .tensors = {{"dense/kernel", tensor::of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                                    {"global_step", tensor::scalar<int64_t>(5)}}}));
  const warm_start_settings settings{.ckpt_to_initialize_from = "/old",
                                     .global_vars_to_warm_start = {"dense/kernel$", "global_step"}};
  options.start = [start = std::make_shared<const start_values>(files, settings),
                   layout = layout_of(parameters)](uint64_t seed) {
    return start->read({&layout, 1}, seed);
  };
  options.part_bytes_max = 16;
  start();
  REQUIRE(chief.count<restored>() == 1);
  CHECK_FALSE(chief.last<restored>().found);
  CHECK(chief.last<restored>().id == checkpoint_id{5});
  CHECK(parts_taken.size() == 3);
  CHECK(parts_taken.front().initial);
  CHECK(parameters->view(0, parameters->layout().find("dense/kernel"))
        == tensor::of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(parameters->view(0, parameters->layout().find("dense/bias")) == tensor::of<float>({2}, {0, 0}));
  save(5);
  const auto saved = (*checkpoint_store::open(disk, "/m", {.read_only = true}))->restore_newest();
  REQUIRE(saved);
  CHECK(saved->content.properties.at("warm_start") == "/old/model.ckpt-5");
  anon_send_exit(writer, caf::exit_reason::user_shutdown);
  run();
  parts_taken.clear();
  start();
  REQUIRE(chief.count<restored>() == 2);
  CHECK_MESSAGE(chief.last<restored>().found, "once there is a checkpoint, nothing is taken");
  CHECK_FALSE(parts_taken.front().initial);
}

}  // namespace troupe::test
