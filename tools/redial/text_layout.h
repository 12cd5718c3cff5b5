// Text for terminals: lines of at most 100 columns, and colours that can be
// switched off.
//
// Bytes count as columns. Pure functions.
//
//   std::string text = Wrapped("retries   ", "a long explanation ...");
#ifndef TOOLS_REDIAL_TEXT_LAYOUT_H_
#define TOOLS_REDIAL_TEXT_LAYOUT_H_

#include <cstddef>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace redial {

inline constexpr size_t kMaxColumns = 100;

// `text` after `lead`, with line feeds; lines after the first begin with as
// many spaces as `lead` has columns. Words that are longer than a line are cut.
std::string Wrapped(absl::string_view lead, absl::string_view text);

// `text` and spaces up to `columns`, at least one.
std::string Padded(absl::string_view text, size_t columns);

enum class Tone { kGood, kBad, kDoubtful, kHeading };

class Palette {
 public:
  explicit Palette(bool color) : color_(color) {}
  // With colour if `out` is a terminal and the environment has no NO_COLOR.
  static Palette For(const std::ostream& out);

  // `text`, in the colour of `tone`.
  std::string operator()(Tone tone, absl::string_view text) const;

 private:
  bool color_;
};

}  // namespace redial

#endif  // TOOLS_REDIAL_TEXT_LAYOUT_H_
