// Start here: everything to build a model, train it, evaluate it and embed it. Read estimator.hpp first, then model.hpp,
// dataset.hpp, job.hpp, predict.hpp.
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/checkpoints.hpp>
#include <troupe/dataset.hpp>
#include <troupe/dataset_iterator.hpp>
#include <troupe/error.hpp>
#include <troupe/estimator.hpp>
#include <troupe/event_value.hpp>
#include <troupe/exported_model.hpp>
#include <troupe/exporter.hpp>
#include <troupe/graph.hpp>
#include <troupe/hook.hpp>
#include <troupe/inspect.hpp>
#include <troupe/job.hpp>
#include <troupe/losses.hpp>
#include <troupe/model.hpp>
#include <troupe/nn.hpp>
#include <troupe/onnx.hpp>
#include <troupe/operations.hpp>
#include <troupe/optimizer.hpp>
#include <troupe/predict.hpp>
#include <troupe/prediction_file.hpp>
#include <troupe/record.hpp>
#include <troupe/run_config.hpp>
#include <troupe/run_description.hpp>
#include <troupe/run_record.hpp>
#include <troupe/sequential.hpp>
#include <troupe/summary.hpp>
#include <troupe/tensor.hpp>
#include <troupe/vocabulary.hpp>
