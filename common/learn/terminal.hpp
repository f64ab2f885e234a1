/// @file
/// A terminal that gives single keys, and becomes what it was whatever ends the program.
#pragma once

#include <string>

namespace tilewise::learn {

/// What a key means; `text` is the character for ordinary ones.
enum class Key { none, text, up, down, enter, escape, closed };
struct KeyPress {
  Key key = Key::none;
  char text = 0;
};

/// While it lives, keys come one by one and unseen, and the cursor is hidden.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Waits so long at most.
  KeyPress key(int milliseconds);
  /// Writes over what is there, from the top.
  void show(const std::string& text);

  int columns() const;
  int rows() const;
  /// Whether its size changed since this was asked last, or it came back from a stop.
  bool resized();
  /// Whether Ctrl-C or a signal asks the program to end.
  bool ends() const;
};

/// Both are terminals, and not the dumb one of an editor.
bool has_terminal();
bool wants_colour();

}  // namespace tilewise::learn
