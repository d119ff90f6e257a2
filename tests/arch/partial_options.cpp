// Compiles only if a designated initialiser may omit each member of a public struct of options. The library is built
// with -Wmissing-field-initializers as an error, as are the programs of users who set -Wextra -Werror.
#include <troupe/convert.hpp>
#include <troupe/dataset_iterator.hpp>
#include <troupe/deployment.hpp>
#include <troupe/exported_model.hpp>
#include <troupe/hooks.hpp>
#include <troupe/inspect.hpp>
#include <troupe/losses.hpp>
#include <troupe/metrics.hpp>
#include <troupe/onnx.hpp>
#include <troupe/options/spec_fields.hpp>
#include <troupe/prediction_file.hpp>
#include <troupe/run_description.hpp>
#include <troupe/search/auto_ensemble.hpp>
#include <troupe/search/generators.hpp>
#include <troupe/search/options.hpp>
#include <troupe/search/searcher.hpp>
#include <troupe/sequential.hpp>
#include <troupe/summary.hpp>
#include <troupe/tfrecord.hpp>
#include <troupe/troupe.hpp>

namespace troupe {

namespace {

template <class... Options>
void leave_out_the_rest(const Options&...) {}

}  // namespace

void of_jobs() {
  leave_out_the_rest(train_spec{.max_steps = 3}, eval_spec{.steps = 3}, predict_spec{.keys = {}},
                     start_options{.executor_deadline = {}}, estimator{.config = {}}, cluster{.task = {.index = 0}},
                     run_config{.replicas = 2}, checkpoint_trigger{.steps = 3}, needs{.holds = {.saved = true}},
                     held_facts{.evaluated = true}, need{.every = 1}, inspect_options{.verify = true},
                     field_range{.least = 0}, option_values{.kind = option_kind::text},
                     warm_start_settings{.freeze = true}, vocab_info{.axis = 1}, convert_options{.step = 3},
                     stop_rule_options{.min_steps = 3}, keep_best{.goal = {.smaller_is_better = false}},
                     deployment_options{.hosts = 8});
  leave_out_the_rest(export_options{.checkpoint = {}}, checkpoint_ref{.step = 3}, export_occasion{.is_final = true},
                     exporter{.goal = {}}, metric_goal{.metric = "auc"}, caller_options{.rows = {1}},
                     export_signature{.outputs = {}}, onnx_options{.signature = "scores"});
}

void of_data() {
  leave_out_the_rest(component{.name = "x"}, element_spec{.labels = {}}, example_tensors{.labels = {}},
                     example_stream{.save = {}}, stream_options{.begins = {}}, train_and_test{.test = {}},
                     idx_options{.labels = "labels"}, tfrecord_options{.compression = compression::none},
                     iterate_options{.host = 0});
}

void of_models() {
  leave_out_the_rest(model{.build = {}}, model_spec{.loss = {}}, ratio_metric{.weight = {}},
                     text_prediction{.words = {}}, head_spec_options{.logits = {}}, binary_head{.thresholds = {0.5}},
                     multi_class_head{.classes = 2}, multi_label_head{.classes = 2},
                     regression_head{.label_dimension = 2}, poisson_head{.full_loss = false}, named_head{.name = "a"},
                     multi_head{.heads = {}}, dnn_model_options{.dropout = 0}, linear_model_options{.head = {}},
                     baseline_model_options{.head = {}}, dnn_linear_combined_model_options{.linear_rule = {}},
                     sequential_model_options{.input_shape = {}}, sequential_layers_options{.layers = {}},
                     dnn_classifier_options{.classes = 2}, dnn_regressor_options{.dropout = 0},
                     linear_classifier_options{.label_smoothing = 0}, linear_regressor_options{.label_dimension = 1},
                     sequential_classifier_options{.classes = 2}, variable_options{.dims = {}}, initializer{.a = 1});
  leave_out_the_rest(matmul_options{.transpose_b = true}, reduce_options{.keep = true}, cumsum_options{.reverse = true},
                     strided_slice_options{.step = {1}}, pad_options{.value = 1}, conv2d_options{.groups = 1},
                     pool_options{.size = {2, 2}}, losses::options{.label_smoothing = 0.1},
                     metrics::options{.weights = {}}, metrics::binary_accuracy_options{.threshold = 0.5},
                     metrics::curve_options{.thresholds = 2}, metrics::auc_options{.thresholds = 2});
}

void of_layers() {
  using namespace nn;
  leave_out_the_rest(dense_options{.units = 2}, embedding_options{.units = 2}, feed_forward_options{.units = 2},
                     residual_options{.training = true}, layer_norm_options{.axes = 1}, rms_norm_options{.axes = 1},
                     batch_norm_options{.momentum = 0.9}, nn::conv2d_options{.filters = 2},
                     conv2d_transpose_options{.filters = 2}, depthwise_conv2d_options{.depth_multiplier = 1},
                     separable_conv2d_options{.filters = 2}, max_pool_options{.size = {2, 2}},
                     average_pool_options{.size = {2, 2}}, lstm_options{.units = 2}, lstm_weights{.forget_bias = 1},
                     gru_options{.units = 2}, gru_weights{.kernel = {}}, sinusoid_options{.step = 1},
                     multi_head_attention_options{.heads = 2});
}

void of_optimizers() {
  leave_out_the_rest(optimizer{.warmup_steps = 3}, clipping{.norm = 1}, variable_group{.suffix = "bias"});
  leave_out_the_rest(proximal_gradient_descent{.l1 = 1}, momentum{.decay = 0.9f}, adagrad{.initial_accumulator = 0.1f},
                     rmsprop{.decay = 0.9f}, adadelta{.rho = 0.9f}, adam{.beta1 = 0.9f}, adamw{.beta1 = 0.9f},
                     adamax{.beta1 = 0.9f}, amsgrad{.beta1 = 0.9f}, ftrl{.l1 = 1}, lamb{.beta1 = 0.9f});
  leave_out_the_rest(exponential_decay{.decay_steps = 3}, polynomial_decay{.decay_steps = 3},
                     piecewise_constant{.values = {}}, cosine_decay{.alpha = 0}, cosine_decay_restarts{.alpha = 0});
}

void of_searches() {
  leave_out_the_rest(search_options{.max_iterations = 2}, search_evaluator{.steps = 3}, report_materializer{.steps = 3},
                     metric_context{.predictions = {}, .features = {nullptr, {}}, .labels = {nullptr, {}}},
                     builder{.name = "a"}, subnetwork{.complexity = 1}, subnetwork_training{.loss = {}},
                     builder_report{.hparams = {}}, generator_input{.iteration = 1}, previous_outputs{.recipe = {}},
                     architecture{.iteration = 1}, ensemble_member{.iteration = 1}, materialized_report{.name = "a"},
                     generator_reports{.all = {}}, ensemble_candidate{.name = "a"}, strategy{.name = "a"},
                     placement{.drop_remainder = true}, head_part{.logits = 1});
  leave_out_the_rest(complexity_regularized_ensembler{.use_bias = true}, mean_ensembler{.name = "a"},
                     custom_ensembler{.name = "a"}, custom_ensemble{.regularization = {}},
                     ensembled_member{.is_new = true}, ensemble_context{.logits_dimension = 1},
                     generators::simple_dnn_options{.seed = 1}, generators::simple_cnn_options{.units = 1},
                     pool_member{.name = "a"}, generators::auto_ensemble_options{.pool = {}},
                     generators::linear_options{.name = "a"}, search_result{.iteration = 1}, searcher{.search = {}});
}

}  // namespace troupe
