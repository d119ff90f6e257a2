#include "cli/configuration/keys.hpp"

#include "cli/configuration/joined.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace troupe::cli {

const std::vector<key_info>& known_keys() {
  using enum value_kind;
  constexpr double more = std::numeric_limits<double>::infinity(), less = -more;  // No bound.
  const std::vector<std::string> activations{"relu", "elu", "gelu", "gelu_tanh", "sigmoid", "softplus", "swish", "tanh", "none"};
  static const std::vector<key_info> keys{
      {"model.type", text, "dnn_classifier, or sequential_classifier, which has the layers that are listed; dnn_classifier", less, more, false,
       {"dnn_classifier", "sequential_classifier"}},
      {"model.classes", integer, "how many classes there are; as many as the vocabulary has words", 2},
      {"model.vocabulary", texts, "what they are called, as [\"shirt\", \"bag\"]: predicted as \"classes\""},
      {"model.hidden_units", integers, "dnn_classifier: units of each hidden layer, as [256, 128]", 1},
      {"model.activation", text, "after every hidden layer; relu", less, more, false, activations},
      {"model.dropout", number, "share of units dropped while training; 0", 0, 1},
      {"model.batch_norm", boolean, "normalise after every hidden layer; false"},
      {"model.label_smoothing", number, "share of each label that is given to all classes alike; 0", 0, 1},
      {"model.input_shape", integers, "sequential_classifier: the shape of an example, as [28, 28, 1]; that of the data", 1},
      {"model.layers", tables, "its layers in their order, as [[model.layers]], before the logits; layers[0] is the first"},
      {"model.layers[].type", text, "conv2d, max_pool, flatten, dense, dropout, batch_norm, ...: functions of nn.hpp, whose defaults are theirs",
       less, more, false,
       {"conv2d", "conv2d_transpose", "depthwise_conv2d", "separable_conv2d", "max_pool", "average_pool", "global_max_pool", "global_average_pool",
        "flatten", "dense", "dropout", "batch_norm", "layer_norm", "activation"}},
      {"model.layers[].filters", integer, "convolutions: outputs at each place", 1},
      {"model.layers[].kernel_size", extents, "convolutions: height and width, as 3 or [3, 5]", 1},
      {"model.layers[].size", extents, "pools: the same; 2", 1},
      {"model.layers[].strides", extents, "convolutions; 1; pools; size", 1},
      {"model.layers[].padding", text, "both: valid (windows inside of the image), or same; valid", less, more, false, {"valid", "same"}},
      {"model.layers[].dilation", extents, "convolutions but conv2d_transpose; 1", 1},
      {"model.layers[].groups", integer, "conv2d; 1", 1},
      {"model.layers[].depth_multiplier", integer, "depthwise_conv2d, separable_conv2d: outputs of a channel; 1", 1},
      {"model.layers[].units", integer, "dense", 1},
      {"model.layers[].activation", text, "convolutions, dense; none; activation; relu", less, more, false, activations},
      {"model.layers[].bias", boolean, "convolutions, dense; true"},
      {"model.layers[].kernel_initializer", text, "convolutions, dense; glorot_uniform", less, more, false,
       {"glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "lecun_uniform", "lecun_normal", "orthogonal", "zeros"}},
      {"model.layers[].rate", number, "dropout: share of elements dropped while training; 0.5", 0, 1},
      {"model.layers[].momentum", number, "batch_norm: what its statistics keep of themselves in a step; 0.99", 0, 1},
      {"model.layers[].epsilon", number, "batch_norm; 0.001; layer_norm; 1e-05", 0},
      {"model.layers[].gamma", boolean, "batch_norm, layer_norm: a trained factor; true"},
      {"model.layers[].beta", boolean, "both: a trained offset; true"},
      {"model.layers[].axes", integer, "layer_norm: how many of the last axes; 1", 1, 9},
      {"model.layers[].name", text, "what its variables are called; its type"},
      {"optimizer.name", text, "adam", less, more, false,
       {"adam", "adamw", "adamax", "amsgrad", "lamb", "momentum", "gradient_descent", "proximal_gradient_descent", "rmsprop", "adagrad", "adadelta", "ftrl"}},
      {"optimizer.rate", number, "0.001; 0.01 for momentum, (proximal_)gradient_descent, adagrad and ftrl"},
      {"optimizer.beta1", number, "adam and its kin, lamb; 0.9", 0, 1},
      {"optimizer.beta2", number, "adam and its kin, lamb; 0.999", 0, 1},
      {"optimizer.epsilon", number, "adam and its kin, adadelta; 1e-08; lamb; 1e-06; rmsprop; 1e-10"},
      {"optimizer.decay", number, "momentum, rmsprop; 0.9", 0, 1},
      {"optimizer.nesterov", boolean, "momentum; false"},
      {"optimizer.momentum", number, "rmsprop; 0", 0, 1},
      {"optimizer.centered", boolean, "rmsprop; false"},
      {"optimizer.rho", number, "adadelta; 0.95", 0, 1},
      {"optimizer.initial_accumulator", number, "adagrad, ftrl; 0.1"},
      {"optimizer.l1", number, "ftrl, proximal_gradient_descent; 0", 0},
      {"optimizer.l2", number, "ftrl, proximal_gradient_descent; 0", 0},
      {"optimizer.l2_shrinkage", number, "ftrl; 0", 0},
      {"optimizer.learning_rate_power", number, "ftrl; -0.5", less, 0},
      {"optimizer.weight_decay", number, "share of each variable taken off at each step; 0.0001 for adamw, else 0", 0, 1},
      {"optimizer.schedule", text, "constant", less, more, false,
       {"constant", "exponential", "polynomial", "piecewise", "cosine", "cosine_restarts", "inverse_sqrt"}},
      {"optimizer.decay_steps", integer, "exponential, polynomial, cosine, inverse_sqrt: their n", 1},
      {"optimizer.decay_rate", number, "exponential; 0.96"},
      {"optimizer.staircase", boolean, "exponential; false"},
      {"optimizer.end_rate", number, "polynomial; 0.0001", 0},
      {"optimizer.power", number, "polynomial; 1"},
      {"optimizer.cycle", boolean, "polynomial; false"},
      {"optimizer.boundaries", integers, "piecewise: the steps after which the next value holds", 0},
      {"optimizer.values", numbers, "piecewise: the rates, one more than boundaries", 0},
      {"optimizer.first_decay_steps", integer, "cosine_restarts: the first period", 1},
      {"optimizer.t_mul", number, "cosine_restarts: by which each period is longer; 2", 1},
      {"optimizer.m_mul", number, "cosine_restarts: by which each begins higher; 1"},
      {"optimizer.alpha", number, "cosine, cosine_restarts: the share that is left; 0", 0, 1},
      {"optimizer.warmup_steps", integer, "the first steps, in which the rate rises from 0; 0", 0},
      {"optimizer.clip_value", number, "limit of each element of the gradient; 0: none", 0},
      {"optimizer.clip_norm", number, "limit of the norm of each variable's; 0: none", 0},
      {"optimizer.clip_global_norm", number, "limit of the norm of all of it; 0: none", 0},
      {"optimizer.moving_average", number, "decay of the averages of variables that are kept; 0: none", 0, 1},
      {"optimizer.moving_average_ramps", boolean, "whether update t has a decay of (1 + t) / (10 + t) at most; false"},
      {"optimizer.freeze", texts, "beginnings of the names of variables that keep their values"},
      {"optimizer.groups", tables, "variables that are treated differently, as [[optimizer.groups]]; one belongs to the first group that fits"},
      {"optimizer.groups[].prefix", text, "how the names of its variables begin"},
      {"optimizer.groups[].suffix", text, "how they end, as in /bias"},
      {"optimizer.groups[].rate_factor", number, "by which their rate is multiplied; 1", 0},
      {"optimizer.groups[].weight_decay", number, "in place of the optimizer's", 0, 1},
      {"optimizer.groups[].frozen", boolean, "whether they keep their values; false"},
      {"input.format", text, "fashion_mnist (the files of MNIST are named alike)", less, more, false, {"fashion_mnist", "mnist", "idx"}},
      {"input.data", text, "directory of the data; /usr/share/datasets/fashion-mnist"},
      {"input.images", text, "format idx: the file of the training images"},
      {"input.labels", text, "format idx: the file of their labels"},
      {"input.batch_size", integer, "128", 1},
      {"input.shuffle", boolean, "true"},
      {"input.seed", natural, "of the shuffle; run.seed unless given"},
      {"input.epochs", integer, "passes over the training data", 1},
      {"run.model_dir", text, "checkpoints are kept here, and gone on from", less, more, true},
      {"run.seed", natural, "of initial values, shuffles and dropout", less, more, true},
      {"run.max_steps", integer, "the step to end at, those of earlier runs included", 1},
      {"run.steps", integer, "how many steps to make, whatever was done before", 1},
      {"run.save_checkpoints_steps", integer, "steps between two checkpoints; none", 0, more, true},
      {"run.save_checkpoints_secs", number, "or seconds; 600", 0, more, true},
      {"run.keep_checkpoint_max", integer, "how many checkpoints are kept; 5", 0, more, true},
      {"run.keep_checkpoint_every_n_hours", number, "and one of every so many hours; 10000"},
      {"run.save_summary_steps", integer, "steps between two summaries; 100", 0},
      {"run.log_step_count_steps", integer, "steps between two reports of progress; 100", 1, more, true},
      {"run.steps_per_loop", integer, "of no effect yet: 100", 1},
      {"run.gradient_shards", integer, "parts of a batch that are summed in a fixed order", 1, more, true},
      {"run.replicas", integer, "copies of the model that share the work; 1", 1},
      {"run.intra_op_threads", integer, "threads that share the arithmetic of a replica; 1", 1},
      {"run.debug_numerics", boolean, "name the first operation of a step that is not finite; false"},
      {"run.recompute", boolean, "compute cheap values again for the gradients, to save memory; false"},
      {"evaluate.when", text, "training waits (the default), goes on beside it, or never", less, more, false, {"waits", "beside", "never"}},
      {"evaluate.throttle_secs", number, "least time between two evaluations; 600", 0},
      {"evaluate.batch_size", integer, "500", 1},
      {"evaluate.steps", integer, "batches; all of the data unless given", 1},
      {"evaluate.name", text, "results go to eval_<name>"},
      {"evaluate.images", text, "format idx: the file of the test images"},
      {"evaluate.labels", text, "format idx: the file of their labels"},
  };
  return keys;
}

std::string without_number(std::string_view name) {
  const size_t open = name.find('['), close = name.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::string{name};
  const auto number = name.substr(open + 1, close - open - 1);
  const bool is_number = !number.empty() && number.size() <= 6 && number.find_first_not_of("0123456789") == std::string_view::npos
                         && (number.size() == 1 || number.front() != '0');
  return is_number ? std::string{name.substr(0, open + 1)}.append(name.substr(close)) : std::string{name};
}

const key_info* find_key(std::string_view name) {
  if (name.find("[]") != std::string_view::npos)
    return nullptr;  // Ambiguous without a number.
  const auto& keys = known_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [known = without_number(name)](const key_info& k) { return k.name == known; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> keys_ending_in(std::string_view name) {
  std::vector<std::string> found;
  for (const auto& k : known_keys())
    if (std::string_view{k.name}.substr(k.name.find('.') + 1) == name)
      found.push_back(k.name);
  return found;
}

std::vector<std::string> keys_of_table(std::string_view table) {
  std::vector<std::string> found;
  for (const auto& k : known_keys())
    if (std::string_view{k.name}.substr(0, k.name.find('.')) == table)
      found.push_back(k.name);
  return found;
}

namespace {

std::string bounds(const key_info& key) {
  std::string text;
  if (std::isfinite(key.least))
    text += fmt::format(" of at least {}", key.least);
  if (std::isfinite(key.below))
    text += fmt::format("{} less than {}", text.empty() ? "" : " and", key.below);
  return text;
}

template <class T>
bool parse(std::string_view text, T& into) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
  return failed == std::errc{} && end == text.data() + text.size();
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string fits(const key_info& key) {
  std::string text;
  switch (key.kind) {
    case value_kind::integer: text = "a whole number" + bounds(key); break;
    case value_kind::natural: text = "a whole number of at least 0"; break;
    case value_kind::number: text = "a number" + bounds(key); break;
    case value_kind::boolean: text = "true or false"; break;
    case value_kind::integers: text = "a list of whole numbers" + bounds(key) + ", such as [256, 128]"; break;
    case value_kind::numbers: text = "a list of numbers" + bounds(key) + ", such as [0.1, 0.01]"; break;
    case value_kind::extents: text = "a whole number" + bounds(key) + ", or two of them, such as [3, 5]"; break;
    case value_kind::tables: text = "a list of tables, each begun by [[" + key.name + "]]"; break;
    case value_kind::texts: text = "a list of texts without commas, such as [\"shirt\", \"bag\"]"; break;
    default:
      text = key.choices.empty() ? "text" : "one of " + joined(key.choices, ", ");
  }
  return key.may_be_none ? text + ", or \"none\"" : text;
}

namespace {

template <class T>
bool parse_list(std::string_view text, std::vector<T>& into) {
  into.clear();
  text = trimmed(text);
  if (text.starts_with('[') != text.ends_with(']'))
    return false;
  if (text.starts_with('['))
    text = trimmed(text.substr(1, text.size() - 2));
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (!parse(trimmed(text.substr(0, comma)), into.emplace_back()) || comma + 1 == text.size())
      return false;
    text = text.substr(std::min(comma + 1, text.size()));
  }
  return true;
}

}  // namespace

bool parse_integers(std::string_view text, std::vector<int64_t>& into) { return parse_list(text, into); }
bool parse_numbers(std::string_view text, std::vector<double>& into) { return parse_list(text, into); }

std::vector<std::string> parse_texts(std::string_view text) {
  std::vector<std::string> list;
  for (size_t first = 0; !text.empty() && first <= text.size();) {
    const size_t comma = std::min(text.find(',', first), text.size());
    list.emplace_back(trimmed(text.substr(first, comma - first)));
    first = comma + 1;
  }
  return list;
}

bool accepts(const key_info& key, std::string_view value, value_kind written) {
  const bool typed = written != value_kind::untyped;
  if (key.may_be_none && value == "none")
    return true;
  const auto within = [&key](double x) { return x >= key.least && x < key.below; };
  switch (key.kind) {
    case value_kind::integer: {
      int64_t x = 0;
      return (!typed || written == value_kind::integer) && parse(value, x) && within(static_cast<double>(x));
    }
    case value_kind::natural: {
      uint64_t x = 0;
      return (!typed || written == value_kind::integer) && parse(value, x);
    }
    case value_kind::number: {
      double x = 0;
      return (!typed || written == value_kind::integer || written == value_kind::number) && parse(value, x) && within(x);
    }
    case value_kind::boolean: return (!typed || written == value_kind::boolean) && (value == "true" || value == "false");
    case value_kind::integers: {
      std::vector<int64_t> list;
      return (!typed || written == value_kind::integers) && parse_integers(value, list)
             && std::all_of(list.begin(), list.end(), [&](int64_t x) { return within(static_cast<double>(x)); });
    }
    case value_kind::extents: {
      std::vector<int64_t> list;
      return (!typed || written == value_kind::integer || written == value_kind::integers) && parse_integers(value, list)
             && (list.size() == 1 || list.size() == 2)
             && std::all_of(list.begin(), list.end(), [&](int64_t x) { return within(static_cast<double>(x)); });
    }
    case value_kind::tables: return false;  // A single table has been given key by key.
    case value_kind::numbers: {
      std::vector<double> list;
      return (!typed || written == value_kind::integers || written == value_kind::numbers) && parse_numbers(value, list)
             && std::all_of(list.begin(), list.end(), within);
    }
    case value_kind::texts: {
      const auto list = parse_texts(value);
      return (!typed || written == value_kind::texts) && !list.empty() && std::none_of(list.begin(), list.end(), [](const auto& t) { return t.empty(); });
    }
    default:
      return (!typed || written == value_kind::text)
             && (key.choices.empty() ? !value.empty() : std::count(key.choices.begin(), key.choices.end(), value) == 1);
  }
}

std::string describe_keys() {
  std::string text;
  for (const auto& k : known_keys())
    text += fmt::format("  {:<34} {}\n", k.name, k.about);
  return text;
}

}  // namespace troupe::cli
