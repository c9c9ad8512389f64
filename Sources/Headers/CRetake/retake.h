// libretake: Retake's live engine, and its replay, for programs in C and in languages that call C.
//
// docs/libretake.md is the guide. The rules that hold for every function:
//
// - A pipeline is a number, not a pointer. A number that was never given, or whose pipeline has
//   been destroyed, is an error; no number is given twice.
// - Every function returns RETAKE_OK or an error. retake_last_error describes the last error of the
//   calling thread.
// - Any thread may call any function at any time, unless the function says otherwise.
// - Strings are UTF-8. A string with a length argument needs no zero at its end.
// - A struct with a member `size` is set to zero, and its `size` to sizeof, before it is filled.
//   Zero is the default of every other member.
#ifndef RETAKE_H
#define RETAKE_H

#ifdef RETAKE_STAGE_H
#error "include retake.h before retake_stage.h, which then leaves its names alone"
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of these declarations. It rises when a program has to be changed for the library.
#define RETAKE_ABI 1

// --- Errors ---

typedef enum retake_status {
  RETAKE_OK = 0,
  // A pointer is NULL that must not be.
  RETAKE_ERROR_NULL = 1,
  // There is no pipeline with this number, or it was destroyed.
  RETAKE_ERROR_HANDLE = 2,
  // The `size` of a struct is not one that this library knows.
  RETAKE_ERROR_STRUCT = 3,
  // An argument is out of range: a format, a size, a stride, the length of a plane, an option.
  RETAKE_ERROR_VALUE = 4,
  // The frame's track was not declared, or no source of the pipeline reads it.
  RETAKE_ERROR_TRACK = 5,
  // The pipeline's document cannot be used. The error's `pointer` is the place in it.
  RETAKE_ERROR_DOCUMENT = 6,
  // The pipeline was stopped.
  RETAKE_ERROR_STOPPED = 7,
  // There is no room for the frame: it is lost before capture, and the caller keeps the pixels.
  RETAKE_ERROR_FULL = 8,
  // The function may not be called in a callback, where it would wait for itself.
  RETAKE_ERROR_CALLBACK = 9,
  // The buffer is too small for the result and its zero.
  RETAKE_ERROR_BUFFER = 10,
  // The session cannot be read.
  RETAKE_ERROR_SESSION = 11,
  // The run failed: a stage halted it, or did not return.
  RETAKE_ERROR_RUN = 12,
  // The new stage cannot take the place of the old one, which continues.
  RETAKE_ERROR_SWAP = 13,
  // There are RETAKE_PIPELINES_MAX pipelines already, or no memory or thread for another one.
  RETAKE_ERROR_LIMIT = 14,
  // The caller's `interrupted` ended the replay.
  RETAKE_ERROR_INTERRUPTED = 15,
  // A stage still uses pixels of the caller. They are released when the stage returns.
  RETAKE_ERROR_BUSY = 16
} retake_status;

// An error in words. No member is NULL; a member without content is "".
typedef struct retake_error {
  retake_status status;
  // Stable and dotted, such as "graph.pipeline.unknownKind".
  const char *code;
  // What is wrong, in one sentence.
  const char *message;
  // The message of a layer below.
  const char *cause;
  // The place as a JSON pointer into the document, such as "/nodes/2/options/threshold".
  const char *pointer;
  // What to do now.
  const char *advice;
  // All of it on one line, for people.
  const char *text;
} retake_error;

// The last error of the calling thread; its status is RETAKE_OK before the first one. The strings
// are valid until the next error on this thread, or until the thread ends. Never NULL.
const retake_error *retake_last_error(void);

// The name of a status, such as "RETAKE_ERROR_NULL"; "unknown" for any other number.
const char *retake_status_name(retake_status status);

// The version of Retake, such as "0.1.0".
const char *retake_version(void);

// RETAKE_ABI of the library. A program compares it with its own.
uint32_t retake_abi(void);

// --- Documents ---

// What a document may do.
typedef enum retake_permissions {
  RETAKE_ALLOW_NOTHING = 0,
  // Start the programs of stages of the kind `process`.
  RETAKE_ALLOW_PROCESSES = 1
} retake_permissions;

// Bytes of a digest in hexadecimal, with the zero at its end.
#define RETAKE_DIGEST_SIZE 33

// The digest of what the document computes and decides: the same for each form of the same pipeline.
// Names and costs are not part of it.
retake_status retake_document_digest(
    const char *json, size_t length, uint32_t permissions, char *digest /* RETAKE_DIGEST_SIZE */);

// The document in canonical form.
//
// `written` is set to its bytes without the zero, also if the buffer is too small. The buffer may be
// NULL if the capacity is 0.
retake_status retake_document_canonical(
    const char *json, size_t length, uint32_t permissions, char *buffer, size_t capacity,
    size_t *written);

// --- Frames ---

// 8 bits a sample; from RETAKE_I420P10 to RETAKE_GRAY16 the low bits of a word of two bytes, the lower byte
// first; `data` and `stride` are even then.
typedef enum retake_format {
  RETAKE_I420 = 1,
  RETAKE_I422 = 2,
  RETAKE_I444 = 3,
  RETAKE_NV12 = 4,
  RETAKE_GRAY8 = 5,
  RETAKE_RGB24 = 6,
  RETAKE_BGRA = 7,
  RETAKE_RGBA = 8,
  RETAKE_I420P10 = 9,
  RETAKE_I422P10 = 10,
  RETAKE_I444P10 = 11,
  RETAKE_I420P12 = 12,
  RETAKE_GRAY10 = 13,
  RETAKE_GRAY12 = 14,
  RETAKE_GRAY16 = 15,
  RETAKE_BGR24 = 16
} retake_format;

typedef enum retake_range {
  // Limited for YUV and full for gray and RGB.
  RETAKE_RANGE_DEFAULT = 0,
  RETAKE_RANGE_LIMITED = 1,
  RETAKE_RANGE_FULL = 2
} retake_range;

typedef enum retake_matrix {
  // BT.601 below 720 lines, otherwise BT.709.
  RETAKE_MATRIX_DEFAULT = 0,
  RETAKE_MATRIX_BT601 = 1,
  RETAKE_MATRIX_BT709 = 2,
  RETAKE_MATRIX_BT2020 = 3
} retake_matrix;

#define RETAKE_PLANES_MAX 3
// The longest side of a frame, in pixels.
#define RETAKE_SIDE_MAX 16384

typedef struct retake_plane {
  // The first visible row.
  const uint8_t *data;
  // Bytes from the start of a row to the start of the next; at least a visible row.
  size_t stride;
  // Bytes that can be read from `data` on; at least up to the end of the last visible row.
  size_t length;
} retake_plane;

// Called once, on any thread, when the pixels are no longer used. It must not call functions of this
// library that take a pipeline.
typedef void (*retake_release)(void *context);

typedef struct retake_frame {
  size_t size;
  int32_t track;
  retake_format format;
  int32_t width;
  int32_t height;
  // Presentation time in nanoseconds. Its origin may be any; at most 2^61 from zero.
  int64_t pts_ns;
  // 3 for I420, I422 and I444 of any depth, 2 for NV12, otherwise 1.
  int32_t plane_count;
  retake_plane planes[RETAKE_PLANES_MAX];
  retake_range range;
  retake_matrix matrix;
  // Clockwise, in degrees, that a viewer applies: 0, 90, 180 or 270.
  int32_t rotation;
  // NULL: the pixels are copied before retake_pipeline_push returns.
  // Otherwise: the pixels are used where they are, and must not change until `release` is called.
  retake_release release;
  void *context;
} retake_frame;

// --- Results ---

// How a frame ended at the primary sink.
typedef enum retake_fate {
  RETAKE_DELIVERED = 1,
  RETAKE_DROPPED = 2,
  RETAKE_THROTTLED = 3,
  RETAKE_REPLACED = 4,
  RETAKE_FAILED = 5,
  RETAKE_IN_FLIGHT = 6
} retake_fate;

typedef struct retake_detection {
  // In pixels of the frame that the stage was given; y down.
  double x, y, width, height;
  double score;
  int64_t class_index;
  // A tracker's number of the object, if `has_identity` is not 0.
  int64_t identity;
  int32_t has_identity;
  // The name of the class; NULL if it has none.
  const char *class_name;
} retake_detection;

// What became of one captured frame. All pointers are valid until the callback returns.
typedef struct retake_result {
  size_t size;
  int32_t track;
  retake_fate fate;
  // The frame's number in its track: what retake_pipeline_push returned.
  int64_t sequence;
  // As it was pushed, or in the time base of the session's track; 0 without one.
  int64_t pts;
  // What the primary sink received.
  const retake_detection *detections;
  size_t detection_count;
  // The outcomes at all sinks, as one JSON object without a line end: docs/result-lines.md.
  const char *json;
  size_t json_length;
  // The masks, points, lines, digests of images, embeddings and JSON values that the primary sink
  // received: a text with one line for each, M, K, L, I, E or J as in docs/formats/goldens.md. ""
  // without observations.
  //
  // A library that is older than these two members has a smaller `size`.
  const char *observations;
  size_t observations_length;
} retake_result;

typedef void (*retake_on_result)(const retake_result *result, void *context);

// Counts of frames at the primary sink.
// captured = delivered + the five drops and ends below + in_flight
typedef struct retake_counts {
  size_t size;
  int64_t captured;
  int64_t delivered;
  int64_t dropped_queue;
  int64_t dropped_pool;
  int64_t dropped_timeout;
  int64_t dropped_partner_missing;
  int64_t throttled;
  int64_t replaced;
  int64_t failed;
  int64_t in_flight;
  // Frames for which the pipeline had no room, those refused with RETAKE_ERROR_FULL among them.
  int64_t lost_before_capture;
} retake_counts;

// --- Live pipelines ---

// Number of a pipeline. 0 is none.
typedef uint64_t retake_pipeline;

// Pipelines that may exist at once.
#define RETAKE_PIPELINES_MAX 1024
#define RETAKE_TRACKS_MAX 64

// A track whose frames are pushed.
typedef struct retake_track {
  int32_t track;
  // Of all its frames. Stages that need another format get a conversion.
  retake_format format;
  // Of the first frames.
  int32_t width;
  int32_t height;
} retake_track;

typedef struct retake_options {
  size_t size;
  const retake_track *tracks;
  size_t track_count;
  // Threads that compute, 1 to 255; 0 = the number of processors, at least 2 and at most 4.
  int32_t workers;
  // Frames that may wait for a decision, 1 to 4096; 0 = 64.
  int32_t waiting_frames;
  // How long stop and destroy wait for frames in flight; 0 = a second, at most an hour.
  int64_t drain_ns;
  // retake_permissions
  uint32_t permissions;
  // Called for each captured frame, one call at a time, on a thread of the library. It may push
  // frames and events and read counts. While it runs, results wait; if many wait, frames are lost.
  retake_on_result on_result;
  void *context;
} retake_options;

// Makes a pipeline of a JSON document: docs/pipelines.md. Its sources are of the kind `session`.
retake_status retake_pipeline_create(
    const char *json, size_t length, const retake_options *options, retake_pipeline *pipeline);

// Hands a frame over; never waits. Frames of a track are numbered from 0 in the order of the calls.
//
// With RETAKE_OK, `release` is called once, at the latest when retake_pipeline_destroy has returned
// RETAKE_OK. With an error it is not called: the pixels are still the caller's.
// `sequence` may be NULL.
retake_status retake_pipeline_push(
    retake_pipeline pipeline, const retake_frame *frame, int64_t *sequence);

// Reports what happened to the device. `kind` is thermal, temperature, memory, battery or
// orientation; the JSON is that of a session: {"state":"serious"}, {"state":"45C"},
// {"level":15,"charging":false}. Policies follow it.
retake_status retake_pipeline_device(
    retake_pipeline pipeline, const char *kind, const char *json, size_t length);

// Reports that a track delivers no frames for now: a camera was unplugged. `code` is one word.
retake_status retake_pipeline_source_lost(
    retake_pipeline pipeline, int32_t track, const char *code);

// The outcome of a swap. `error` is NULL if the new stage is in force, and otherwise valid until the
// callback returns.
typedef void (*retake_on_swap)(const retake_error *error, void *context);

// Replaces the stage of a node, for the frames that arrive from then on. `options` changes those that
// it names, and keeps the others. Inside a forEach a node is called x/NODE.
//
// Returns at once: the new stage is prepared on another thread. If this returns RETAKE_OK, `done` is
// called once; it may be NULL. Before the first frame nothing is swapped: it waits for that frame.
retake_status retake_pipeline_swap(
    retake_pipeline pipeline, const char *node, const char *options, size_t length,
    retake_on_swap done, void *context);

// The counts so far; while frames are pushed they may be 10 ms old. Also after stop.
retake_status retake_pipeline_counts(retake_pipeline pipeline, retake_counts *counts);

// Accepts no more frames, waits for those in flight and for their results, and writes the final
// counts, if `counts` is not NULL. Not in a callback.
//
// RETAKE_ERROR_RUN if a stage has halted the run: the error is that of the stage.
retake_status retake_pipeline_stop(retake_pipeline pipeline, retake_counts *counts);

// Stops the pipeline if it runs, and destroys it. No callback of it is called after this returned,
// unless that is RETAKE_ERROR_BUSY. Not in a callback.
retake_status retake_pipeline_destroy(retake_pipeline pipeline);

// --- Replay ---

typedef enum retake_mode {
  // Frames arrive at their times, costs are zero, and no queue drops a frame.
  RETAKE_EVERY_FRAME = 0,
  // All decisions are made again from the recorded arrivals and the declared costs.
  RETAKE_SIMULATE = 1
} retake_mode;

typedef struct retake_replay_options {
  size_t size;
  retake_mode mode;
  // Threads that compute, 1 to 256; 0 = 2. They change the speed and nothing else.
  int32_t workers;
  // Of costs that are drawn.
  uint64_t seed;
  // retake_permissions
  uint32_t permissions;
  // Called for each captured frame, in the order of capture, on the calling thread; may be NULL.
  retake_on_result on_result;
  // Asked between events; not 0 ends the replay with RETAKE_ERROR_INTERRUPTED. May be NULL.
  int32_t (*interrupted)(void *context);
  void *context;
} retake_replay_options;

typedef struct retake_replay_summary {
  size_t size;
  retake_counts counts;
  // Of the document, of all results, and of all decisions. Equal in each run.
  char document_digest[RETAKE_DIGEST_SIZE];
  char result_digest[RETAKE_DIGEST_SIZE];
  char decision_digest[RETAKE_DIGEST_SIZE];
} retake_replay_summary;

// Replays the frames of a session through a pipeline, in virtual time. Returns when it is over.
//
// `session` is the path of the session's folder; NULL if the pipeline brings frames of its own.
// `options` and `summary` may be NULL. RETAKE_ERROR_RUN if a stage has halted the run; the summary is
// filled all the same.
retake_status retake_replay(
    const char *session, const char *json, size_t length, const retake_replay_options *options,
    retake_replay_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
