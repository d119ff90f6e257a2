// Inspects an exported model: the contents of its files, and whether it can be run.
#include "exports/served_model.hpp"
#include "storage/exports/export_directory.hpp"
#include "words/text.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

namespace {

/// Adds the files below a directory with their sizes, by relative path. Entries that vanish meanwhile are left out.
void add_files(file_system& fs, const std::string& directory, const std::string& prefix,
               export_description& description) {
  for (const auto& e : fs.list(directory).value_or(std::vector<file_info>{})) {
    if (e.directory) {
      add_files(fs, join_path(directory, e.name), prefix + e.name + "/", description);
      continue;
    }
    description.files.push_back(prefix + e.name);
    description.bytes += e.size;
  }
}

std::string shape_of(const symbol_shape& dims, const std::vector<std::string>& unknowns) {
  return "["
         + joined(dims, ", ",
                  [&](const extent& e) {
                    const std::string number = std::to_string(e.coefficient);
                    return e.known()
                               ? number
                               : (e.coefficient == 1 ? "" : number + "*") + unknowns[static_cast<size_t>(e.unknown)];
                  })
         + "]";
}

void add_content(export_description& description, const export_content& content) {
  description.model = content.origin.model;
  description.global_step = content.origin.global_step;
  description.checkpoint = content.origin.checkpoint;
  description.evaluation = content.origin.evaluation;
  description.nodes = std::ssize(content.graph.nodes);
  const auto values = [&](const std::map<std::string, stored_signature::value>& from) {
    std::vector<export_description::value> all;
    for (const auto& [name, v] : from)
      all.push_back({name, std::string{to_string(v.type)}, shape_of(v.dims, content.graph.unknowns)});
    return all;
  };
  for (const auto& [name, s] : content.signatures)
    description.signatures.push_back({name, values(s.inputs), values(s.outputs)});
  for (const auto& [name, words] : content.preparation.labels)
    description.words[name] = std::ssize(words);
  for (const auto& [name, words] : content.preparation.predictions)
    description.words[name] = std::ssize(words.words);
  for (const auto& n : content.graph.nodes)
    if (const auto found = content.tensors.find(n.name); n.operation == "variable" && found != content.tensors.end())
      description.parameters += found->second.elements();
}

}  // namespace

expected<export_description> inspect_export(const std::string& path, const inspect_options& options) {
  const auto fs = posix_file_system();
  export_description description{.path = path};
  const auto content = read_export(*fs, path);
  if (!content && content.error().category != errc::data_loss)
    return fail(content.error());
  add_files(*fs, path, "", description);
  auto failure = content ? std::optional<error>{} : content.error();
  if (content) {
    add_content(description, *content);
    const auto opened = open_export(*fs, path);
    if (opened)
      description.remark = opened->remark();
    else
      failure = opened.error();
    if (failure && failure->category != errc::data_loss)
      return fail(*failure);
  }
  const std::string weights = join_path(path, weights_file_name);
  if (auto stored = inspect_checkpoint(weights, {.verify = true, .values = options.values}))
    description.tensors = std::move(stored->tensors);
  if (failure)
    description.damages.push_back({.file = path, .offset = {}, .reason = failure->message});
  return description;
}

}  // namespace troupe
