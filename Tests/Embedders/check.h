// What the programs of this folder share: checks that say where they failed, and frames.
#pragma once
#include <pthread.h>
#include <retake.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int failures = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      failures++;                                                             \
    }                                                                         \
  } while (0)

// The call must return this status, and the thread's last error must say the same, in words.
#define REFUSED(status, call) refused(status, call, #call, __FILE__, __LINE__)

static inline void refused(
    retake_status wanted, retake_status found, const char *call, const char *file, int line) {
  const retake_error *error = retake_last_error();
  if (found == wanted && error->status == wanted && error->code[0] && error->message[0] &&
      error->text[0])
    return;
  fprintf(
      stderr, "%s:%d: %s: %s, not %s: %s\n", file, line, call, retake_status_name(found),
      retake_status_name(wanted), error->text);
  failures++;
}

// The call must succeed.
#define TAKEN(call) taken(call, #call, __FILE__, __LINE__)

static inline void taken(retake_status found, const char *call, const char *file, int line) {
  if (found == RETAKE_OK) return;
  fprintf(
      stderr, "%s:%d: %s: %s: %s\n", file, line, call, retake_status_name(found),
      retake_last_error()->text);
  failures++;
}

static const char motion[] =
    "{\"v\":1,\"name\":\"motion\",\"nodes\":["
    "{\"id\":\"camera\",\"kind\":\"session\"},{\"id\":\"grey\",\"kind\":\"grey\"},"
    "{\"id\":\"motion\",\"kind\":\"motion\"},{\"id\":\"boxes\",\"kind\":\"results\"}],"
    "\"edges\":[{\"from\":\"camera\",\"to\":\"grey\"},{\"from\":\"grey\",\"to\":\"motion\"},"
    "{\"from\":\"motion\",\"to\":\"boxes\"}]}";
static const size_t motion_length = sizeof motion - 1;

// Options with one track of I420.
static inline retake_options options_for(const retake_track *track) {
  retake_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.tracks = track;
  options.track_count = 1;
  return options;
}

// An I420 frame of even sides in one block, as most decoders give it.
static inline retake_frame frame_of(const uint8_t *block, int width, int height, int64_t pts) {
  retake_frame frame;
  memset(&frame, 0, sizeof frame);
  frame.size = sizeof frame;
  frame.format = RETAKE_I420;
  frame.width = width;
  frame.height = height;
  frame.pts_ns = pts;
  frame.plane_count = 3;
  size_t luma = (size_t)width * height, chroma = luma / 4;
  frame.planes[0] = (retake_plane){block, width, luma};
  frame.planes[1] = (retake_plane){block + luma, width / 2, chroma};
  frame.planes[2] = (retake_plane){block + luma + chroma, width / 2, chroma};
  return frame;
}

static inline uint8_t *block_of(int width, int height, int value) {
  size_t bytes = (size_t)width * height * 3 / 2;
  uint8_t *block = malloc(bytes);
  if (!block) abort();
  memset(block, value, bytes);
  return block;
}
