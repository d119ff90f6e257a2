// Loads the HTTP module on first use.
#pragma once

#include "serving/http_listener.hpp"

#include <troupe/error.hpp>

#include <memory>

namespace troupe {

/// Looks for libtroupe_http.so in the directory that TROUPE_MODULES names, otherwise in troupe/ and modules/ beside
/// libtroupe. unimplemented: the module is not found; the error lists the paths that were tried. unavailable: the
/// address cannot be taken.
expected<std::unique_ptr<http_listener>> listen_for_http(const http_options& options, const http_handler& handler);

}  // namespace troupe
