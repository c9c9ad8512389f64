// usage: misuse ROUNDS
// Calls libretake in every wrong way: each call must return an error, and nothing may crash. Then
// creates, fills and destroys pipelines, ROUNDS times, also from several threads: each frame must be
// released exactly once.
// Exit status 0 = all was as it must be. Meant for the address sanitizer and for valgrind, too.
#include "check.h"

#include <limits.h>
#include <semaphore.h>
#include <stdbool.h>

enum { WIDTH = 64, HEIGHT = 48 };
static const retake_track track = {0, RETAKE_I420, WIDTH, HEIGHT};

// A frame that is freed when it is released, which valgrind and the sanitizer watch.
typedef struct lent {
  uint8_t *block;
  _Atomic int *released;
} lent;

static _Atomic int released = 0;

static void give_back(void *context) {
  lent *frame = context;
  free(frame->block);
  (*frame->released)++;
  free(frame);
}

static retake_status lend(retake_pipeline pipeline, int64_t pts, int value) {
  lent *context = malloc(sizeof *context);
  if (!context) abort();
  *context = (lent){block_of(WIDTH, HEIGHT, value), &released};
  retake_frame frame = frame_of(context->block, WIDTH, HEIGHT, pts);
  frame.release = give_back;
  frame.context = context;
  retake_status status = retake_pipeline_push(pipeline, &frame, NULL);
  if (status != RETAKE_OK) {
    // The pixels are still ours.
    free(context->block);
    free(context);
  }
  return status;
}

static retake_pipeline make(void) {
  retake_options options = options_for(&track);
  retake_pipeline pipeline = 0;
  TAKEN(retake_pipeline_create(motion, motion_length, &options, &pipeline));
  return pipeline;
}

// --- Documents ---

static void documents(void) {
  char digest[RETAKE_DIGEST_SIZE], again[RETAKE_DIGEST_SIZE], buffer[2048];
  size_t written = 0;
  TAKEN(retake_document_digest(motion, motion_length, 0, digest));
  CHECK(strlen(digest) == RETAKE_DIGEST_SIZE - 1);
  TAKEN(retake_document_canonical(motion, motion_length, 0, buffer, sizeof buffer, &written));
  CHECK(written == strlen(buffer));
  TAKEN(retake_document_digest(buffer, written, 0, again));
  CHECK(strcmp(digest, again) == 0);

  REFUSED(RETAKE_ERROR_NULL, retake_document_digest(NULL, 9, 0, digest));
  REFUSED(RETAKE_ERROR_NULL, retake_document_digest(motion, motion_length, 0, NULL));
  REFUSED(RETAKE_ERROR_VALUE, retake_document_digest(motion, motion_length, 64, digest));
  REFUSED(RETAKE_ERROR_DOCUMENT, retake_document_digest(motion, SIZE_MAX, 0, digest));
  REFUSED(RETAKE_ERROR_DOCUMENT, retake_document_digest(motion, 0, 0, digest));
  REFUSED(RETAKE_ERROR_DOCUMENT, retake_document_digest(motion, motion_length / 2, 0, digest));
  REFUSED(RETAKE_ERROR_DOCUMENT, retake_document_digest("\xff\xfe\xc0", 3, 0, digest));
  size_t needed = written;
  REFUSED(
      RETAKE_ERROR_BUFFER,
      retake_document_canonical(motion, motion_length, 0, buffer, needed, &written));
  CHECK(written == needed);
  REFUSED(
      RETAKE_ERROR_BUFFER, retake_document_canonical(motion, motion_length, 0, NULL, 0, &written));
  REFUSED(
      RETAKE_ERROR_NULL, retake_document_canonical(motion, motion_length, 0, NULL, 99, NULL));
  TAKEN(retake_document_canonical(motion, motion_length, 0, buffer, needed + 1, NULL));

  // A misspelled kind: where, and what to write instead.
  char wrong[sizeof motion];
  memcpy(wrong, motion, sizeof motion);
  memcpy(strstr(wrong, "\"kind\":\"grey\"") + 8, "gray", 4);
  REFUSED(RETAKE_ERROR_DOCUMENT, retake_document_digest(wrong, motion_length, 0, digest));
  CHECK(strcmp(retake_last_error()->code, "graph.pipeline.unknownKind") == 0);
  CHECK(strcmp(retake_last_error()->pointer, "/nodes/1/kind") == 0);
  CHECK(strstr(retake_last_error()->advice, "grey") != NULL);

  // A document starts no program unless that is allowed.
  static const char program[] =
      "{\"v\":1,\"nodes\":[{\"id\":\"camera\",\"kind\":\"session\"},"
      "{\"id\":\"it\",\"kind\":\"process\",\"options\":{\"command\":[\"true\"],"
      "\"output\":\"scalars\"}},{\"id\":\"out\",\"kind\":\"results\"}],\"edges\":["
      "{\"from\":\"camera\",\"to\":\"it\"},{\"from\":\"it\",\"to\":\"out\"}]}";
  REFUSED(RETAKE_ERROR_DOCUMENT, retake_document_digest(program, sizeof program - 1, 0, digest));
  CHECK(strstr(retake_last_error()->advice, "RETAKE_ALLOW_PROCESSES") != NULL);
}

// --- Creating ---

static void creating(void) {
  retake_pipeline pipeline = 7;
  retake_options good = options_for(&track), options = good;
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_create(motion, motion_length, NULL, &pipeline));
  CHECK(pipeline == 0);
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_create(motion, motion_length, &options, NULL));
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_create(NULL, 1, &options, &pipeline));
  options.size = 0;
  REFUSED(RETAKE_ERROR_STRUCT, retake_pipeline_create(motion, motion_length, &options, &pipeline));
  options = good;
  options.tracks = NULL;
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_create(motion, motion_length, &options, &pipeline));
  options = good;
  options.track_count = 0;
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_create(motion, motion_length, &options, &pipeline));
  options.track_count = SIZE_MAX;
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_create(motion, motion_length, &options, &pipeline));
  static const struct {
    int32_t workers, waiting;
    int64_t drain;
    uint32_t permissions;
  } wrong[] = {{-1, 0, 0, 0}, {256, 0, 0, 0}, {0, -1, 0, 0}, {0, INT32_MAX, 0, 0},
               {0, 0, -1, 0}, {0, 0, INT64_MAX, 0}, {0, 0, 0, 2}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    options = good;
    options.workers = wrong[i].workers;
    options.waiting_frames = wrong[i].waiting;
    options.drain_ns = wrong[i].drain;
    options.permissions = wrong[i].permissions;
    REFUSED(
        RETAKE_ERROR_VALUE, retake_pipeline_create(motion, motion_length, &options, &pipeline));
  }
  static const retake_track tracks[] = {
      {0, (retake_format)99, 64, 48}, {0, RETAKE_I420, 0, 48},       {0, RETAKE_I420, 64, -1},
      {-1, RETAKE_I420, 64, 48},      {0, RETAKE_I420, INT32_MAX, 1}};
  for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++) {
    options = options_for(&tracks[i]);
    REFUSED(
        RETAKE_ERROR_VALUE, retake_pipeline_create(motion, motion_length, &options, &pipeline));
  }
  retake_track twice[2] = {track, track};
  options = options_for(twice);
  options.track_count = 2;
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_create(motion, motion_length, &options, &pipeline));
  // A source with frames of its own cannot run live.
  static const char own[] =
      "{\"v\":1,\"nodes\":[{\"id\":\"camera\",\"kind\":\"synthetic\"},"
      "{\"id\":\"out\",\"kind\":\"results\"}],\"edges\":[{\"from\":\"camera\",\"to\":\"out\"}]}";
  REFUSED(RETAKE_ERROR_DOCUMENT, retake_pipeline_create(own, sizeof own - 1, &good, &pipeline));
  CHECK(pipeline == 0);
}

// --- Frames ---

static void never(void *context) {
  (void)context;
  CHECK(!"a frame that was refused is released");
}

static void push_wrong(retake_pipeline pipeline, retake_frame frame, retake_status status) {
  int64_t sequence = -7;
  frame.release = never;
  REFUSED(status, retake_pipeline_push(pipeline, &frame, &sequence));
  CHECK(sequence == -7);
  frame.release = NULL;
  REFUSED(status, retake_pipeline_push(pipeline, &frame, NULL));
}

static void count_call(const retake_result *result, void *context) {
  (void)result;
  ++*(_Atomic int *)context;
}

static void frames(void) {
  _Atomic int results = 0;
  retake_options options = options_for(&track);
  options.on_result = count_call;
  options.context = &results;
  retake_pipeline pipeline = 0;
  TAKEN(retake_pipeline_create(motion, motion_length, &options, &pipeline));
  uint8_t *block = block_of(WIDTH, HEIGHT, 9);
  const retake_frame good = frame_of(block, WIDTH, HEIGHT, 0);
  retake_frame frame = good;
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_push(pipeline, NULL, NULL));
  REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_push(0, &good, NULL));
  REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_push(UINT64_MAX, &good, NULL));
  REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_push(pipeline + 1, &good, NULL));
#define WRONG(status, change) \
  do {                        \
    frame = good;             \
    change;                   \
    push_wrong(pipeline, frame, status); \
  } while (0)
  WRONG(RETAKE_ERROR_STRUCT, frame.size = sizeof frame - 8);
  WRONG(RETAKE_ERROR_STRUCT, frame.size = SIZE_MAX);
  WRONG(RETAKE_ERROR_TRACK, frame.track = 1);
  WRONG(RETAKE_ERROR_TRACK, frame.track = INT32_MIN);
  WRONG(RETAKE_ERROR_VALUE, frame.format = (retake_format)0);
  WRONG(RETAKE_ERROR_VALUE, frame.format = (retake_format)UINT32_MAX);
  WRONG(RETAKE_ERROR_VALUE, frame.width = 0);
  WRONG(RETAKE_ERROR_VALUE, frame.width = -64);
  WRONG(RETAKE_ERROR_VALUE, frame.height = INT32_MIN);
  WRONG(RETAKE_ERROR_VALUE, frame.height = INT32_MAX);
  WRONG(RETAKE_ERROR_VALUE, frame.width = RETAKE_SIDE_MAX + 1);
  WRONG(RETAKE_ERROR_VALUE, frame.plane_count = 0);
  WRONG(RETAKE_ERROR_VALUE, frame.plane_count = 2);
  WRONG(RETAKE_ERROR_VALUE, frame.plane_count = INT32_MAX);
  WRONG(RETAKE_ERROR_NULL, frame.planes[0].data = NULL);
  WRONG(RETAKE_ERROR_NULL, frame.planes[2].data = NULL);
  WRONG(RETAKE_ERROR_VALUE, frame.planes[0].stride = WIDTH - 1);
  WRONG(RETAKE_ERROR_VALUE, frame.planes[1].stride = 0);
  WRONG(RETAKE_ERROR_VALUE, frame.planes[1].stride = SIZE_MAX);
  WRONG(RETAKE_ERROR_VALUE, frame.planes[0].stride = WIDTH + 1);
  WRONG(RETAKE_ERROR_VALUE, frame.planes[0].stride = (size_t)1 << 40);
  WRONG(RETAKE_ERROR_VALUE, frame.planes[2].length -= 1);
  WRONG(RETAKE_ERROR_VALUE, frame.planes[2].length = 0);
  WRONG(RETAKE_ERROR_VALUE, frame.planes[2].length = SIZE_MAX);
  WRONG(RETAKE_ERROR_VALUE, frame.pts_ns = INT64_MAX);
  WRONG(RETAKE_ERROR_VALUE, frame.pts_ns = INT64_MIN);
  WRONG(RETAKE_ERROR_VALUE, frame.rotation = 45);
  WRONG(RETAKE_ERROR_VALUE, frame.range = (retake_range)3);
  WRONG(RETAKE_ERROR_VALUE, frame.matrix = (retake_matrix)9);
  // Another format than the track's.
  WRONG(RETAKE_ERROR_VALUE, (frame.format = RETAKE_GRAY8, frame.plane_count = 1));

  // Times may leap and go back, at the bounds too, and sizes may change.
  int64_t limit = (int64_t)1 << 61, sequence = -1;
  static const int64_t times[] = {0, 1, -1, 0, 5};
  for (int i = 0; i < 5; i++) {
    frame = good;
    frame.pts_ns = i == 1 ? limit : i == 2 ? -limit : times[i];
    TAKEN(retake_pipeline_push(pipeline, &frame, &sequence));
    CHECK(sequence == i);
    // One after another, so that none is lost because there is no room. Ends: each frame has a result.
    while (results <= i) sched_yield();
  }
  frame = frame_of(block, WIDTH / 2, HEIGHT / 2, 9);
  TAKEN(retake_pipeline_push(pipeline, &frame, &sequence));

  retake_counts counts = {.size = sizeof counts};
  TAKEN(retake_pipeline_stop(pipeline, &counts));
  CHECK(counts.captured == 6 && counts.delivered == 6 && counts.lost_before_capture == 0);
  push_wrong(pipeline, good, RETAKE_ERROR_STOPPED);
  REFUSED(RETAKE_ERROR_STOPPED, retake_pipeline_stop(pipeline, NULL));
  REFUSED(RETAKE_ERROR_STOPPED, retake_pipeline_device(pipeline, "memory", "{\"state\":\"normal\"}", 18));
  REFUSED(RETAKE_ERROR_STOPPED, retake_pipeline_source_lost(pipeline, 0, "unplugged"));
  REFUSED(RETAKE_ERROR_STOPPED, retake_pipeline_swap(pipeline, "motion", "{}", 2, NULL, NULL));
  counts.delivered = 0;
  TAKEN(retake_pipeline_counts(pipeline, &counts));
  CHECK(counts.delivered == 6);
  TAKEN(retake_pipeline_destroy(pipeline));
  REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_destroy(pipeline));
  REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_push(pipeline, &good, NULL));
  REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_stop(pipeline, NULL));
  REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_counts(pipeline, &counts));
  free(block);
}

// --- Events and swaps ---

typedef struct answer {
  sem_t given;
  int count;
  int refused;
  char code[64];
} answer;

static void swapped(const retake_error *error, void *context) {
  answer *answer = context;
  answer->count++;
  answer->refused = error != NULL;
  snprintf(answer->code, sizeof answer->code, "%s", error ? error->code : "");
  // A callback may cause errors of its own, and still read the one that it was given.
  retake_pipeline_counts(0, NULL);
  if (error) CHECK(strcmp(error->code, answer->code) == 0);
  sem_post(&answer->given);
}

static void events(void) {
  retake_pipeline pipeline = make();
  static const char serious[] = "{\"state\":\"serious\"}", low[] = "{\"level\":101}";
  TAKEN(retake_pipeline_device(pipeline, "thermal", serious, sizeof serious - 1));
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_device(pipeline, NULL, serious, 1));
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_device(pipeline, "thermal", NULL, 1));
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_device(pipeline, "wind", serious, sizeof serious - 1));
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_device(pipeline, "\xff", serious, sizeof serious - 1));
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_device(pipeline, "thermal", serious, 5));
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_device(pipeline, "battery", low, sizeof low - 1));
  TAKEN(retake_pipeline_source_lost(pipeline, 0, "unplugged"));
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_source_lost(pipeline, 0, NULL));
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_source_lost(pipeline, 0, "two words"));
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_source_lost(pipeline, 0, ""));
  REFUSED(RETAKE_ERROR_TRACK, retake_pipeline_source_lost(pipeline, 5, "unplugged"));
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_counts(pipeline, NULL));
  retake_counts counts = {0};
  REFUSED(RETAKE_ERROR_STRUCT, retake_pipeline_counts(pipeline, &counts));
  REFUSED(RETAKE_ERROR_STRUCT, retake_pipeline_stop(pipeline, &counts));

  static const char keen[] = "{\"threshold\":12}", odd[] = "{\"treshold\":12}";
  answer answer = {.count = 0};
  sem_init(&answer.given, 0, 0);
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_swap(pipeline, NULL, keen, 1, swapped, &answer));
  REFUSED(RETAKE_ERROR_NULL, retake_pipeline_swap(pipeline, "motion", NULL, 1, swapped, &answer));
  REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_swap(pipeline, "motion", "[]", 2, swapped, &answer));
  REFUSED(
      RETAKE_ERROR_SWAP, retake_pipeline_swap(pipeline, "camera", keen, sizeof keen - 1, NULL, NULL));
  REFUSED(
      RETAKE_ERROR_SWAP, retake_pipeline_swap(pipeline, "moton", keen, sizeof keen - 1, NULL, NULL));
  CHECK(strstr(retake_last_error()->advice, "motion") != NULL);
  CHECK(answer.count == 0);
  TAKEN(lend(pipeline, 0, 1));
  TAKEN(retake_pipeline_swap(pipeline, "motion", keen, sizeof keen - 1, swapped, &answer));
  sem_wait(&answer.given);
  CHECK(answer.count == 1 && !answer.refused);
  TAKEN(retake_pipeline_swap(pipeline, "motion", odd, sizeof odd - 1, swapped, &answer));
  sem_wait(&answer.given);
  CHECK(answer.count == 2 && answer.refused && strcmp(answer.code, "c.swap.option") == 0);
  TAKEN(retake_pipeline_destroy(pipeline));

  // A swap that waits for a first frame that never comes is answered by the end: refused, or in force
  // for no frame.
  pipeline = make();
  TAKEN(retake_pipeline_swap(pipeline, "motion", keen, sizeof keen - 1, swapped, &answer));
  TAKEN(retake_pipeline_destroy(pipeline));
  CHECK(answer.count == 3);
  sem_destroy(&answer.given);
}

// --- Callbacks ---

typedef struct inside {
  retake_pipeline pipeline;
  _Atomic int results, releases;
} inside;

static void release_inside(void *context) {
  inside *inside = context;
  inside->releases++;
  static uint8_t block[WIDTH * HEIGHT * 3 / 2];
  retake_frame frame = frame_of(block, WIDTH, HEIGHT, 0);
  REFUSED(RETAKE_ERROR_CALLBACK, retake_pipeline_push(inside->pipeline, &frame, NULL));
  REFUSED(RETAKE_ERROR_CALLBACK, retake_pipeline_destroy(inside->pipeline));
}

static void result_inside(const retake_result *result, void *context) {
  inside *inside = context;
  retake_counts counts = {.size = sizeof counts};
  CHECK(result->size == sizeof *result && result->json[result->json_length] == 0);
  CHECK(strlen(result->json) == result->json_length && result->fate == RETAKE_DELIVERED);
  REFUSED(RETAKE_ERROR_CALLBACK, retake_pipeline_stop(inside->pipeline, NULL));
  REFUSED(RETAKE_ERROR_CALLBACK, retake_pipeline_destroy(inside->pipeline));
  REFUSED(RETAKE_ERROR_CALLBACK, retake_replay(NULL, motion, motion_length, NULL, NULL));
  TAKEN(retake_pipeline_counts(inside->pipeline, &counts));
  // The first result pushes another frame.
  if (inside->results++ == 0) TAKEN(lend(inside->pipeline, 1, 200));
}

static void callbacks(void) {
  inside inside = {0};
  retake_options options = options_for(&track);
  options.on_result = result_inside;
  options.context = &inside;
  TAKEN(retake_pipeline_create(motion, motion_length, &options, &inside.pipeline));
  uint8_t *block = block_of(WIDTH, HEIGHT, 3);
  retake_frame frame = frame_of(block, WIDTH, HEIGHT, 0);
  frame.release = release_inside;
  frame.context = &inside;
  TAKEN(retake_pipeline_push(inside.pipeline, &frame, NULL));
  // Ends: the second frame is pushed when the first one has its result.
  while (inside.results < 2) sched_yield();
  TAKEN(retake_pipeline_destroy(inside.pipeline));
  CHECK(inside.results == 2 && inside.releases == 1);
  free(block);
}

// --- A slow reader ---

static sem_t slow;

static void wait_slowly(const retake_result *result, void *context) {
  (void)result;
  _Atomic int *calls = context;
  if ((*calls)++ == 0) sem_wait(&slow);
}

static void no_room(void) {
  _Atomic int calls = 0;
  sem_init(&slow, 0, 0);
  retake_options options = options_for(&track);
  options.on_result = wait_slowly;
  options.context = &calls;
  options.waiting_frames = 1;
  options.drain_ns = 60000000000;
  retake_pipeline pipeline = 0;
  TAKEN(retake_pipeline_create(motion, motion_length, &options, &pipeline));
  // Bounded: while no result is read, a fixed number of frames has room.
  int before = released, accepted = 0;
  retake_status status = RETAKE_OK;
  for (int i = 0; i < 1000000 && calls == 0; i++) {
    if (lend(pipeline, i, i) == RETAKE_OK) accepted++;
  }
  for (int i = 0; i < 1000000 && status != RETAKE_ERROR_FULL; i++) {
    status = lend(pipeline, i, i);
    if (status == RETAKE_OK) accepted++;
  }
  CHECK(status == RETAKE_ERROR_FULL);
  sem_post(&slow);
  retake_counts counts = {.size = sizeof counts};
  TAKEN(retake_pipeline_stop(pipeline, &counts));
  TAKEN(retake_pipeline_destroy(pipeline));
  CHECK(released - before == accepted);
  CHECK(counts.lost_before_capture >= 1 && counts.captured <= accepted && calls == counts.captured);
  sem_destroy(&slow);
}

// --- Shapes ---

// Lends a frame whose planes end with their last row: what is read behind them is found by valgrind.
static void *memory[RETAKE_PLANES_MAX];

static void keep(void *context) { (void)context; }

static void push_shape(retake_pipeline pipeline, retake_format format, int width, int height) {
  static const int planes[] = {0, 3, 3, 3, 2, 1, 1, 1, 1, 3, 3, 3, 3, 1, 1, 1};
  static const int bytes[] = {0, 1, 1, 1, 1, 1, 3, 4, 4, 2, 2, 2, 2, 2, 2, 2};
  bool is_420 = format == RETAKE_I420 || format == RETAKE_NV12 || format == RETAKE_I420P10 ||
                format == RETAKE_I420P12;
  bool is_444 = format == RETAKE_I444 || format == RETAKE_I444P10;
  retake_frame frame = {.size = sizeof frame, .format = format, .width = width, .height = height,
                        .plane_count = planes[format], .release = keep};
  for (int i = 0; i < planes[format]; i++) {
    int wide = width, high = height;
    if (i > 0 && !is_444) wide = (width + 1) / 2 * (format == RETAKE_NV12 ? 2 : 1);
    if (i > 0 && is_420) high = (height + 1) / 2;
    size_t stride = (size_t)wide * bytes[format];
    memory[i] = malloc(stride * high);
    if (!memory[i]) abort();
    memset(memory[i], 40 * i + 9, stride * high);
    frame.planes[i] = (retake_plane){memory[i], stride, stride * high};
  }
  TAKEN(retake_pipeline_push(pipeline, &frame, NULL));
}

static void shapes(void) {
  static const char *const stages[] = {
      "\"luminance\"", "\"fingertip\"", "\"digest\"", "\"mean-colour\"", "\"motion\"",
      "\"convert\",\"options\":{\"format\":\"RGB24\"}",
      "\"convert\",\"options\":{\"format\":\"NV12\"}",
      "\"downsample\",\"options\":{\"width\":32,\"height\":24}",
      "\"crop\",\"options\":{\"x\":3,\"y\":1,\"width\":4,\"height\":2}"};
  static const int sizes[][2] = {{1, 1}, {1, 7}, {7, 1}, {33, 5}, {64, 48}};
  for (size_t s = 0; s < sizeof stages / sizeof *stages; s++) {
    char document[1024];
    int length = snprintf(
        document, sizeof document,
        "{\"v\":1,\"nodes\":[{\"id\":\"camera\",\"kind\":\"session\"},{\"id\":\"it\",\"kind\":%s},"
        "{\"id\":\"out\",\"kind\":\"results\"}],\"edges\":[{\"from\":\"camera\",\"to\":\"it\"},"
        "{\"from\":\"it\",\"to\":\"out\"}]}",
        stages[s]);
    for (int format = RETAKE_I420; format <= RETAKE_GRAY16; format++) {
      retake_track track = {0, (retake_format)format, 64, 48};
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        retake_options options = options_for(&track);
        options.workers = 1;
        retake_pipeline pipeline = 0;
        TAKEN(retake_pipeline_create(document, length, &options, &pipeline));
        push_shape(pipeline, (retake_format)format, sizes[i][0], sizes[i][1]);
        retake_counts counts = {.size = sizeof counts};
        TAKEN(retake_pipeline_stop(pipeline, &counts));
        CHECK(counts.delivered + counts.failed == 1);
        TAKEN(retake_pipeline_destroy(pipeline));
        for (int p = 0; p < RETAKE_PLANES_MAX; p++) {
          free(memory[p]);
          memory[p] = NULL;
        }
      }
    }
  }
}

// Words of two bytes are read where they are.
static void odd_words(void) {
  retake_track deep = {0, RETAKE_GRAY16, WIDTH, HEIGHT};
  retake_options options = options_for(&deep);
  retake_pipeline pipeline = 0;
  TAKEN(retake_pipeline_create(motion, motion_length, &options, &pipeline));
  size_t stride = 2 * WIDTH + 2, length = stride * HEIGHT + 2;
  uint8_t *block = calloc(1, length);
  if (!block) abort();
  for (int i = 0; i < 2; i++) {
    retake_frame frame = {.size = sizeof frame, .format = RETAKE_GRAY16, .width = WIDTH,
                          .height = HEIGHT, .plane_count = 1};
    frame.planes[0] = (retake_plane){block + (i == 0), stride - (i == 1), length - 1};
    REFUSED(RETAKE_ERROR_VALUE, retake_pipeline_push(pipeline, &frame, NULL));
    CHECK(strstr(retake_last_error()->message, "have two bytes"));
  }
  free(block);
  TAKEN(retake_pipeline_destroy(pipeline));
}

// --- Replays ---

static void wrong_replays(void) {
  retake_replay_summary summary = {.size = sizeof summary};
  REFUSED(
      RETAKE_ERROR_SESSION,
      retake_replay("/nowhere/at all", motion, motion_length, NULL, &summary));
  REFUSED(RETAKE_ERROR_DOCUMENT, retake_replay(NULL, motion, motion_length, NULL, &summary));
  REFUSED(RETAKE_ERROR_NULL, retake_replay(NULL, NULL, 4, NULL, &summary));
  REFUSED(RETAKE_ERROR_VALUE, retake_replay("\xff\xff", motion, motion_length, NULL, &summary));
  summary.size = 3;
  REFUSED(RETAKE_ERROR_STRUCT, retake_replay(NULL, motion, motion_length, NULL, &summary));
  retake_replay_options options = {.size = 1};
  REFUSED(RETAKE_ERROR_STRUCT, retake_replay(NULL, motion, motion_length, &options, NULL));
  options = (retake_replay_options){.size = sizeof options, .mode = (retake_mode)5};
  REFUSED(RETAKE_ERROR_VALUE, retake_replay(NULL, motion, motion_length, &options, NULL));
}

static const char synthetic[] =
    "{\"v\":1,\"name\":\"drawn\",\"nodes\":[{\"id\":\"camera\",\"kind\":\"synthetic\","
    "\"options\":{\"frames\":12}},{\"id\":\"grey\",\"kind\":\"grey\"},"
    "{\"id\":\"motion\",\"kind\":\"motion\"},{\"id\":\"boxes\",\"kind\":\"results\"}],"
    "\"edges\":[{\"from\":\"camera\",\"to\":\"grey\"},{\"from\":\"grey\",\"to\":\"motion\"},"
    "{\"from\":\"motion\",\"to\":\"boxes\"}]}";

static int32_t at_once(void *context) {
  ++*(int *)context;
  return 1;
}

static void count_result(const retake_result *result, void *context) {
  CHECK(result->sequence == *(int *)context);
  ++*(int *)context;
}

static void replays(void) {
  retake_replay_options options = {.size = sizeof options};
  int asked = 0, results = 0;
  options.interrupted = at_once;
  options.context = &asked;
  REFUSED(
      RETAKE_ERROR_INTERRUPTED, retake_replay(NULL, synthetic, sizeof synthetic - 1, &options, NULL));
  CHECK(asked > 0);
  options.interrupted = NULL;
  options.on_result = count_result;
  options.context = &results;
  retake_replay_summary one = {.size = sizeof one}, two = {.size = sizeof two};
  TAKEN(retake_replay(NULL, synthetic, sizeof synthetic - 1, &options, &one));
  CHECK(results == 12 && one.counts.delivered == 12);
  TAKEN(retake_replay(NULL, synthetic, sizeof synthetic - 1, NULL, &two));
  CHECK(strcmp(one.result_digest, two.result_digest) == 0);
  CHECK(strcmp(one.decision_digest, two.decision_digest) == 0);
  options.workers = -3;
  REFUSED(RETAKE_ERROR_VALUE, retake_replay(NULL, synthetic, sizeof synthetic - 1, &options, NULL));
}

// --- Threads ---

static retake_pipeline shared;

static void *pusher(void *context) {
  (void)context;
  // Ends: the main thread destroys the pipeline.
  for (int i = 0; i < 1000000; i++) {
    retake_status status = lend(shared, i, i);
    if (status == RETAKE_ERROR_HANDLE) return NULL;
    CHECK(status == RETAKE_OK || status == RETAKE_ERROR_FULL || status == RETAKE_ERROR_STOPPED);
  }
  return NULL;
}

static void *destroyer(void *context) {
  _Atomic int *destroyed = context;
  if (retake_pipeline_destroy(shared) == RETAKE_OK) ++*destroyed;
  return NULL;
}

static void *no_error(void *context) {
  (void)context;
  const retake_error *error = retake_last_error();
  CHECK(error->status == RETAKE_OK && error->text[0] == 0);
  return NULL;
}

static void threads(void) {
  pthread_t pushers[3], destroyers[3], other;
  _Atomic int destroyed = 0;
  shared = make();
  TAKEN(lend(shared, 0, 0));
  for (int i = 0; i < 3; i++) pthread_create(&pushers[i], NULL, pusher, NULL);
  for (int i = 0; i < 3; i++) pthread_create(&destroyers[i], NULL, destroyer, &destroyed);
  for (int i = 0; i < 3; i++) pthread_join(destroyers[i], NULL);
  for (int i = 0; i < 3; i++) pthread_join(pushers[i], NULL);
  CHECK(destroyed == 1);
  REFUSED(RETAKE_ERROR_HANDLE, retake_pipeline_destroy(shared));
  // Each thread has errors of its own.
  pthread_create(&other, NULL, no_error, NULL);
  pthread_join(other, NULL);
}

// --- Many ---

static void many(void) {
  static retake_pipeline alive[RETAKE_PIPELINES_MAX];
  for (int i = 0; i < RETAKE_PIPELINES_MAX; i++) alive[i] = make();
  retake_options options = options_for(&track);
  retake_pipeline more = 5;
  REFUSED(RETAKE_ERROR_LIMIT, retake_pipeline_create(motion, motion_length, &options, &more));
  CHECK(more == 0);
  for (int i = 0; i < RETAKE_PIPELINES_MAX; i++) TAKEN(retake_pipeline_destroy(alive[i]));
}

static void rounds(int count) {
  int before = released, pushed = 0;
  for (int i = 0; i < count; i++) {
    retake_pipeline pipeline = make();
    for (int k = 0; k < i % 4; k++) {
      TAKEN(lend(pipeline, k * 33333333, i + 31 * k));
      pushed++;
    }
    if (i % 3 == 0) TAKEN(retake_pipeline_stop(pipeline, NULL));
    TAKEN(retake_pipeline_destroy(pipeline));
    CHECK(released - before == pushed);
  }
  printf("%d rounds, %d frames, %d released\n", count, pushed, released - before);
}

int main(int count, char **arguments) {
  CHECK(retake_abi() == RETAKE_ABI);
  CHECK(strcmp(retake_status_name(RETAKE_ERROR_FULL), "RETAKE_ERROR_FULL") == 0);
  CHECK(strcmp(retake_status_name((retake_status)77), "unknown") == 0);
  documents();
  creating();
  frames();
  events();
  callbacks();
  no_room();
  shapes();
  odd_words();
  wrong_replays();
  replays();
  int times = count > 1 ? atoi(arguments[1]) : 10;
  // A push meets the end of its pipeline at another place each time.
  for (int i = 0; i < times; i++) threads();
  many();
  rounds(times);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
