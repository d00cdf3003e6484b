#include <cstdio>

#include "tamis/version.hpp"

int main() {
  std::printf("tamis %s\n", TAMIS_VERSION);
  return 0;
}
