#include "tools/redial/text_layout.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/redial/scenario/timeline.h"

namespace redial {

std::string Wrapped(absl::string_view lead, absl::string_view text) {
  const std::string indent(lead.size(), ' ');
  const size_t room = std::max(kMaxColumns, lead.size() + 1) - lead.size();
  std::string out(lead);
  size_t used = 0;
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (used > 0 && used + 1 + word.size() > room) {
      absl::StrAppend(&out, "\n", indent);
      used = 0;
    } else if (used > 0) {
      out.push_back(' ');
      ++used;
    }
    while (word.size() > room) {
      absl::StrAppend(&out, word.substr(0, room), "\n", indent);
      word.remove_prefix(room);
    }
    absl::StrAppend(&out, word);
    used += word.size();
  }
  out.push_back('\n');
  return out;
}

std::string Padded(absl::string_view text, size_t columns) {
  const size_t spaces = columns > text.size() ? columns - text.size() : 1;
  return absl::StrCat(text, std::string(spaces, ' '));
}

Palette Palette::For(const std::ostream& out) {
  return Palette(&out == &std::cout && ColorOnStandardOutput());
}

std::string Palette::operator()(Tone tone, absl::string_view text) const {
  if (!color_) return std::string(text);
  absl::string_view code;
  switch (tone) {
    case Tone::kGood:
      code = "32";
      break;
    case Tone::kBad:
      code = "31";
      break;
    case Tone::kDoubtful:
      code = "33";
      break;
    case Tone::kHeading:
      code = "1";
      break;
  }
  return absl::StrCat("\x1b[", code, "m", text, "\x1b[0m");
}

}  // namespace redial
