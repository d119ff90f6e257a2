// Writes an exported model as an ONNX file.
#include "exports/onnx_graph.hpp"
#include "exports/served_model.hpp"
#include "storage/files/output_file.hpp"
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

std::string_view bytes_of(const tensor& t) {
  return {reinterpret_cast<const char*>(t.data()), static_cast<size_t>(t.byte_size())};
}

/// The weights in a file of their own, each at a multiple of `alignment` bytes.
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
  expected<void> write(output_file& file) const {
    int64_t written = 0;
    for (const auto& [offset, t] : parts_) {
      const std::string gap(static_cast<size_t>(offset - written), '\0');
      if (auto done = file.append(gap).and_then([&, &value = t] { return file.append(value.bytes()); }); !done)
        return done;
      written = offset + t.byte_size();
    }
    return file.complete();
  }

 private:
  std::string name_;
  int64_t at_ = 0;
  std::vector<std::pair<int64_t, tensor>> parts_;
};

/// Writes the model, and the weights in a file beside it if there are any. Both files get their names only once both
/// are complete.
expected<void> write_files(const std::string& path, const std::string& text, const outside_weights* weights) {
  const auto fs = posix_file_system();
  auto model = output_file::create(fs, path);
  if (!model)
    return fail(std::move(model.error()));
  if (weights && model->is_stream())
    return fail(
        errc::invalid_argument,
        path + " is a device or a pipe, and the weights of this model need a file of their own beside it: give a file");
  auto beside = weights ? output_file::create(fs, path + ".data").map([](output_file&& f) {
    return std::optional{std::move(f)};
  })
                        : expected<std::optional<output_file>>{};
  if (!beside)
    return fail(std::move(beside.error()));
  auto done = *beside ? weights->write(**beside) : expected<void>{};
  done = done.and_then([&] { return model->append(text); }).and_then([&] { return model->complete(); });
  if (done && *beside)
    done = (*beside)->keep();
  done = done.and_then([&] { return model->keep(); });
  if (done && *beside)
    done = (*beside)->settle();
  return done.and_then([&] { return model->settle(); });
}

}  // namespace

expected<void> write_onnx(const exported_model& m, const std::string& path, const onnx_options& options) {
  const auto& inside = m.internals();
  const auto signature = inside.find(options.signature);
  if (!signature)
    return fail(signature.error());
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
        return fail(errc::invalid_argument,
                    "'" + output + "' is the name of an input and of an output, which ONNX does not allow");
    graph.add_output(static_cast<size_t>(node), output);
  }
  int64_t bytes = 0;
  for (const auto& [tensor_name, value] : graph.tensors())
    bytes += inside.tensors.at(tensor_name).byte_size();
  outside_weights outside{file_name_of(path) + ".data"};
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
  std::string text;
  if (!model.SerializeToString(&text))
    return fail(errc::resource_exhausted, "the ONNX model of " + m.path() + " has more than 2 GiB beside its weights");
  return write_files(path, text, bytes > options.inside_bytes_max ? &outside : nullptr);
}

}  // namespace troupe
