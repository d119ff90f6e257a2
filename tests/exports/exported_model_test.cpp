#include "storage/encodings/crc32c.hpp"
#include "storage/exports/export_directory.hpp"
#include "storage/exports/export_manifest.hpp"
#include "tests/exports/exported_case.hpp"
#include "tests/support/has.hpp"
#include "tests/support/refused.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/exported_model.hpp>
#include <troupe/inspect.hpp>
#include <troupe/nn.hpp>

#include <cmath>
#include <fstream>

namespace troupe {

using namespace test;

namespace {

void replace_in(const std::string& path, const std::string& from, const std::string& to) {
  auto text = *read_file(*posix_file_system(), path);
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const size_t slash = path.rfind('/');
  REQUIRE(write_file_atomically(*posix_file_system(), path.substr(0, slash), path.substr(slash + 1), text));
}

/// An image of 9 pixels in [0, 1], of which the first three are bright.
tensor first_golden_image() {
  std::array<float, 9> pixels{};
  for (size_t p = 0; p < 9; ++p)
    pixels[p] = static_cast<float>(p < 3 ? 200 : p * 17 % 40) / 255.f;
  return tensor::of<float>({1, 9}, std::span<const float>{pixels});
}

/// A model of two inputs with a signature for each name in `outputs`.
model signatures_model(std::vector<std::string> outputs) {
  return {"several", [outputs = std::move(outputs)](graph&, const features& x, const labels&, mode m) {
            const symbol a = nn::dense(x["a"], {.units = 2, .name = "left"}), b = scale(x["b"], 3);
            model_spec spec{.mode = m,
                            .loss = reduce_mean(square(a)),
                            .optimizer = gradient_descent{},
                            .predictions = {{"sum", add(a, b)}}};
            for (const auto& name : outputs)
              if (name == "b")
                spec.export_outputs[name] = {{"tripled", b}};
              else
                spec.export_outputs[name] = {{"left", a}, {"sum", add(a, b)}};
            return spec;
          }};
}

dataset two_features() {
  return *dataset::from_tensors(
      {{"a", tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})}, {"b", tensor::of<float>({2, 2}, {1, 2, 3, 4})}});
}

struct several {
  temporary_directory directory;
  estimator e;
  explicit several(std::vector<std::string> outputs)
    : e{signatures_model(std::move(outputs)), small_estimator(directory / "run").config} {
    const auto trained = train(e, {.input = two_features().batch(2).repeat(), .max_steps = 1});
    REQUIRE_MESSAGE(trained, why(trained));
  }
  expected<std::string> written() { return export_model(e, {.input = two_features().batch(2)}); }
};

/// Calls a signature with four rows of the feature "x".
std::map<std::string, tensor> called(const exported_model& m, const std::string& signature) {
  auto caller = m.caller({.signature = signature});
  REQUIRE_MESSAGE(caller, why(caller));
  auto y = caller->call({{"x", small_rows(4)}});
  REQUIRE_MESSAGE(y, why(y));
  return *y;
}

}  // namespace

TEST_CASE("an exported model says where it came from, what it is fed and what it yields") {
  exported_case c;
  c.how.label_words = {{"y", {"first", "second", "third"}}};
  c.how.evaluation = {{"loss", 0.5}};
  const auto m = opened(c.written());
  CHECK(m.name() == "small");
  CHECK(m.global_step() == 3);
  CHECK(m.checkpoint() == c.checkpoint());
  CHECK(m.evaluation() == std::map<std::string, double>{{"loss", 0.5}});
  CHECK(m.label_words().at("y").size() == 3);
  REQUIRE(m.signatures().size() == 3);
  const auto& s = m.signatures().at("serving_default");
  CHECK(s.inputs == std::vector<component>{{"x", dtype::float32, {8}}});
  REQUIRE(s.outputs.size() >= 2);
  CHECK(list_exports(c.directory / "run/export/latest") == std::vector<std::string>{m.path()});
}

TEST_CASE(
    "an exported model predicts the bits of its checkpoint, without the model's function and without a checkpoint") {
  exported_case c;
  const auto path = c.written();
  const auto before = predicted(c.e, small_dataset(), 4);
  std::filesystem::remove_all(c.directory / "run/checkpoint");
  c.e.model.build = nullptr;
  const auto after = predicted({opened(path).as_model(), {}}, small_dataset(), 4);
  CHECK(after == before);
  CHECK(predicted({opened(path).as_model(), {}}, small_dataset(), 5) == before);
}

TEST_CASE("with a head an exported model is evaluated to the metrics of its checkpoint") {
  exported_case c;
  const auto m = opened(c.written());
  const auto want = evaluate(c.e, {.input = small_dataset(20).batch(8)});
  REQUIRE_MESSAGE(want, why(want));
  const auto got = evaluate({m.as_model(multi_class_head{.classes = 3}), {}}, {.input = small_dataset(20).batch(8)});
  REQUIRE_MESSAGE(got, why(got));
  auto metrics = want->metrics;
  metrics["global_step"] = 0;
  CHECK(got->metrics == metrics);
}

TEST_CASE("an exported model has no loss without a head, cannot be trained, and takes the features of its signature") {
  exported_case c;
  const auto m = opened(c.written());
  refused(evaluate({m.as_model(), {}}, {.input = small_dataset(20).batch(8)}), errc::invalid_argument,
          "has no loss; as_model(head) gives it one");
  refused(train({m.as_model(multi_class_head{.classes = 3}), {}}, small_training(1)), errc::invalid_argument,
          "cannot be trained");
  const auto predict_with = [&](const std::string& name, const shape& row) {
    const auto data = *dataset::from_tensors({{name, tensor::zeros(dtype::float32, row.prepend(2))}});
    auto stream = predict({m.as_model(), {}}, {.input = data.batch(2)});
    REQUIRE(stream);
    return stream->next();
  };
  refused(predict_with("x", {9}), errc::type,
          "'x' is float32 [batch, 9], and the exported model takes float32 [batch, 8]");
  refused(predict_with("z", {8}), errc::key_missing, "'x'");
  auto stream = predict({m.as_model("none"), {}}, {.input = small_dataset().batch(2)});
  REQUIRE(stream);
  refused(stream->next(), errc::invalid_argument,
          "has no signature 'none', but 'classification', 'predict', 'serving_default'");
}

TEST_CASE("an exported model is inspected as any other") {
  exported_case c;
  const auto m = opened(c.written());
  const auto data = small_dataset().batch(4);
  const auto before = inspect_graph(c.e, data, mode::predict),
             after = inspect_graph({m.as_model(), {}}, data, mode::predict);
  REQUIRE(before);
  REQUIRE_MESSAGE(after, why(after));
  CHECK(after->parameters == before->parameters);
  CHECK(after->program.kernels.size() == before->program.kernels.size());
}

TEST_CASE("[EST-17] of several export outputs one must be the default; a single one is there under both names") {
  several none{{}}, one{{"left"}}, two{{"b", "left"}}, named{{"b", "serving_default"}};
  CHECK(opened(*none.written()).signatures().size() == 1);
  const auto single = opened(*one.written());
  REQUIRE(single.signatures().size() == 2);
  CHECK(single.signatures().at("left").outputs == single.signatures().at("serving_default").outputs);
  refused(two.written(), errc::invalid_argument,
          "of several export outputs one must be 'serving_default', and there are 'b', 'left'");
  const auto both = opened(*named.written());
  REQUIRE(both.signatures().size() == 2);
  CHECK(both.signatures().at("b").inputs == std::vector<component>{{"b", dtype::float32, {2}}});
  CHECK(both.signatures().at("serving_default").inputs.size() == 2);
}

TEST_CASE("[EST-17] an exported classifier classifies, and its default are all of its model's predictions") {
  exported_case c;
  const auto m = opened(c.written());
  const auto all = called(m, "serving_default");
  CHECK(all.size() == 3);
  CHECK(called(m, "predict") == all);
  CHECK(called(m, "classification")
        == std::map<std::string, tensor>{{"class_ids", all.at("class_ids")}, {"scores", all.at("probabilities")}});
}

TEST_CASE("[EST-17] each head of an exported multi-head is called by its name, with words where it has a vocabulary") {
  const temporary_directory directory;
  const multi_head both{
      .heads = {{.name = "kind", .head = multi_class_head{.vocabulary = {"a", "b", "c"}}, .label = "y"},
                {.name = "size", .head = regression_head{}, .label = "y"}}};
  const estimator e{dnn_model({.hidden_units = {4}, .head = both}), small_estimator(directory / "run").config};
  const auto trained = train(e, small_training(1));
  REQUIRE_MESSAGE(trained, why(trained));
  const auto m = opened(*export_model(e, {.input = small_dataset().batch(4)}));
  const auto all = called(m, "serving_default");
  CHECK(called(m, "kind/classification")
        == std::map<std::string, tensor>{{"kind/class_ids", all.at("kind/class_ids")},
                                         {"kind/scores", all.at("kind/probabilities")}});
  CHECK(called(m, "size/regression") == std::map<std::string, tensor>{{"size/outputs", all.at("size/predictions")}});
  CHECK(called(m, "size") == std::map<std::string, tensor>{{"size/predictions", all.at("size/predictions")}});
  const auto words_of = [&](const std::string& signature) {
    auto stream = predict({m.as_model(signature), {}}, {.input = small_dataset().batch(2)});
    REQUIRE_MESSAGE(stream, why(stream));
    auto first = stream->next();
    REQUIRE_MESSAGE(first, why(first));
    return (*first)->texts;
  };
  CHECK(words_of("kind/classification") == words_of("serving_default"));
  CHECK(words_of("kind").contains("kind/classes"));
  CHECK(words_of("size").empty());
}

TEST_CASE("a prediction that a model adds to those of its head is exported with them") {
  const temporary_directory directory;
  const model more{"more", [](graph& g, const features& x, const labels& y, mode m) {
                     auto spec = multi_class_head{.classes = 3}.spec(
                         g, {.mode = m, .logits = nn::dense(x["x"], {.units = 3}), .labels = y});
                     if (m == mode::predict)
                       spec.predictions["twice"] = scale(x["x"], 2);
                     return spec;
                   }};
  const estimator e{more, small_estimator(directory / "run").config};
  const auto trained = train(e, small_training(1));
  REQUIRE_MESSAGE(trained, why(trained));
  const auto m = opened(*export_model(e, {.input = small_dataset().batch(4)}));
  CHECK(called(m, "serving_default").contains("twice"));
  CHECK(called(m, "predict").contains("twice"));
}

TEST_CASE("a signature takes the inputs that its outputs need, and no others") {
  several s{{"b", "serving_default"}};
  const auto m = opened(*s.written());
  auto call = m.caller({.signature = "b"});
  REQUIRE_MESSAGE(call, why(call));
  const auto y = call->call({{"b", tensor::of<float>({1, 2}, {5, 7})}});
  REQUIRE_MESSAGE(y, why(y));
  CHECK(y->at("tripled") == tensor::of<float>({1, 2}, {15, 21}));
  const auto data = *dataset::from_tensors({{"b", tensor::of<float>({1, 2}, {5, 7})}});
  CHECK(predicted({m.as_model("b"), {}}, data, 1).at("tripled")[0] == tensor::of<float>({2}, {15, 21}));
}

TEST_CASE(
    "an export that no program of ours wrote, though its manifest is right, is refused, naming the file and the node") {
  exported_case c;
  const auto path = c.written();
  const auto fs = posix_file_system();
  const auto manifest = path + "/manifest.json";
  /// Replaces `from` in a file and then makes the manifest right; opening must fail with `category` and a text with
  /// `names`.
  const auto changed = [&](const std::string& file, const std::string& from, const std::string& to, errc category,
                           const std::string& names) {
    CAPTURE(to);
    const auto whole = *read_file(*fs, path + "/" + file), listed = *read_file(*fs, manifest);
    replace_in(path + "/" + file, from, to);
    refused(exported_model::open(path), errc::data_loss, path + "/" + file);
    auto files = *parse_export_manifest(listed, manifest);
    const auto text = *read_file(*fs, path + "/" + file);
    for (auto& f : files)
      if (f.name == file)
        f = {file, std::ssize(text), std::ssize(text), crc32c(text)};
    REQUIRE(write_file_atomically(*fs, path, "manifest.json", write_export_manifest(files)));
    refused(exported_model::open(path), category, names);
    REQUIRE(write_file_atomically(*fs, path, file, whole));
    REQUIRE(write_file_atomically(*fs, path, "manifest.json", listed));
    REQUIRE(exported_model::open(path));
  };
  changed("graph.json", "\"operation\":\"relu\"", "\"operation\":\"sparkle\"", errc::unimplemented,
          "has the operation 'sparkle', which this program does not know");
  changed("graph.json", "\"operation\":\"relu\"", "\"operation\":\"matmul\"", errc::data_loss,
          path + "/graph.json: node ");
  changed("graph.json", "\"format_version\": 2", "\"format_version\": 3", errc::unimplemented,
          path + "/graph.json: format version 3, and this program reads 1 to 2");
  changed("graph.json", "[8,5]", "[8,6]", errc::data_loss, "'dense/kernel'");
  changed("signature.json", "\"serving_default\"", "\"default\"", errc::data_loss,
          path + "/signature.json: there is no signature 'serving_default'");
  changed("signature.json", "[\"batch\",8]", "[\"batch\",9]", errc::data_loss,
          "signature 'classification': 'x' is of another dtype or shape than node ");
  refused(exported_model::open(c.directory / "run"), errc::not_found, "is not an exported model: it has no graph.json");
  refused(exported_model::open(c.directory / "nowhere"), errc::not_found, "is not an exported model");
}

TEST_CASE("no byte that is changed in a JSON file of an export goes unnoticed: opening and inspecting name the file") {
  exported_case c;
  const auto path = c.written();
  for (const std::string file : {"graph.json", "signature.json", "preparation.json", "manifest.json"}) {
    CAPTURE(file);
    const auto whole = *read_file(*posix_file_system(), path + "/" + file);
    int64_t wrong = 0;
    for (size_t at = 0; at < whole.size(); ++at) {
      auto text = whole;
      text[at] = text[at] == '1' ? '9' : '1';
      std::ofstream{path + "/" + file, std::ios::binary} << text;
      const auto m = exported_model::open(path);
      wrong += text != whole
                       && (m || m.error().category != errc::data_loss
                           || !m.error().message.starts_with(path + "/" + file + ": "))
                   ? 1
                   : 0;
    }
    CHECK(wrong == 0);
    std::ofstream{path + "/" + file, std::ios::binary} << whole.substr(0, whole.size() - 3) + "x}\n";
    const auto shown = inspect_export(path);
    REQUIRE_MESSAGE(shown, why(shown));
    REQUIRE(shown->damages.size() == 1);
    CHECK(has(shown->damages[0].reason, path + "/" + file));
    std::ofstream{path + "/" + file, std::ios::binary} << whole;
    CHECK(exported_model::open(path)->remark().empty());
  }
}

TEST_CASE("the export that the first version wrote is opened, remarks that it has no manifest, and answers as then") {
  const auto path = std::string{TROUPE_GOLDEN_DIR} + "/export-v1/1795562497";
  const auto m = opened(path);
  CHECK(m.remark() == path + " has format version 1, without a manifest: changes of its files may go unnoticed; "
                             "export the model again");
  CHECK(inspect_export(path)->remark == m.remark());
  CHECK(inspect_export(path)->damages.empty());
  CHECK(m.global_step() == 8);
  CHECK(m.checkpoint() == "m/model.ckpt-8");
  CHECK(m.texts().at("classes").words == std::vector<std::string>{"shirt", "bag", "boot"});
  auto call = m.caller();
  REQUIRE_MESSAGE(call, why(call));
  // The first training image, and the logits that the version which wrote the export printed for it.
  const auto y = call->call({{"pixels", first_golden_image()}});
  REQUIRE_MESSAGE(y, why(y));
  const float logits[] = {-0.23721384f, 0.3762564f, -0.27439353f};
  for (size_t i = 0; i < 3; ++i)
    CHECK(std::abs(y->at("logits").as<float>()[i] - logits[i]) < 1e-6f);
  CHECK(y->at("class_ids").as<int64_t>()[0] == 1);
}

}  // namespace troupe
