#include "serving/exported_servable.hpp"
#include "serving/running_server.hpp"

#include <troupe/options/serve_fields.hpp>

namespace troupe {

namespace {

expected<void> check_name(const std::string& name) {
  if (!name.empty() && name.find_first_of("/:?#% ") == std::string::npos)
    return {};
  return fail(errc::invalid_argument, "name must be a text without '/', ':', '?', '#', '%' and blanks, not '" + name
                                          + "': it is a part of paths");
}

}  // namespace

struct model_server::impl {
  std::unique_ptr<running_server> server;
};

model_server::model_server(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
model_server::model_server(model_server&&) noexcept = default;
model_server& model_server::operator=(model_server&&) noexcept = default;
model_server::~model_server() = default;

expected<model_server> model_server::start(const std::string& directory, const serve_options& options,
                                           std::function<void(const serve_event&)> told) {
  if (auto valid = check_fields(options); !valid)
    return fail(std::move(valid.error()));
  auto name = options.name.value_or(model_name_of(directory));
  if (auto valid = check_name(name); !valid)
    return fail(std::move(valid.error()));
  auto versions = exports_of(directory);
  if (!versions)
    return fail(std::move(versions.error()));
  auto server = running_server::start(std::move(*versions), std::move(name), options, std::move(told));
  if (!server)
    return fail(std::move(server.error()));
  return model_server{std::make_unique<impl>(impl{std::move(*server)})};
}

int model_server::port() const { return impl_ ? impl_->server->port() : 0; }
int model_server::health_port() const { return impl_ ? impl_->server->health_port() : 0; }
const std::string& model_server::name() const {
  static const std::string none;
  return impl_ ? impl_->server->name() : none;
}
int64_t model_server::version() const { return impl_ ? impl_->server->version() : 0; }
void model_server::drain() {
  if (impl_)
    impl_->server->drain();
}

}  // namespace troupe
