#include "redial/config/read_file.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redial/config/json_document.h"

namespace redial {
namespace {

constexpr size_t kChunk = size_t{64} * 1024;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

absl::StatusOr<std::string> ReadJsonFile(const std::string& path) {
  // Names come from files, too: neither cut at a NUL nor raw in a message.
  const std::string shown = absl::Utf8SafeCEscape(path);
  if (path.find('\0') != path.npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, ": a file name may hold no NUL"));
  }
  errno = 0;
  const std::unique_ptr<std::FILE, FileCloser> file(
      std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return absl::ErrnoToStatus(errno,
                               absl::StrCat(shown, ": cannot be opened"));
  }
  std::string text;
  while (true) {
    const size_t size = text.size();
    text.resize(size + kChunk);
    const size_t got = std::fread(&text[size], 1, kChunk, file.get());
    text.resize(size + got);
    if (text.size() > kMaxJsonSize) {
      return absl::ResourceExhaustedError(absl::StrCat(
          shown, ": has more than ", kMaxJsonSize, " bytes (4 MiB)"));
    }
    if (got < kChunk) break;
  }
  if (std::ferror(file.get())) {
    return absl::ErrnoToStatus(errno, absl::StrCat(shown, ": cannot be read"));
  }
  return text;
}

}  // namespace redial
