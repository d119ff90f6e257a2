// How fast a checkpoint is written, beside a plain sequential write and fsync of as many bytes.
//
//   bench_checkpoint_write [directory [mebibytes [rounds]]]
//
// Rounds alternate, so that what else the disk does meets both; the medians are compared.
#include "storage/checkpoint_files.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

using namespace troupe;

namespace {

double seconds(auto work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void check(bool done, const char* what) {
  if (done)
    return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = join_path(argc > 1 ? argv[1] : ".", "bench_checkpoint");
  const int64_t mebibytes = argc > 2 ? std::atoll(argv[2]) : 256;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  constexpr int64_t tensors = 16;
  checkpoint_content content;
  for (int64_t i = 0; i < tensors; ++i) {
    auto buffer = allocate_buffer((mebibytes << 20) / tensors);
    const shape dims{(mebibytes << 18) / tensors};
    auto* values = reinterpret_cast<uint32_t*>(buffer.get());
    for (int64_t k = 0; k < dims[0]; ++k)
      values[k] = static_cast<uint32_t>(k * 2654435761u + i) & 0x3fffffff;  // Neither compressible nor NaN.
    std::string name = "t";
    name += std::to_string(i);
    content.tensors.push_back({std::move(name), {dtype::float32, dims, buffer}});
  }
  auto fs = posix_file_system();
  auto store = checkpoint_store::open(fs, directory, {.keep_checkpoint_max = 0});
  check(store.has_value(), "open");
  std::vector<double> plain, checkpoint;
  for (int round = 0; round < rounds; ++round) {
    plain.push_back(seconds([&] {
      const int fd = ::open((directory + "/plain").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      check(fd >= 0, "open");
      for (const auto& t : content.tensors)
        check(::write(fd, t.value.data(), t.value.bytes().size()) == t.value.byte_size(), "write");
      check(::fsync(fd) == 0 && ::close(fd) == 0, "fsync");
    }));
    check(fs->remove(directory + "/plain").has_value(), "remove");
    // Of the two, neither is charged for deleting what came before it.
    content.step = round;
    checkpoint.push_back(seconds([&] { check((*store)->commit(content).has_value(), "commit"); }));
    if (round + 1 < rounds)
      check(remove_checkpoint_files(*fs, directory, round).has_value(), "remove");
  }
  const double size = static_cast<double>(mebibytes) / 1024;
  std::printf("plain write and fsync  %6.3f GiB/s\n", size / median(plain));
  std::printf("checkpoint commit      %6.3f GiB/s\n", size / median(checkpoint));
  std::printf("ratio                  %6.3f\n", median(plain) / median(checkpoint));
  const double restore = seconds([&] { check((*store)->restore_newest().has_value(), "restore"); });
  std::printf("restore, cached        %6.3f GiB/s\n", size / restore);
}
