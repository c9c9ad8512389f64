/* Draws the clip of Recordings/tags, as gray frames of 320 x 240 pixels on standard output. */

#include <apriltag/apriltag.h>
#include <apriltag/tag36h11.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { width = 320, height = 240, frames = 90, rate = 30, samples = 4 };

static uint64_t state = 7;

/* From 0 to 1: SplitMix64. */
static double draw(void) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

typedef struct {
  const image_u8_t *pattern;
  double x, y, size, turn, tilt;
} tag;

/* The level of a tag at a place in the image; -1 where it is not. */
static double level(const tag *tag, double x, double y) {
  double u = (x - tag->x) / tag->size, v = (y - tag->y) / tag->size;
  double across = cos(tag->turn) * u + sin(tag->turn) * v;
  double down = cos(tag->turn) * v - sin(tag->turn) * u;
  /* The farther side is smaller. */
  double depth = 1 + tag->tilt * across;
  double column = (across * depth + 0.5) * tag->pattern->width;
  double row = (down * depth + 0.5) * tag->pattern->height;
  if (column < 0 || row < 0 || column >= tag->pattern->width || row >= tag->pattern->height) {
    return -1;
  }
  return tag->pattern->buf[(int)row * tag->pattern->stride + (int)column] ? 225 : 35;
}

static double pixel(const tag *tags, int count, int x, int y) {
  double sum = 0;
  for (int part = 0; part < samples * samples; part++) {
    double at = x + (part % samples + 0.5) / samples, row = y + (part / samples + 0.5) / samples;
    double found = 110 + 20 * sin(at / 41) * cos(row / 23);
    for (int index = 0; index < count; index++) {
      double own = level(&tags[index], at, row);
      if (own >= 0) found = own;
    }
    sum += found;
  }
  /* Noise that is nearly normal: of 4 draws the sum less 2 has a variance of 1/3. */
  double noise = (draw() + draw() + draw() + draw() - 2) * 6;
  return fmax(0, fmin(255, sum / (samples * samples) + noise));
}

int main(void) {
  apriltag_family_t *family = tag36h11_create();
  tag tags[2] = {
      {apriltag_to_image(family, 3), 0, 0, 90, 0, 0},
      {apriltag_to_image(family, 7), 260, 60, 60, 0.2, 0},
  };
  for (int frame = 0; frame < frames; frame++) {
    double time = (double)frame / rate;
    /* One tag crosses the image, turns and tilts. The other one hangs on the wall. */
    tags[0].x = -50 + 110 * time;
    tags[0].y = 140 + 25 * sin(2 * time);
    tags[0].turn = 0.8 * time;
    tags[0].tilt = 0.35 * sin(1.5 * time);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) putchar((int)pixel(tags, 2, x, y));
    }
  }
  return 0;
}
