// The `troupe` program: main chooses the subcommand, and each subcommand has a file of its own.
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view{argv[1]} == "--version") {
    std::puts("troupe " TROUPE_VERSION);
    return 0;
  }
  std::fputs("usage: troupe --version\n", stderr);
  return 2;
}
