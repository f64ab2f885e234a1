// Step 1: a photograph of a street lamp came out too dark. A loop on the CPU makes it brighter.
#include <cmath>
#include <cstdio>

constexpr int WIDTH = 44, HEIGHT = 14, PIXELS = WIDTH * HEIGHT;
float picture[PIXELS];  // row by row; 0 is black, 1 is white

void show() {
  for (int i = 0; i < PIXELS; ++i)
    std::printf(i % WIDTH == WIDTH - 1 ? "%c\n" : "%c",
                " .:-=+*#%@"[int(std::fmin(10 * picture[i], 9))]);
}

void brighten(float* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = std::sqrt(p[i]);
}

int main() {
  for (int i = 0; i < PIXELS; ++i)  // the farther from the lamp, the darker
    picture[i] = 8 / (8 + std::pow(i % WIDTH - 22, 2) + std::pow(2 * (i / WIDTH) - 13, 2));
  show();
  brighten(picture, PIXELS);
  show();
}
