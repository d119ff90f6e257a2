#include "words/buffer_pool.hpp"

#include <algorithm>

namespace troupe {

std::shared_ptr<std::byte> buffer_pool::take(int64_t bytes) {
  std::shared_ptr<std::byte> memory;
  int64_t size = bytes;
  {
    std::lock_guard lock{shelf_->guard};
    auto fits = std::find_if(shelf_->spare.begin(), shelf_->spare.end(), [&](const auto& s) { return s.first >= bytes; });
    if (fits != shelf_->spare.end()) {
      size = fits->first;
      memory = std::move(fits->second);
      shelf_->spare.erase(fits);
    } else if (shelf_->spare.size() >= shelf_->spare_max / 2) {
      shelf_->spare.erase(shelf_->spare.begin());  // Sizes have grown; the small ones will not be asked for again.
    }
  }
  if (!memory)
    memory = allocate_buffer(bytes);
  if (!memory)
    return nullptr;
  auto* start = memory.get();
  return {start, [memory = std::move(memory), size, home = std::weak_ptr(shelf_)](std::byte*) mutable {
            auto pool = home.lock();
            if (!pool)
              return;
            std::lock_guard lock{pool->guard};
            if (pool->spare.size() < pool->spare_max)
              pool->spare.emplace_back(size, std::move(memory));
          }};
}

}  // namespace troupe
