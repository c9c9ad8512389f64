// usage: latency [FRAMES [WIDTH HEIGHT [lend|copy]]]
// The time that libretake adds to a frame: from the call of retake_pipeline_push to the call of the
// result callback, in microseconds. The stages take next to no time: a crop, which is a view, and the
// luminance of its 16x16 pixels. The next frame is pushed a moment after the result, so that each one
// finds threads that rest, as a camera's frames do.
#include "check.h"

#include <time.h>

static const char pipeline_document[] =
    "{\"v\":1,\"name\":\"latency\",\"nodes\":[{\"id\":\"camera\",\"kind\":\"session\"},"
    "{\"id\":\"middle\",\"kind\":\"crop\",\"options\":{\"width\":16,\"height\":16}},"
    "{\"id\":\"light\",\"kind\":\"luminance\"},{\"id\":\"out\",\"kind\":\"results\"}],\"edges\":["
    "{\"from\":\"camera\",\"to\":\"middle\"},{\"from\":\"middle\",\"to\":\"light\"},"
    "{\"from\":\"light\",\"to\":\"out\"}]}";

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static _Atomic int64_t arrived;

static void on_result(const retake_result *result, void *context) {
  (void)context;
  CHECK(result->fate == RETAKE_DELIVERED && result->json_length > 0);
  arrived = now();
}

static void keep(void *context) { (void)context; }

static int by_value(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

int main(int count, char **arguments) {
  int frames = count > 1 ? atoi(arguments[1]) : 3000;
  int width = count > 3 ? atoi(arguments[2]) : 640, height = count > 3 ? atoi(arguments[3]) : 480;
  int lends = count <= 4 || strcmp(arguments[4], "copy") != 0;
  if (frames < 1 || width < 16 || height < 16 || width % 2 || height % 2) {
    fprintf(stderr, "usage: latency [FRAMES [WIDTH HEIGHT [lend|copy]]]\n");
    return 64;
  }
  retake_track track = {0, RETAKE_I420, width, height};
  retake_options options = options_for(&track);
  options.on_result = on_result;
  retake_pipeline pipeline = 0;
  TAKEN(retake_pipeline_create(
      pipeline_document, sizeof pipeline_document - 1, &options, &pipeline));
  uint8_t *block = block_of(width, height, 128);
  int64_t *total = calloc(frames, sizeof *total), *pushing = calloc(frames, sizeof *pushing);
  if (!total || !pushing) return 2;
  for (int i = 0; i < frames && failures == 0; i++) {
    retake_frame frame = frame_of(block, width, height, i * 1000000LL);
    frame.release = lends ? keep : NULL;
    arrived = 0;
    int64_t before = now();
    TAKEN(retake_pipeline_push(pipeline, &frame, NULL));
    pushing[i] = now() - before;
    // Ends: each frame has a result.
    while (arrived == 0 && failures == 0) sched_yield();
    total[i] = arrived - before;
    struct timespec moment = {0, 500000};
    nanosleep(&moment, NULL);
  }
  TAKEN(retake_pipeline_destroy(pipeline));
  qsort(total, frames, sizeof *total, by_value);
  qsort(pushing, frames, sizeof *pushing, by_value);
  printf(
      "%dx%d %s, %d frames: push to result p50 %.1f us, p99 %.1f us; the call of push p50 %.1f us, "
      "p99 %.1f us\n",
      width, height, lends ? "lent" : "copied", frames, total[frames / 2] / 1e3,
      total[frames * 99 / 100] / 1e3, pushing[frames / 2] / 1e3, pushing[frames * 99 / 100] / 1e3);
  free(block);
  free(total);
  free(pushing);
  return failures == 0 ? 0 : 1;
}
