#include "examples/paper/methods.hpp"

#include "examples/paper/adanet.hpp"
#include "examples/paper/cvx.hpp"
#include "examples/paper/plain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace paper {

namespace {

constexpr int64_t batch_rows = 100;
constexpr double lambdas[] = {0, 1e-6, 1e-5, 1e-4};

tr::dataset batches_of(const pictures& p) { return p.dataset().shuffle().batch(batch_rows).repeat(); }
tr::dataset one_pass(const pictures& p) { return p.dataset().batch(500); }

tr::run_config config_of(const budget& b, const std::string& name) {
  return {.model_dir = b.work + "/" + name,
          .seed = b.seed,
          .save_summary_steps = 0,
          .save_checkpoints_steps = int64_t{1} << 40,  // Only at the end of each call.
          .keep_checkpoint_max = 1,
          .log_step_count_steps = std::nullopt,
          .intra_op_threads = 1};
}

/// One model on the two parts that judge.
struct scores {
  double validation = 0, validation_loss = 0, test = 0;
};
tr::expected<scores> scores_of(const tr::estimator& e, const fold& f) {
  const auto validation = tr::evaluate(e, {.input = one_pass(f.validation)});
  if (!validation)
    return tr::fail(validation.error());
  const auto test = tr::evaluate(e, {.input = one_pass(f.test)});
  if (!test)
    return tr::fail(test.error());
  return scores{validation->metrics.at("accuracy"), validation->metrics.at("loss"), test->metrics.at("accuracy")};
}

/// Keeps the best settings.
class choice {
 public:
  void offer(const scores& s, const std::string& settings) {
    if (chosen_ && std::pair{-s.validation, s.validation_loss} >= std::pair{-best_.validation, best_.validation_loss})
      return;
    chosen_ = true;
    best_ = s;
    settings_ = settings;
  }
  verdict result(int64_t trained) const { return {best_.validation, best_.test, settings_, trained}; }

 private:
  bool chosen_ = false;
  scores best_;
  std::string settings_;
};

tr::expected<scores> train_plain(const plain_settings& s, const fold& f, int64_t steps, const tr::run_config& config) {
  const tr::estimator e{plain_model(s), config};
  if (const auto done = tr::train(e, {.input = batches_of(f.training), .max_steps = steps}); !done)
    return tr::fail(done.error());
  return scores_of(e, f);
}

std::function<double(int64_t)> complexity_of(const fold& f, int64_t units) {
  const auto& x = f.training.features;
  const float greatest = std::abs(
      *std::max_element(x.begin(), x.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
  const complexity_options o{
      .inputs = pictures::inputs, .units = units, .examples = f.training.count(), .input_max = greatest};
  return [o](int64_t layer) { return layer_complexity(layer, o); };
}

std::string members_text(const tr::architecture& recipe) {
  std::string text;
  for (const auto& member : recipe.members)
    text += (text.empty() ? "" : " + ") + member.builder;
  return text;
}

}  // namespace

tr::expected<verdict> judge_logistic(const fold& f, const budget& b) {
  choice best;
  const auto grid = logistic_grid();
  for (size_t i = 0; i < grid.size(); ++i) {
    const auto s = train_plain(grid[i], f, 5 * b.steps, config_of(b, "logistic-" + std::to_string(i)));
    if (!s)
      return tr::fail(s.error());
    best.offer(*s, to_text(grid[i]));
  }
  return best.result(static_cast<int64_t>(grid.size()));
}

tr::expected<verdict> judge_adanet(const fold& f, const budget& b) {
  choice best;
  int64_t trained = 0;
  for (const int64_t units : {50, 100})
    for (const float rate : {1e-3f, 1e-2f})
      for (const double lambda : lambdas) {
        std::ostringstream name;
        name << "B " << units << ", rate " << rate << ", lambda " << lambda;
        const adanet_options o{.units = units,
                               .lambda = lambda,
                               .complexity = complexity_of(f, units),
                               .optimizer = tr::adam{.rate = rate},
                               .steps = b.steps,
                               .rounds = b.rounds};
        double least = std::numeric_limits<double>::infinity();
        const auto judge = [&](const grown_network& grown) -> tr::expected<bool> {
          const auto s = scores_of(grown.network, f);
          if (!s)
            return tr::fail(s.error());
          best.offer(*s, name.str() + ": " + members_text(grown.recipe));
          return s->validation_loss < std::exchange(least, s->validation_loss);
        };
        const auto grown = grow(o, batches_of(f.training), one_pass(f.training), config_of(b, "adanet-" + name.str()),
                                judge);
        if (!grown)
          return tr::fail(grown.error());
        trained += grown->trained;
      }
  return best.result(trained);
}

tr::expected<verdict> judge_cvx(const fold& f, const budget& b) {
  choice best;
  for (const double lambda : lambdas) {
    const cvx_options o{.lambda = lambda, .complexity = complexity_of(f, 1), .rounds = b.cvx_rounds};
    const auto grown = grow_cvx(o, {one_pass(f.training), f.training.labels});
    if (!grown)
      return tr::fail(grown.error());
    const auto s = scores_of({cvx_model(grown->network)}, f);
    if (!s)
      return tr::fail(s.error());
    std::ostringstream text;
    text << "lambda " << lambda << ": " << grown->network.size() << " units";
    best.offer(*s, text.str());
  }
  return best.result(std::size(lambdas));
}

tr::expected<verdict> judge_networks(const fold& f, const budget& b, int64_t networks) {
  choice best;
  std::mt19937_64 random{b.seed};
  for (int64_t i = 0; i < networks; ++i) {
    const auto settings = draw_network(random);
    const auto s = train_plain(settings, f, b.steps, config_of(b, "network-" + std::to_string(i)));
    if (!s)
      return tr::fail(s.error());
    best.offer(*s, to_text(settings));
  }
  return best.result(networks);
}

}  // namespace paper
