// Connects libFuzzer with a target: the functions that libFuzzer calls, and the seeds for a new corpus.
#include "tests/fuzz/target.hpp"

#include <filesystem>
#include <fstream>

// Declarations of libFuzzer, which has no header for them.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::filesystem::path corpus{(*argv)[i]};
    if ((*argv)[i][0] == '-' || std::filesystem::exists(corpus))
      continue;  // A flag, an existing corpus, or an input to repeat.
    std::filesystem::create_directories(corpus);
    int number = 0;
    for (const auto& seed : troupe::fuzz::seeds())
      std::ofstream{corpus / ("seed-" + std::to_string(number++)), std::ios::binary} << seed;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  troupe::fuzz::run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
