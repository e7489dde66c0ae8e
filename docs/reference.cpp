// Prints the keys of a scene as Markdown, for the site of `./run docs` (docs/site.py).
#include <cstdio>

#include "docs/scene_key_table.hpp"

int main() {
  std::fputs(trocar::reference::scene_key_page().c_str(), stdout);
  return 0;
}
