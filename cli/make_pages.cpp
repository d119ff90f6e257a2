// Prints a page that is made from the tables of options and commands when Troupe is built: make_pages configure|manual
#include "cli/commands/commands.hpp"
#include "cli/reference/configure_page.hpp"
#include "cli/reference/manual_page.hpp"

#include <iostream>
#include <map>
#include <string>

int main(int argc, char** argv) {
  const std::map<std::string, std::string (*)()> pages{
      {"configure", troupe::cli::configure_page},
      {"manual", [] { return troupe::cli::manual_page(troupe::cli::describe_commands()); }}};
  const auto page = pages.find(argc == 2 ? argv[1] : "");
  if (page == pages.end()) {
    std::cerr << "make_pages takes the name of a page:";
    for (const auto& [name, make] : pages)
      std::cerr << " " << name;
    std::cerr << "\n";
    return 2;
  }
  std::cout << page->second() << std::flush;
  return std::cout ? 0 : 1;
}
