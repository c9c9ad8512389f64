// A camera loop in C++: how bright the image is, and the box around its bright pixels.
#include <algorithm>

#include "retake_capture.hpp"

int main(int argc, char **argv) {
  retake::Capture capture(argc > 1 ? argv[1] : "clip.mp4");
  if (!capture.isOpened()) return 1;
  capture.format("GRAY8").sink("light", "scalars").sink("bright", "detections");
  capture.classNames({"bright"});
  const double rate = capture.get(retake::CAP_PROP_FPS);
  retake::Image image;
  while (capture.read(image)) {
    double sum = 0;
    int left = image.width, top = image.height, right = -1, bottom = -1;
    for (int y = 0; y < image.height; y++) {
      for (int x = 0; x < image.width; x++) {
        const int level = image.data[y * image.stride + x];
        sum += level;
        if (level < 200) continue;
        left = std::min(left, x), right = std::max(right, x);
        top = std::min(top, y), bottom = std::max(bottom, y);
      }
    }
    capture.scalar("light", "mean", sum / (image.width * image.height));
    capture.scalar("light", "seconds", capture.get(retake::CAP_PROP_POS_FRAMES) / rate);
    if (right < 0) continue;
    capture.detection("bright", left, top, right - left + 1, bottom - top + 1, 1);
  }
}
