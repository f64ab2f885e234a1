// Lesson 00: a first kernel. A picture gets brighter: by one thread, by a thread per pixel in
// blocks of several sizes, and with two dimensions.
#include <cmath>

#include "first_kernel.cuh"
#include "tilewise/lesson.hpp"

namespace {

using Sizes = std::vector<std::int64_t>;

constexpr int kMostForOneThread = 1 << 22;

std::string shape(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + " x " + std::to_string(height);
}

/// A random picture on the device, and what it must become.
struct Picture {
  Picture(int width, int height, const tilewise::Options& options)
      : width(width),
        height(height),
        bright(tilewise::random_vector(pixels(), options.seed(), options.data())) {
    for (float& pixel : bright) pixel = std::fabs(pixel);  // light is not negative
    in.upload(bright);
    for (float& pixel : bright) pixel = std::sqrt(pixel);
  }

  std::size_t pixels() const { return static_cast<std::size_t>(width) * height; }

  /// Every pixel must be the very one: both machines round a square root correctly.
  tilewise::Comparison check() const {
    tilewise::Comparison comparison = tilewise::compare_exact(out.to_host(), bright, height, width);
    comparison.method = "every pixel, exactly";
    return comparison;
  }

  int width, height;
  std::vector<float> bright;
  tilewise::DeviceBuffer<float> in{pixels()}, out{pixels()};
};

tilewise::Variant row(Picture& p, const char* kernel, dim3 block,
                      const std::function<cudaError_t(cudaStream_t)>& launch) {
  tilewise::Variant v;
  v.kernel = kernel;
  v.shape = shape(p.width, p.height);
  v.block = block;
  v.launch = [=](cudaStream_t stream) { CUDA_CHECK(launch(stream)); };
  v.poison = [&] { p.out.poison(); };
  v.check = [&] { return p.check(); };
  v.recheck = v.check;
  v.work = 2.0 * static_cast<double>(p.out.bytes());  // every pixel is read once and written once
  v.working_set = 2 * p.out.bytes();
  v.baseline = block.x == 1;  // the others are compared with one thread
  v.extra = {block.y == 1 ? std::to_string(block.x) : shape(block.x, block.y)};
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "00_first_kernel", "A picture of width x height pixels gets brighter, a thread per pixel.");
    Sizes widths = tilewise::is_simulated() ? Sizes{44, 333} : Sizes{44, 1920, 8191};
    Sizes heights = tilewise::is_simulated() ? Sizes{14, 301} : Sizes{14, 1080, 8191};
    Sizes blocks{32, 100, 256, 1024};
    options.add("--width", widths, "Pixels of a row, a list that goes in pairs with --height",
                {1, 32768});
    options.add("--height", heights, "Rows of the picture", {1, 32768});
    options.add("--block", blocks, "Threads of a block", {1, 65536});
    options.parse(argc, argv);
    if (widths.size() == 1) widths.assign(heights.size(), widths[0]);
    if (heights.size() == 1) heights.assign(widths.size(), heights[0]);
    if (widths.size() != heights.size())
      options.refuse(
          "--width and --height are lists of different lengths; give as many values of each, or "
          "one");

    tilewise::Lesson lesson(options, {.figure = tilewise::Figure::bytes,
                                      .baseline_name = "one thread",
                                      .counted_work = 1 << 23,
                                      .show_tile = false,
                                      .show_shared = false,
                                      .exact = true,
                                      .extra = {{"threads", "of a block", 10, true}}});
    for (std::size_t i = 0; i < widths.size(); ++i) {
      lesson.begin_group();
      const double wanted =
          2.0 * sizeof(float) * static_cast<double>(widths[i]) * static_cast<double>(heights[i]);
      if (wanted > static_cast<double>(tilewise::free_device_memory())) {
        lesson.skip(shape(widths[i], heights[i]), "all", 0,
                    "needs " + tilewise::bytes_text(wanted) + " of device memory");
        continue;
      }
      Picture p(static_cast<int>(widths[i]), static_cast<int>(heights[i]), options);
      const int w = p.width, h = p.height, n = w * h;
      const float* in = p.in.data();
      float* out = p.out.data();
      tilewise::Variant one_thread = row(p, "brighten_one_thread", 1, [=](cudaStream_t stream) {
        return launch_brighten_one_thread(in, out, n, stream);
      });
      if (n > kMostForOneThread)
        one_thread.skip = [] { return "too many pixels for one thread: it would take seconds"; };
      lesson.run(one_thread);
      for (const std::int64_t block : blocks) {
        const int threads = static_cast<int>(block);
        lesson.run(row(p, "brighten", threads, [=](cudaStream_t stream) {
          return launch_brighten(in, out, n, threads, stream);
        }));
      }
      lesson.run(row(p, "brighten_2d", dim3(32, 8), [=](cudaStream_t stream) {
        return launch_brighten_2d(in, out, w, h, dim3(32, 8), stream);
      }));
    }
    return lesson.finish();
  });
}
