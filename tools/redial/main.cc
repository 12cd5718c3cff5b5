// The command `redial`.

#include <iostream>
#include <string>
#include <vector>

#include "tools/redial/command_line.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argc > 0 ? argv + 1 : argv, argv + argc);
  return redial::RunRedial(args, std::cout, std::cerr);
}
