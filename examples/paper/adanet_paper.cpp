// The comparison of the AdaNet paper's table 1 on pairs of Fashion-MNIST: AdaNet and AdaNet.CVX beside logistic
// regression and networks with drawn settings. docs/adanet.md explains it.
//
//   ./dev paper                                        # All pairs and folds, and the table.
//   adanet_paper --pair coat-shirt --fold 0 --work DIR # One of them.
//
// Each method is a line of JSON: what it is worth on the fold, and the settings that were chosen.
#include "examples/paper/methods.hpp"

#include <troupe/estimator.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <iostream>

namespace {

namespace tr = troupe;

struct settings {
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string pair = {};
  int64_t fold = 0, folds = 3;
  paper::budget budget = {};
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print(const settings& s, const char* method, const paper::verdict& v, double seconds) {
  std::cout << R"({"pair": ")" << s.pair << R"(", "fold": )" << s.fold << R"(, "method": ")" << method
            << R"(", "test": )" << v.test << R"(, "validation": )" << v.validation << R"(, "settings": ")" << v.settings
            << R"(", "trained": )" << v.trained << R"(, "seconds": )" << seconds << "}" << std::endl;
}

tr::expected<void> compare(const settings& s) {
  const auto pair = std::find_if(paper::all_pairs().begin(), paper::all_pairs().end(),
                                 [&](const paper::class_pair& p) { return p.name == s.pair; });
  const auto images = tr::mnist_train(s.data);
  if (!images)
    return tr::fail(images.error());
  const auto pictures = paper::pictures_of(*pair, *images);
  if (!pictures)
    return tr::fail(pictures.error());
  const auto fold = paper::fold_of(*pictures, s.fold, s.folds);

  int64_t trained = 0;
  const auto judge = [&](const char* method, auto&& run) -> tr::expected<void> {
    const double began = seconds_now();
    const tr::expected<paper::verdict> v = run();
    if (!v)
      return tr::fail(v.error());
    print(s, method, *v, seconds_now() - began);
    trained = v->trained;
    return {};
  };
  return judge("logistic", [&] { return paper::judge_logistic(fold, s.budget); })
      .and_then([&] { return judge("cvx", [&] { return paper::judge_cvx(fold, s.budget); }); })
      .and_then([&] { return judge("adanet", [&] { return paper::judge_adanet(fold, s.budget); }); })
      .and_then([&] { return judge("network", [&] { return paper::judge_networks(fold, s.budget, trained); }); });
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  std::vector<std::string> names;
  for (const auto& pair : paper::all_pairs())
    names.push_back(pair.name);
  CLI::App flags{
      "Compares AdaNet, AdaNet.CVX, logistic regression and tuned networks on two classes of Fashion-MNIST."};
  flags.add_option("--pair", s.pair, "the two classes")->required()->check(CLI::IsMember(names));
  flags.add_option("--fold", s.fold, "which fold is tested, from 0")->check(CLI::Range(0, 99))->capture_default_str();
  flags.add_option("--folds", s.folds, "how many there are")->check(CLI::Range(2, 100))->capture_default_str();
  flags.add_option("--work", s.budget.work, "a directory for the models, of this pair and fold only")->required();
  flags.add_option("--data", s.data, "the files of Fashion-MNIST")->capture_default_str();
  flags.add_option("--steps", s.budget.steps, "of each network and subnetwork")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  flags.add_option("--rounds", s.budget.rounds, "the most that AdaNet makes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  flags.add_option("--cvx-rounds", s.budget.cvx_rounds, "the most units of AdaNet.CVX")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  flags.add_option("--seed", s.budget.seed, "of initial values, of the order of examples and of the drawn settings")
      ->capture_default_str();
  CLI11_PARSE(flags, argc, argv);
  if (s.fold >= s.folds) {
    std::cerr << "--fold must be below --folds, " << s.folds << ", not " << s.fold << "\n";
    return 1;
  }
  const auto done = compare(s);
  return done ? 0 : tr::print_error(done.error());
}
