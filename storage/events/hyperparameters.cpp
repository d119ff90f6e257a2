#include "storage/events/hyperparameters.hpp"

#include "storage/encodings/utf8.hpp"
#include "storage/proto/hyperparameters.pb.h"
#include "words/text.hpp"

#include <map>

namespace troupe {

namespace {

constexpr int text_type = 1, boolean_type = 2, number_type = 3;  // TensorBoard's numbers for types of hyperparameters.
constexpr int training_set = 1, validation_set = 2;              // Its numbers for kinds of data sets.
constexpr int succeeded = 1, failed_status = 2;                  // Its numbers for how a session ended.

event_value kept(std::string tag, const proto::HParamsPluginData& content) {
  return {.as = event_value::form::opaque,
          .tag = std::move(tag),
          .plugin = std::string{hyperparameters_plugin},
          .data = content.SerializeAsString()};
}

std::string text_of(const proto::HParamValue& value) {
  switch (value.kind_case()) {
    case proto::HParamValue::kNumberValue: return shortest_text(value.number_value());
    case proto::HParamValue::kStringValue: return as_utf8(value.string_value());
    case proto::HParamValue::kBoolValue: return value.bool_value() ? "true" : "false";
    case proto::HParamValue::KIND_NOT_SET: break;
  }
  return "none";
}

}  // namespace

event_value experiment_summary(const hyperparameters& values,
                               const std::vector<std::pair<std::string, std::string>>& metrics, double wall_time) {
  proto::HParamsPluginData content;
  auto& experiment = *content.mutable_experiment();
  experiment.set_time_created_secs(wall_time);
  for (const auto& [name, value] : values) {
    auto& info = *experiment.add_hparam_infos();
    info.set_name(name);
    info.set_type(std::holds_alternative<double>(value) ? number_type
                  : std::holds_alternative<bool>(value) ? boolean_type
                                                        : text_type);
  }
  for (const auto& [group, tag] : metrics) {
    auto& info = *experiment.add_metric_infos();
    info.mutable_name()->set_group(group);
    info.mutable_name()->set_tag(tag);
    info.set_display_name(group.empty() ? tag : group + "/" + tag);
    info.set_dataset_type(group.empty() ? training_set : validation_set);
  }
  return kept("_hparams_/experiment", content);
}

event_value session_start_summary(const hyperparameters& values, const std::string& name, double wall_time) {
  proto::HParamsPluginData content;
  auto& start = *content.mutable_session_start_info();
  start.set_group_name(as_utf8(name));
  start.set_start_time_secs(wall_time);
  for (const auto& [key, value] : values) {
    auto& one = (*start.mutable_hparams())[key];
    if (const auto* number = std::get_if<double>(&value))
      one.set_number_value(*number);
    else if (const auto* truth = std::get_if<bool>(&value))
      one.set_bool_value(*truth);
    else
      one.set_string_value(as_utf8(std::get<std::string>(value)));
  }
  return kept("_hparams_/session_start_info", content);
}

event_value session_end_summary(bool failed, double wall_time) {
  proto::HParamsPluginData content;
  content.mutable_session_end_info()->set_status(failed ? failed_status : succeeded);
  content.mutable_session_end_info()->set_end_time_secs(wall_time);
  return kept("_hparams_/session_end_info", content);
}

expected<std::string> hyperparameters_text(const std::string& bytes) {
  proto::HParamsPluginData content;
  if (!content.ParseFromString(bytes))
    return fail(errc::data_loss, "are not what TensorBoard's plugin keeps");
  switch (content.data_case()) {
    case proto::HParamsPluginData::kExperiment: {
      const auto name = [](const auto& info) { return as_utf8(info.name()); };
      const auto metric = [](const auto& info) {
        return (info.name().group().empty() ? "" : as_utf8(info.name().group()) + "/") + as_utf8(info.name().tag());
      };
      return "hyperparameters " + joined(content.experiment().hparam_infos(), ", ", name) + "; metrics "
             + joined(content.experiment().metric_infos(), ", ", metric);
    }
    case proto::HParamsPluginData::kSessionStartInfo: {
      const auto& values = content.session_start_info().hparams();
      std::map<std::string, std::string> sorted;  // Sorted, since maps in protobuf messages have no order.
      for (const auto& [name, value] : values)
        sorted.emplace(as_utf8(name), text_of(value));
      return joined(sorted, ", ", [](const auto& value) { return value.first + " = " + value.second; });
    }
    case proto::HParamsPluginData::kSessionEndInfo: {
      const int status = content.session_end_info().status();
      return status == succeeded       ? std::string{"ended"}
             : status == failed_status ? "failed"
                                       : "status " + std::to_string(status);
    }
    case proto::HParamsPluginData::DATA_NOT_SET: break;
  }
  return std::string{"nothing"};
}

}  // namespace troupe
