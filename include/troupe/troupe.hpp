// Start here: the headers that most programs need, in the order in which to read them. The first line of each other
// header says what it is for: inspecting and converting checkpoints and event files (inspect.hpp, convert.hpp), layouts
// on hosts (deployment.hpp), exported models and serving (exported_model.hpp, onnx.hpp, serve.hpp), hooks (hook.hpp,
// hooks.hpp), host calls (host_call.hpp), your own metrics (metrics.hpp, losses.hpp), record files (tfrecord.hpp),
// options by name (options/).
#pragma once

// clang-format off
#include <troupe/estimator.hpp>
#include <troupe/dataset.hpp>
#include <troupe/canned_models.hpp>
#include <troupe/model.hpp>
#include <troupe/graph.hpp>
#include <troupe/operations.hpp>
#include <troupe/nn.hpp>
#include <troupe/heads.hpp>
#include <troupe/optimizer.hpp>
#include <troupe/run_config.hpp>
#include <troupe/predict.hpp>
#include <troupe/job.hpp>
#include <troupe/exporter.hpp>
#include <troupe/checkpoints.hpp>
#include <troupe/error.hpp>
// clang-format on
