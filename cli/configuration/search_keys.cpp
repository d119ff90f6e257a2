// The keys of [search].
#include "cli/configuration/key_rows.hpp"
#include "cli/configuration/search_fields.hpp"

namespace troupe::cli {

namespace {

void add_generator(std::vector<key_info>& keys) {
  const alternatives kinds{"search.generator.", generator_choice{}};
  keys.push_back(choice("search.generator.kind",
                        "the networks of each iteration: two dense ones, as deep as the newest member and one layer "
                        "deeper; a convolution; a linear one",
                        "", kinds));
  kinds.finish(keys);
  add_optimizer_keys(keys, "search.generator.optimizer.");
}

void add_builders(std::vector<key_info>& keys) {
  keys.push_back(
      tables("search.builders", "in place of a generator: the networks of each iteration, as [[search.builders]]"));
  add_rows(keys, "search.builders[].", builder_options{});
  add_layer_keys(keys, "search.builders[].layers",
                 "its layers in their order, as [[search.builders.layers]], before the logits; none: a linear network");
  add_optimizer_keys(keys, "search.builders[].optimizer.");
}

void add_ensemblers(std::vector<key_info>& keys) {
  keys.push_back(tables("search.ensemblers",
                        "how networks become an ensemble, as [[search.ensemblers]]; each forms each candidate; one "
                        "complexity_regularized unless given"));
  const alternatives kinds{"search.ensemblers[].", ensembler_choice{}};
  keys.push_back(choice("search.ensemblers[].kind",
                        "a weighted sum whose weights are penalised by complexity, or the mean of the logits",
                        std::string{name_of(regularized_options{})}, kinds));
  kinds.finish(keys);
  add_optimizer_keys(
      keys, "search.ensemblers[].optimizer.",
      "complexity_regularized: the update rule of weights and bias; without [search.ensemblers.optimizer] "
      "they are not trained");
}

void add_choose(std::vector<key_info>& keys) {
  const alternatives kinds{"search.choose.", choose_choice{}};
  keys.push_back(choice("search.choose.by",
                        "an iteration is won by the least moving average of adanet_loss, or by an evaluation",
                        std::string{name_of(choose_by_average{})}, kinds));
  kinds.finish(keys);
}

}  // namespace

void add_search_keys(std::vector<key_info>& keys) {
  add_rows(keys, "search.", strategy_options{});
  add_rows(keys, "search.", defaults_of<search_options>());
  add_generator(keys);
  add_builders(keys);
  add_ensemblers(keys);
  add_choose(keys);
}

}  // namespace troupe::cli
