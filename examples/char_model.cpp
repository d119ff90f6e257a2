// Learns to predict a text, character by character: two layers of LSTM, a small transformer, or one that remembers,
// beside a model that counts.
//
//   ./dev chars --model lstm             # Installs the text, and runs this program.
//   ./dev chars --model transformer --steps 4000
//   ./dev chars --model transformer_xl --replicas 2
//
// The text is the Jargon File of Debian's package jargon-text (1.7 MB, public domain), unless --text names another. The
// first nine tenths are learnt from, the last is foretold. Run again, with more steps, it goes on where it stood, at
// the rate that the longer run has there.
#include "examples/count_model.hpp"
#include "examples/text.hpp"

#include <troupe/host_call.hpp>
#include <troupe/losses.hpp>
#include <troupe/troupe.hpp>

#include <CLI/CLI.hpp>

#include <iomanip>
#include <iostream>
#include <numbers>

namespace tr = troupe;

namespace {

struct settings {
  std::string model = "lstm";
  std::string text = "/usr/share/doc/jargon-text/jargon.txt.gz";
  std::string model_dir = {};
  int64_t steps = 2000;
  int64_t units = 128;
  int64_t window = 64;        ///< Characters that are foretold of one window.
  int64_t batch = 32;         ///< Windows in a step.
  double dropout = 0;         ///< Useful where the text is read many times over.
  int64_t memory = 64;        ///< transformer_xl: positions that each block remembers; twice as many while evaluating.
  std::string lasts = "run";  ///< transformer_xl: how long the memory lasts, over the run or a loop.
  int64_t loop = 100;         ///< Steps of a loop.
  int64_t save_steps = 500;
  int64_t replicas = 1;
  int64_t threads = 0;
  uint64_t seed = 1;

  bool remembers() const { return model == "transformer_xl"; }
};

/// Streams in which the held-out text is read by a model that remembers.
constexpr int64_t evaluation_streams = 8;

// -- models ------------------------------------------------------------------------

/// Two layers of LSTM, which know nothing of what came before the window.
tr::symbol lstm_layers(tr::symbol characters, int64_t kinds, const settings& s, bool training) {
  tr::symbol x = tr::nn::embedding(characters,
                                   {.entries = kinds, .units = s.units / 2, .embeddings = tr::init::normal(0, 1)});
  for (int layer = 0; layer < 2; ++layer)
    x = tr::dropout(tr::nn::lstm(x, {.units = s.units}).outputs, s.dropout, training);
  return x;
}

/// Two blocks of attention, which sees how far back a character lies, and feed-forward layers.
tr::symbol transformer_blocks(tr::symbol characters, int64_t kinds, const settings& s, bool training) {
  tr::symbol x = tr::nn::embedding(characters,
                                   {.entries = kinds, .units = s.units, .embeddings = tr::init::normal(0, 1)});
  for (int block = 0; block < 2; ++block) {
    const tr::symbol seen = tr::nn::multi_head_attention(tr::nn::layer_norm(x), {.heads = 4, .relative = true});
    x = tr::nn::residual(x, seen, {.dropout = s.dropout, .training = training});
    const tr::symbol thought = tr::nn::feed_forward(tr::nn::layer_norm(x), {.hidden = 4 * s.units});
    x = tr::nn::residual(x, thought, {.dropout = s.dropout, .training = training});
  }
  return tr::nn::layer_norm(x);
}

/// The same blocks with a memory: each sees also what it was given in the windows before (Transformer-XL, Dai et al.
/// 2019, 3.2). `begins`: the rows whose stream begins, which have nothing to remember.
tr::symbol transformer_xl_blocks(tr::graph& g, tr::symbol characters, tr::symbol begins, int64_t kinds,
                                 const settings& s, bool training) {
  const int64_t length = training ? s.memory : 2 * s.memory;
  const tr::extent batch = characters.dims()[0];
  const tr::symbol goes_on = tr::reshape(tr::cast(tr::logical_not(begins), tr::dtype::float32), {batch, 1, 1});
  tr::symbol x = tr::nn::embedding(characters,
                                   {.entries = kinds, .units = s.units, .embeddings = tr::init::normal(0, 1)});
  for (int block = 0; block < 2; ++block) {
    const tr::symbol before = g.state({.name = "memory_" + std::to_string(block),
                                       .dims = {batch, length, s.units},
                                       .lasts = s.lasts == "run" ? tr::lifetime::run : tr::lifetime::loop});
    const tr::symbol all = tr::concat({before * goes_on, x}, 1);
    g.carry(before, tr::slice(all, 1, s.window, length));
    const tr::symbol normal = tr::nn::layer_norm(all);
    const tr::symbol seen = tr::nn::multi_head_attention(
        tr::slice(normal, 1, length, s.window),
        {.heads = 4, .memory = tr::slice(normal, 1, 0, length), .relative = true});
    x = tr::nn::residual(x, seen, {.dropout = s.dropout, .training = training});
    const tr::symbol thought = tr::nn::feed_forward(tr::nn::layer_norm(x), {.hidden = 4 * s.units});
    x = tr::nn::residual(x, thought, {.dropout = s.dropout, .training = training});
  }
  return tr::nn::layer_norm(x);
}

tr::optimizer optimizer_of(const settings& s) {
  if (s.model == "lstm")
    return {.rule = tr::adam{.rate = 1e-2f},
            .schedule = tr::inverse_sqrt_decay{.decay_steps = 500},
            .clip = {.global_norm = 1}};
  return {.rule = tr::adam{.rate = 4e-3f},
          .schedule = tr::cosine_decay{.decay_steps = s.steps},
          .warmup_steps = 100,
          .clip = {.global_norm = 1}};
}

/// Bits of each character of the windows of a step, as curves beside the loss: a model that remembers nothing foretells
/// the beginning of a window worse than its end.
void record_bits(tr::host_call_step& step) {
  const tr::tensor& bits = step["bits"];  // [windows, characters]
  const auto all = bits.as<float>();
  const auto windows = static_cast<size_t>(bits.dims()[0]), characters = static_cast<size_t>(bits.dims()[1]);
  const auto mean_between = [&](size_t first, size_t end) {
    double sum = 0;
    for (size_t w = 0; w < windows; ++w)
      for (size_t c = first; c < end; ++c)
        sum += static_cast<double>(all[w * characters + c]);
    return sum / static_cast<double>(windows * (end - first));
  };
  step.scalar("bits/all", mean_between(0, characters));
  step.scalar("bits/first_half", mean_between(0, characters / 2));
  step.scalar("bits/last_half", mean_between(characters / 2, characters));
}

/// What follows each character of a window; while evaluating of its last half only, so that each has half a window
/// before it, unless the model remembers the window before.
tr::model next_character(int64_t kinds, const settings& s) {
  const auto build = [kinds, s](tr::graph& g, const tr::features& in, const tr::labels&, tr::mode mode) {
    const bool training = mode == tr::mode::train;
    const tr::symbol given = tr::slice(in["characters"], 1, 0, s.window),
                     next = tr::slice(in["characters"], 1, 1, s.window);
    const tr::symbol x = s.model == "lstm" ? lstm_layers(given, kinds, s, training)
                         : s.remembers()   ? transformer_xl_blocks(g, given, in["begins"], kinds, s, training)
                                           : transformer_blocks(given, kinds, s, training);
    const tr::symbol logits = tr::nn::dense(x, {.units = kinds, .name = "logits"});
    const int64_t count = training || s.remembers() ? s.window : s.window / 2, first = s.window - count;
    const tr::symbol losses = tr::losses::sparse_softmax_cross_entropy(
        tr::slice(next, 1, first, count), tr::slice(logits, 1, first, count), {.reduce = tr::losses::reduction::none});
    const tr::symbol bits = losses * (1 / std::numbers::ln2);
    const tr::symbol ones = tr::cast(tr::equal(losses, losses), tr::dtype::float32);
    if (training)
      g.host_call({.name = "bits", .tensors = {{"bits", bits}}, .every = 10});
    return tr::model_spec{.loss = tr::reduce_mean(losses),
                          .optimizer = optimizer_of(s),
                          .metrics = {{"bits_per_character", {tr::reduce_sum(bits), tr::reduce_sum(ones)}}}};
  };
  return {.name = s.model, .build = build, .host_calls = {{"bits", record_bits}}};
}

// -- the program -------------------------------------------------------------------

struct print_events : tr::hook {
  void on_event(const tr::job_event& e, tr::job_control&) override { std::cout << tr::to_text(e) << std::endl; }
};

/// Batches of which each row goes on where it ended in the batch before.
tr::dataset streams_of(const tr::dataset& text, const settings& s, int64_t rows) {
  return text.window(s.window + 1, s.window).streams(rows, {.begins = "begins"}).batch(rows);
}

tr::expected<void> run(const settings& s) {
  const auto text = read_text(s.text);
  if (!text)
    return tr::fail(text.error());
  // The held-out tenth is cut into half windows, each foretold after at least as much, the first one too: every
  // character once.
  const auto length = static_cast<int64_t>(text->characters.size()), half = s.window / 2;
  const int64_t held_out = length / 10 / half * half, learnt = length - held_out;
  if (held_out == 0 || learnt <= s.window)
    return tr::fail(
        tr::errc::invalid_argument,
        s.text + " has " + std::to_string(length) + " characters: too few for windows of " + std::to_string(s.window));

  count_model counts{3, text->kinds};
  counts.learn(std::span{text->characters}.first(static_cast<size_t>(learnt)));
  const double to_beat = counts.bits_per_character(text->characters, static_cast<size_t>(learnt));
  std::cout << s.text << ": " << length << " characters of " << text->kinds << " kinds, the last " << held_out
            << " of them held out" << std::endl;

  const auto characters = tr::dataset::from_tensors(
      {{"characters", tr::tensor::of<int32_t>({length}, text->characters)}});
  if (!characters)
    return tr::fail(characters.error());
  const tr::estimator estimator{next_character(text->kinds, s),
                                {.model_dir = s.model_dir,
                                 .seed = s.seed,
                                 .save_checkpoints_steps = s.save_steps,
                                 .steps_per_loop = s.loop,
                                 .gradient_shards = s.remembers() ? std::optional<int64_t>{2} : std::nullopt,
                                 .replicas = s.replicas,
                                 .intra_op_threads = s.threads}};
  const auto learnt_text = characters->take(learnt);
  const auto result = tr::train_and_evaluate(
      estimator,
      {.input = s.remembers() ? streams_of(learnt_text, s, s.batch).repeat()
                              : learnt_text.window(s.window + 1, 1).shuffle().batch(s.batch).repeat(),
       .max_steps = s.steps,
       .hooks = {std::make_shared<print_events>()}},
      {.input = s.remembers() ? streams_of(characters->skip(learnt - 1), s, evaluation_streams)
                              : characters->skip(learnt - (s.window - half) - 1).window(s.window + 1, half).batch(64),
       .throttle_secs = 0});
  if (!result)
    return tr::fail(result.error());
  std::cout << std::fixed << std::setprecision(3)
            << "bits per character of what was held out: " << result->metrics.at("bits_per_character") << " by "
            << s.model << " after " << result->global_step << " steps, " << to_beat
            << " by counting what follows three characters\n";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App flags{"Learns to predict a text, character by character."};
  flags.add_option("--model", s.model, "lstm, transformer or transformer_xl")
      ->check(CLI::IsMember({"lstm", "transformer", "transformer_xl"}))
      ->capture_default_str();
  flags.add_option("--text", s.text, "the text, plain or gzip'ed")->capture_default_str();
  flags.add_option("--model-dir", s.model_dir, "where checkpoints are kept [runs/chars-MODEL]");
  flags.add_option("--steps", s.steps, "where training ends, and where the rate of the transformers has fallen to 0")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  flags.add_option("--units", s.units, "of each layer")->check(CLI::Range(4, 4096));
  flags.add_option("--window", s.window, "characters that are foretold of one window")->check(CLI::Range(2, 4096));
  flags.add_option("--batch", s.batch, "windows in a step")->check(CLI::Range(1, 4096));
  flags.add_option("--memory", s.memory, "transformer_xl: positions that each block remembers")
      ->check(CLI::Range(1, 4096));
  flags.add_option("--lasts", s.lasts, "transformer_xl: how long the memory lasts")
      ->check(CLI::IsMember({"run", "loop"}))
      ->capture_default_str();
  flags.add_option("--loop", s.loop, "steps of a loop")->check(CLI::PositiveNumber);
  flags.add_option("--save-steps", s.save_steps, "between checkpoints")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  flags.add_option("--replicas", s.replicas, "that share each batch")->check(CLI::Range(1, 1024));
  flags.add_option("--dropout", s.dropout, "while training")->check(CLI::Range(0.0, 0.9));
  flags.add_option("--threads", s.threads, "that share the arithmetic, with the same result; 0: as many as pay")
      ->check(CLI::Range(0, 256));
  flags.add_option("--seed", s.seed, "of starting values and of the order of windows");
  CLI11_PARSE(flags, argc, argv);
  if (s.model_dir.empty())
    s.model_dir = "runs/chars-" + s.model;
  const auto done = run(s);
  return done ? 0 : tr::print_error(done.error());
}
