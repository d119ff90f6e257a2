#include "serving/http_module.hpp"

#include "words/text.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace troupe {

namespace {

constexpr const char* module_name = "libtroupe_http.so";

/// The directory of the library or program that contains this code.
std::string own_directory() {
  static const int anchor = 0;
  Dl_info info{};
  return ::dladdr(&anchor, &info) != 0 && info.dli_fname ? parent_of(info.dli_fname) : ".";
}

std::vector<std::string> places() {
  if (const char* named = std::getenv("TROUPE_MODULES"); named && *named)
    return {std::string{named} + "/" + module_name};
  const std::string own = own_directory();
  return {own + "/troupe/" + module_name, own + "/modules/" + module_name};
}

/// Loads the module and never unloads it: its threads may still execute their last instructions after the listener is
/// destroyed.
expected<http_listen> load() {
  std::vector<std::string> tried;
  for (const auto& path : places()) {
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* why = ::dlerror();
      tried.push_back(why ? why : path);
      continue;
    }
    if (void* const found = ::dlsym(handle, "troupe_http_listen"))
      return reinterpret_cast<http_listen>(found);
    tried.push_back(path + " does not export troupe_http_listen");
  }
  return fail({errc::unimplemented, std::string{"the module for HTTP, "} + module_name + ", cannot be loaded",
               std::move(tried)});
}

}  // namespace

expected<std::unique_ptr<http_listener>> listen_for_http(const http_options& options, const http_handler& handler) {
  const auto make = load();
  if (!make)
    return fail(make.error());
  std::string reason;
  std::unique_ptr<http_listener> listener{(*make)(options, handler, reason)};
  if (!listener)
    return fail(errc::unavailable,
                "cannot listen on " + options.host + ", port " + std::to_string(options.port) + ": " + reason);
  return listener;
}

}  // namespace troupe
