// Writing an exported model as an ONNX file.
#include "exports/onnx_graph.hpp"
#include "exports/served_model.hpp"
#include "words/text.hpp"

#include <troupe/onnx.hpp>

namespace troupe {

namespace {

constexpr int32_t external = 1;
constexpr int64_t alignment = 64;

void set_header(proto::OnnxTensor& to, const onnx_value& name, const tensor& t) {
  to.set_name(name);
  to.set_data_type(onnx_type(t.type()));
  for (const int64_t e : t.dims().extents())
    to.add_dims(e);
}

std::string_view bytes_of(const tensor& t) { return {reinterpret_cast<const char*>(t.data()), static_cast<size_t>(t.byte_size())}; }

/// The weights in a file of their own, each at a multiple of `alignment`.
class outside_weights {
 public:
  explicit outside_weights(std::string name) : name_(std::move(name)) {}
  void add(proto::OnnxTensor& to, const tensor& t) {
    const auto entry = [&](const char* key, const std::string& value) {
      auto& e = *to.add_external_data();
      e.set_key(key);
      e.set_value(value);
    };
    at_ = (at_ + alignment - 1) / alignment * alignment;
    to.set_data_location(external);
    entry("location", name_);
    entry("offset", std::to_string(at_));
    entry("length", std::to_string(t.byte_size()));
    parts_.emplace_back(at_, t);
    at_ += t.byte_size();
  }
  expected<void> write(file_system& fs, const std::string& directory) const {
    const std::string path = join_path(directory, name_), temporary = path + ".tmp";
    auto file = fs.create(temporary);
    if (!file)
      return fail(file.error());
    int64_t written = 0;
    expected<void> done;
    for (const auto& [offset, t] : parts_) {
      const std::string gap(static_cast<size_t>(offset - written), '\0');
      done = done.and_then([&] { return (*file)->append(std::as_bytes(std::span{gap})); }).and_then([&, &value = t] { return (*file)->append(value.bytes()); });
      written = offset + t.byte_size();
    }
    done = done.and_then([&] { return (*file)->sync(); }).and_then([&] { return (*file)->close(); }).and_then([&] { return fs.rename(temporary, path); });
    if (!done)
      (void)fs.remove(temporary);
    return done;
  }

 private:
  std::string name_;
  int64_t at_ = 0;
  std::vector<std::pair<int64_t, tensor>> parts_;
};

}  // namespace

expected<void> write_onnx(const exported_model& m, const std::string& path, const onnx_options& options) {
  const auto& inside = m.internals();
  const auto signature = inside.find(options.signature);
  if (!signature)
    return fail(signature.error());
  const std::string name = file_name_of(path), directory = parent_of(path);
  proto::OnnxModel model;
  model.set_ir_version(onnx_ir_version);
  model.set_producer_name("troupe");
  model.set_producer_version(TROUPE_VERSION);
  model.add_opset_import()->set_version(onnx_opset);
  auto& step = *model.add_metadata_props();
  step.set_key("global_step");
  step.set_value(std::to_string(m.global_step()));
  auto& to = *model.mutable_graph();
  to.set_name(m.name());
  onnx_graph graph{to, (*signature)->graph};
  if (auto added = graph.add_nodes(); !added)
    return fail(added.error());
  for (const auto& [output, node] : (*signature)->outputs) {
    for (const auto& n : (*signature)->graph.nodes)
      if (n.operation == "placeholder" && n.name == output)
        return fail(errc::invalid_argument, "'" + output + "' is the name of an input and of an output, which ONNX does not allow");
    graph.add_output(static_cast<size_t>(node), output);
  }
  int64_t bytes = 0;
  for (const auto& [tensor_name, value] : graph.tensors())
    bytes += inside.tensors.at(tensor_name).byte_size();
  outside_weights outside{name + ".data"};
  for (const auto& [tensor_name, value] : graph.tensors()) {
    const tensor& t = inside.tensors.at(tensor_name);
    auto& stored = *to.add_initializer();
    set_header(stored, value, t);
    if (bytes > options.inside_bytes_max)
      outside.add(stored, t);
    else
      stored.set_raw_data(std::string{bytes_of(t)});
  }
  for (const auto& [value, t] : graph.constants()) {
    auto& stored = *to.add_initializer();
    set_header(stored, value, t);
    stored.set_raw_data(std::string{bytes_of(t)});
  }
  const auto fs = posix_file_system();
  if (bytes > options.inside_bytes_max)
    if (auto written = outside.write(*fs, directory); !written)
      return written;
  std::string text;
  if (!model.SerializeToString(&text))
    return fail(errc::resource_exhausted, "the ONNX model of " + m.path() + " has more than 2 GiB beside its weights");
  return write_file_atomically(*fs, directory, name, text);
}

}  // namespace troupe
