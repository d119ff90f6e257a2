// Estimators of a process of a cluster.
#include "storage/files/file_system.hpp"
#include "words/text.hpp"

#include <troupe/estimator.hpp>

namespace troupe {

expected<cluster> read_cluster(const std::string& path) {
  const auto text = read_file(*posix_file_system(), path);
  if (!text)
    return fail(text.error());
  if (text->empty())
    return fail(errc::invalid_argument, path + ": it is empty; a process that works alone has {}");
  auto read = parse_cluster(*text);
  if (!read)
    return fail(read.error().category, path + ": " + read.error().message);
  return read;
}

expected<estimator> with_cluster(estimator e, const cluster& c) {
  if (auto right = validate(c); !right)
    return fail(right.error());
  if (e.config.model_dir && c.model_dir && *e.config.model_dir != *c.model_dir)
    return fail(errc::invalid_argument, "model_dir is " + troupe::quoted(*e.config.model_dir)
                                            + " in the run configuration and " + troupe::quoted(*c.model_dir)
                                            + " in the cluster: one directory has to be named, once or twice");
  if (c.model_dir)
    e.config.model_dir = c.model_dir;
  e.cluster = c;
  return e;
}

}  // namespace troupe
