// Exports of untrained models: their variables have the initial values that a seed gives.
#pragma once

#include "compute/engine/step_engine.hpp"
#include "exports/surroundings.hpp"
#include "models/model_spec.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"

#include <troupe/estimator.hpp>
#include <troupe/exported_model.hpp>

namespace troupe::test {

/// Commits a checkpoint of step 0 with the initial variables of the predict graph to `model_dir`, and exports it.
inline expected<std::string> export_initialised(const model& source, const std::vector<component>& features,
                                                const std::string& model_dir, uint64_t seed = 7,
                                                const std::shared_ptr<file_system>& files = posix_file_system()) {
  const auto built = build_graph(source, {features, {}}, mode::predict);
  if (!built)
    return fail(built.error());
  auto layout = layout_of(**built);
  if (!layout)
    return fail(layout.error());
  auto parameters = parameter_store::create(std::move(*layout), 1);
  if (!parameters)
    return fail(parameters.error());
  (*parameters)->initialise(seed);
  checkpoint_content content;
  const auto entries = (*parameters)->layout().entries();
  for (size_t e = 0; e < entries.size(); ++e)
    content.tensors.push_back({entries[e].name, (*parameters)->view(0, static_cast<int32_t>(e))});
  {
    auto store = checkpoint_store::open(files, model_dir);
    if (!store)
      return fail(store.error());
    if (auto done = (*store)->commit(content); !done)
      return fail(done.error());
  }
  export_surroundings in;
  in.files = files;
  return export_model(in, {source, {.model_dir = model_dir}}, {.features = features});
}

}  // namespace troupe::test
