#include "storage/files/posix_descriptor.hpp"

#include <fcntl.h>

#include <cstring>

namespace troupe {

namespace {

errc category_of(int code) {
  switch (code) {
    case ENOENT: return errc::not_found;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return errc::resource_exhausted;
    case ENAMETOOLONG:
    case EINVAL: return errc::invalid_argument;
    case EIO:
    case ESTALE:
    case ETIMEDOUT: return errc::unavailable;
    default: return errc::failed_precondition;  // Such as EACCES, EPERM, ENOTDIR, EISDIR, EEXIST, EROFS.
  }
}

}  // namespace

tl::unexpected<error> fail_at(std::string_view operation, const std::string& path, int code) {
  return fail(category_of(code), "cannot " + std::string{operation} + " " + path + ": " + std::strerror(code));
}

descriptor open_file(const std::string& path, int flags) {
  return descriptor{uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0644); })};
}

}  // namespace troupe
