#include "learn/terminal.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tilewise::learn {

namespace {

termios before;  // what the terminal was
volatile sig_atomic_t size_changed = 0, end_wanted = 0;

void write_all(const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t n = write(STDOUT_FILENO, text, size);
    if (n < 0 && errno != EINTR && errno != EAGAIN) return;
    if (n > 0) text += n, size -= static_cast<std::size_t>(n);
  }
}

void write_all(const char* text) { write_all(text, std::strlen(text)); }

void enter_single_keys() {
  termios now = before;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
  write_all("\033[?25l");
}

void leave_single_keys() {
  write_all("\033[?25h");
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

void on_resize(int) { size_changed = 1; }
void on_end(int) { end_wanted = 1; }

// Ctrl-Z: the shell gets its terminal back; fg draws everything again.
void on_stop(int) {
  leave_single_keys();
  signal(SIGTSTP, SIG_DFL);
  raise(SIGTSTP);
}
void on_continue(int) {
  signal(SIGTSTP, on_stop);
  enter_single_keys();
  size_changed = 1;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

winsize size_of_terminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size.ws_col = 80, size.ws_row = 24;
  return size;
}

}  // namespace

bool has_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && kind && std::strcmp(kind, "dumb") != 0;
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no_colour && *no_colour);
}

Terminal::Terminal() {
  tcgetattr(STDIN_FILENO, &before);
  handle(SIGWINCH, on_resize);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) handle(number, on_end);
  handle(SIGTSTP, on_stop);
  handle(SIGCONT, on_continue);
  enter_single_keys();
  write_all("\033[2J");
}

Terminal::~Terminal() { leave_single_keys(); }

int Terminal::columns() const { return size_of_terminal().ws_col; }
int Terminal::rows() const { return size_of_terminal().ws_row; }

bool Terminal::resized() {
  const bool was = size_changed;
  size_changed = 0;
  return was;
}

bool Terminal::ends() const { return end_wanted; }

KeyPress Terminal::key(int milliseconds) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, milliseconds) <= 0) return {};
  char bytes[16];
  const ssize_t n = read(STDIN_FILENO, bytes, 1);
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) return {Key::closed};
  if (n < 0) return {};
  if (bytes[0] == '\n' || bytes[0] == '\r') return {Key::enter};
  if (bytes[0] != '\033') return {Key::text, bytes[0]};
  // An arrow is ESC [ A or ESC O A, and comes at once; ESC alone is the key.
  if (poll(&input, 1, 20) <= 0) return {Key::escape};
  const ssize_t more = read(STDIN_FILENO, bytes, sizeof bytes);
  if (more == 2 && (bytes[0] == '[' || bytes[0] == 'O')) {
    if (bytes[1] == 'A') return {Key::up};
    if (bytes[1] == 'B') return {Key::down};
  }
  return {};
}

void Terminal::show(const std::string& text) {
  std::string out = "\033[H";
  for (const char c : text) {
    if (c == '\n') out += "\033[K";
    out += c;
  }
  out += "\033[K\033[J";
  write_all(out.data(), out.size());
}

}  // namespace tilewise::learn
