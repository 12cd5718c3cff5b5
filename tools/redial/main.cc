// The command `redial`.

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tools/redial/command_line.h"

int main(int argc, char** argv) {
  // Under `bazel run`: file names are relative to where the user stands.
  const char* const folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (folder != nullptr && chdir(folder) != 0) {
    std::cerr << "redial: " << folder << ": cannot be entered\n";
    return 2;
  }
  const std::vector<std::string> args(argc > 0 ? argv + 1 : argv, argv + argc);
  return redial::RunRedial(args, std::cout, std::cerr);
}
