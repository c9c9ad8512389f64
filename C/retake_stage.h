/* A stage of a Retake pipeline in C or C++: the program's side of the stage protocol, version 1.
 *
 * One file for C99 and C++11 or later, on systems with POSIX; nothing else is needed. docs/c.md
 * is the guide, docs/formats/stage-protocol.md what is exchanged with Retake.
 *
 *   #include "retake_stage.h"
 *
 *   static void process(void *self, const retake_frame *frame, retake_reply *reply) {
 *     (void)self;
 *     const retake_plane *gray = &frame->planes[0];
 *     retake_scalar(reply, "corner", gray->pixels[0]);
 *   }
 *
 *   int main(void) {
 *     retake_stage stage = retake_stage_make("corner", "scalars", process);
 *     static const char *const formats[] = {"GRAY8", NULL};
 *     stage.formats = formats;
 *     return retake_main(&stage);
 *   }
 *
 * Names that begin with retake_ are for users, those with retake_p_ are private. Everything is
 * static, so include it in one file of a program, and do not call it from several threads.
 *
 * A file that includes retake.h as well, the header of the library, includes that one first. Five
 * names then belong to the library: retake_frame, retake_plane, retake_options, retake_detection and
 * retake_error. The same of a stage are retake_stage_frame, retake_stage_plane and so on, which also
 * work without retake.h.
 *
 * Copyright the authors of Retake. Licensed under the Apache License 2.0.
 */
#ifndef RETAKE_STAGE_H
#define RETAKE_STAGE_H

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* The version of the stage protocol. */
#define RETAKE_PROTOCOL_VERSION 1

/* Until the end of this file. */
#ifdef RETAKE_H
#define retake_plane retake_stage_plane
#define retake_frame retake_stage_frame
#define retake_options retake_stage_options
#define retake_detection retake_stage_detection
#define retake_error retake_stage_error
#endif

/* ---- What a stage is given ---------------------------------------------------------------- */

/* The samples of one plane, in shared memory: valid until `process` returns. */
typedef struct retake_plane {
  const uint8_t *pixels;
  size_t stride; /* bytes from one row to the next */
  size_t width, height;
  size_t channels; /* samples of one column: 3 in RGB24, 2 in the second plane of NV12 */
  /* 1, or 2 in formats of more than 8 bits, such as I420P10: words, the lower byte first */
  size_t sample_bytes;
} retake_plane;

/* One sample of a sensor. */
typedef struct retake_sample {
  int64_t time_ns;      /* when it was measured, from the replay's origin, as pts_ns */
  const double *values; /* one for each channel; NaN where there is none */
} retake_sample;

/* What was read of a sensor that the node names in `sensors`: nothing from behind the frame. */
typedef struct retake_sensor {
  const char *name, *unit; /* an empty unit: there is none, or the channels differ */
  size_t channel_count;
  const char *const *channels;
  const retake_sample *latest; /* the newest one at the frame's arrival; NULL before the first */
  size_t window_count;
  const retake_sample *window; /* of the time before the frame that the node names, in order */
} retake_sensor;

/* One image. */
typedef struct retake_frame {
  int64_t track;
  int64_t sequence; /* counts the frames of a track from 0, those included that never come here */
  int64_t item;     /* in the body of a forEach, the index of the detection; else -1 */
  int64_t pts_ns;   /* presentation time from the replay's origin; use this and no clock */
  size_t width, height;
  /* GRAY8, RGB24, BGRA, RGBA, I420, I422, I444, NV12, or one of the others that the stage names,
     such as I420P10 (docs/pixels.md) */
  const char *format;
  const char *range;  /* limited, full */
  const char *matrix; /* bt601, bt709, bt2020, identity */
  size_t plane_count;
  retake_plane planes[4];
  size_t sensor_count;
  const retake_sensor *sensors; /* valid until `process` returns */
} retake_frame;

/* The options of the node, for `open`. What is not asked for is unknown, and an error. */
typedef struct retake_options retake_options;

/* The value for one frame, which `process` fills. */
typedef struct retake_reply retake_reply;

/* A named point of an object, in pixels of the frame, y down. */
typedef struct retake_point {
  const char *name;
  double x, y, score;
} retake_point;

/* A line between two points, by their indices. */
typedef struct retake_bone {
  size_t from, to;
} retake_bone;

/* A vertex of a line, in pixels of the frame, y down. */
typedef struct retake_vertex {
  double x, y;
} retake_vertex;

/* The type of the numbers of an image: 8 or 16 bits without a sign, or float. */
typedef enum retake_type { RETAKE_U8, RETAKE_U16, RETAKE_F32 } retake_type;

/* ---- What a stage is ---------------------------------------------------------------------- */

typedef struct retake_stage {
  const char *name;    /* for errors */
  const char *output;  /* detections, classes, scalars, observations */
  int64_t version;     /* count it up when the same frame gives another value */
  /* Formats that the stage accepts, best first, then NULL; NULL: those of 8 bits. */
  const char *const *formats;
  /* Names of the classes of detections, by their index, then NULL; NULL: none. */
  const char *const *class_names;
  /* Anything else on which values depend, such as the digest of a model's file. */
  const char *fingerprint;
  /* Given to the functions below. */
  void *self;
  /* Called once before the first frame, with the node's options: load models here. The result
   * becomes `self`. May be NULL: then the stage takes no options. To refuse, write why to stderr
   * and exit. */
  void *(*open)(void *self, const retake_options *options);
  /* Computes a frame. */
  void (*process)(void *self, const retake_frame *frame, retake_reply *reply);
  /* For stages that remember earlier frames: forgets them. NULL: the value depends on the frame
   * alone, and any copy of the program may compute any frame. */
  void (*reset)(void *self);
} retake_stage;

/* A stage of version 1 that accepts any format and remembers nothing. */
static inline retake_stage retake_stage_make(
    const char *name, const char *output,
    void (*process)(void *self, const retake_frame *frame, retake_reply *reply)) {
  retake_stage stage;
  memset(&stage, 0, sizeof stage);
  stage.name = name;
  stage.output = output;
  stage.version = 1;
  stage.process = process;
  return stage;
}

/* Computes the stage for the Retake that started this program. Returns the status for `main`: 0 at
 * the end, 2 if Retake asks for something that the stage does not have, 64 if no Retake started
 * it. Anything may be printed meanwhile; what was printed last is shown if something fails. */
static inline int retake_main(const retake_stage *stage);

/* The same with other files than 3 and 4: a connected stream socket, and memory with pixels. */
static inline int retake_serve(
    const retake_stage *stage, int messages, const uint8_t *memory, size_t size);

/* ---- Sensors ------------------------------------------------------------------------------ */

/* What was read of a sensor; NULL if the node does not name it. */
static inline const retake_sensor *retake_sensor_named(const retake_frame *frame, const char *name);
/* The newest value of a channel; NaN before the first sample, and without such a channel. */
static inline double retake_latest(const retake_sensor *sensor, const char *channel);

/* ---- The value ---------------------------------------------------------------------------- */

/* Adds a detection: the upper left corner, width and height in pixels of the frame, y down. */
static inline void retake_detection(
    retake_reply *reply, double x, double y, double width, double height, double score,
    int64_t class_index);
/* A tracker's number for the detection or observation that was added last. */
static inline void retake_identity(retake_reply *reply, int64_t identity);
/* Adds a label: to the frame if the output is `classes`, else to the last detection. */
static inline void retake_label(retake_reply *reply, const char *label, double score);
/* Adds a number; each name once. */
static inline void retake_scalar(retake_reply *reply, const char *name, double value);
/* Adds an observation, if the output is `observations` (docs/results.md): a mask of the pixels that
 * are not 0. Use the size of the frame. `stride` is the number of bytes from one row to the next. */
static inline void retake_mask(
    retake_reply *reply, const char *label, double score, const uint8_t *pixels, size_t stride,
    size_t width, size_t height);
/* Adds key points, in the same order for each frame, and the bones between them: NULL and 0 without
 * bones. */
static inline void retake_points(
    retake_reply *reply, const char *label, double score, const retake_point *points, size_t count,
    const retake_bone *bones, size_t bone_count);
/* Adds a chain of straight lines, such as a lane. A closed chain is a polygon, such as a contour or
 * an oriented box. */
static inline void retake_polyline(
    retake_reply *reply, const char *label, double score, const retake_vertex *points, size_t count,
    bool is_closed);
/* Adds an image, or a map of numbers such as depth: rows of pixels with 1 to 4 channels each, in the
 * machine's order of bytes. `stride` is the number of bytes from one row to the next. Three or four
 * channels of an image are red, green, blue and alpha. An image has at most 24 MiB. */
static inline void retake_image(
    retake_reply *reply, const char *label, double score, const void *pixels, size_t stride,
    size_t width, size_t height, size_t channels, retake_type type);
/* Adds a vector that represents an object or the frame. */
static inline void retake_embedding(
    retake_reply *reply, const char *label, double score, const float *values, size_t count);
/* Adds any value as JSON text. */
static inline void retake_json(
    retake_reply *reply, const char *label, double score, const char *json);
/* There is no value for this frame, which fails with the code: 1 to 64 printable ASCII characters
 * without spaces, such as `model.shape`. It is part of goldens. The run continues. */
static inline void retake_error(retake_reply *reply, const char *code, const char *message);
/* The same, and the run halts. */
static inline void retake_halt(retake_reply *reply, const char *code, const char *message);

/* ---- Options ------------------------------------------------------------------------------ */

/* The value of an option, or `otherwise` if it is not given. One of another kind ends the program
 * with status 2. */
static inline double retake_number(const retake_options *options, const char *key, double otherwise);
static inline int64_t retake_integer(
    const retake_options *options, const char *key, int64_t otherwise);
static inline bool retake_flag(const retake_options *options, const char *key, bool otherwise);
/* The string in `text`, which has room for `size` bytes with the NUL at its end. */
static inline void retake_string(
    const retake_options *options, const char *key, const char *otherwise, char *text, size_t size);

/* ==== Private from here on ================================================================= */

#define RETAKE_P_BYTES_MAX ((size_t)32 << 20)   /* of a message of the program; a power of 2 */
#define RETAKE_P_RECEIVED_MAX ((size_t)4 << 20) /* of a message of the host */
#define RETAKE_P_IMAGE_MAX ((size_t)24 << 20)   /* of an image, before base64 */
#define RETAKE_P_SIDE_MAX 65536                 /* columns or rows of a mask or an image */
#define RETAKE_P_DEPTH_MAX 64                   /* of nesting in a message */
#define RETAKE_P_TEXT_MAX 1000                  /* of an error's message */
#define RETAKE_P_CODE_MAX 64                    /* of an error's code */
#define RETAKE_P_KEYS_MAX 64                    /* options of a node */
#define RETAKE_P_USAGE 64
#define RETAKE_P_REFUSED 2

#if defined(__GNUC__)
#define RETAKE_P_NORETURN __attribute__((noreturn))
#define RETAKE_P_NOINLINE __attribute__((noinline, unused))
#else
#define RETAKE_P_NORETURN
#define RETAKE_P_NOINLINE
#endif

/* The tests of this file put something else here that does not return. */
#ifndef RETAKE_P_EXIT
#define RETAKE_P_EXIT(status) exit(status)
#endif

/* Ends the program; Retake shows the line. */
RETAKE_P_NORETURN static inline void retake_p_refuse(const char *what, const char *which) {
  fprintf(stderr, "retake: %s%s\n", what, which ? which : "");
  RETAKE_P_EXIT(RETAKE_P_REFUSED);
}

/* ---- Bytes that grow up to a bound --------------------------------------------------------- */

typedef struct retake_p_bytes {
  char *start;
  size_t count, room;
  bool is_full; /* more than RETAKE_P_BYTES_MAX were added */
} retake_p_bytes;

static inline void retake_p_add(retake_p_bytes *bytes, const char *text, size_t count) {
  if (count == 0) return;
  if (bytes->is_full || count > RETAKE_P_BYTES_MAX - bytes->count) {
    bytes->is_full = true;
    return;
  }
  if (bytes->count + count > bytes->room) {
    size_t room = bytes->room ? bytes->room : 256;
    while (room < bytes->count + count) room *= 2; /* ends at RETAKE_P_BYTES_MAX, a power of 2 */
    char *start = (char *)realloc(bytes->start, room);
    if (!start) retake_p_refuse("no memory for a reply", NULL);
    bytes->start = start;
    bytes->room = room;
  }
  memcpy(bytes->start + bytes->count, text, count);
  bytes->count += count;
}

static inline void retake_p_put(retake_p_bytes *bytes, const char *text) {
  retake_p_add(bytes, text, strlen(text));
}

static inline void retake_p_put_integer(retake_p_bytes *bytes, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  retake_p_put(bytes, text);
}

/* Whether the text is this number again, in the locale of the program. */
static inline bool retake_p_is(const char *text, double value) {
  return strtod(text, NULL) == value;
}

/* A finite number in at most 17 digits that give the same double. */
static inline void retake_p_put_number(retake_p_bytes *bytes, double value) {
  char text[40];
  /* 15 digits without zeros at the end are the shortest form of what has one; a subnormal number
   * has fewer that count. */
  int digits = fabs(value) < DBL_MIN ? 1 : 15;
  for (; digits < 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (retake_p_is(text, value)) break;
  }
  if (digits == 17) snprintf(text, sizeof text, "%.17g", value);
  const char *point = localeconv()->decimal_point;
  char *found = *point && strcmp(point, ".") != 0 ? strstr(text, point) : NULL;
  if (found) {
    *found = '.';
    memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
  }
  retake_p_put(bytes, text);
}

/* The length of the UTF-8 character that begins here, RFC 3629; 0 if none does. */
static inline size_t retake_p_character(const unsigned char *text, size_t count) {
  if (count == 0) return 0;
  unsigned char first = text[0];
  if (first < 0x80) return 1;
  size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                  : first >= 0xE0 && first <= 0xEF ? 3
                  : first >= 0xF0 && first <= 0xF4 ? 4
                                                   : 0;
  if (length == 0 || length > count) return 0;
  unsigned char least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (text[1] < least || text[1] > most) return 0;
  for (size_t index = 2; index < length; index++) {
    if (text[index] < 0x80 || text[index] > 0xBF) return 0;
  }
  return length;
}

/* Not inlined: gcc 12 would see a read after the end of a literal, where `length` forbids it. */
RETAKE_P_NOINLINE static bool retake_p_is_text(const char *text) {
  size_t count = strlen(text);
  for (size_t at = 0; at < count;) {
    size_t length = retake_p_character((const unsigned char *)text + at, count - at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

/* At most `count` bytes of a string, as JSON. What is not UTF-8 becomes a question mark. */
static inline void retake_p_put_string(retake_p_bytes *bytes, const char *text, size_t count) {
  char escape[8];
  retake_p_add(bytes, "\"", 1);
  for (size_t at = 0; at < count;) {
    size_t length = retake_p_character((const unsigned char *)text + at, count - at);
    unsigned char first = (unsigned char)text[at];
    if (length == 0) {
      retake_p_add(bytes, "?", 1);
      at += 1;
      continue;
    }
    if (first < 0x20 || first == '"' || first == '\\') {
      snprintf(escape, sizeof escape, "\\u%04x", first);
      retake_p_put(bytes, escape);
    } else {
      retake_p_add(bytes, text + at, length);
    }
    at += length;
  }
  retake_p_add(bytes, "\"", 1);
}

/* ---- Reading JSON -------------------------------------------------------------------------- */

/* A value inside of a message that was checked as a whole. */
typedef struct retake_p_json {
  const char *start, *end;
} retake_p_json;

static inline const char *retake_p_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

static inline int retake_p_hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

/* The four digits behind \u, or -1. */
static inline long retake_p_unit(const char *at, const char *end) {
  long unit = 0;
  if (end - at < 4) return -1;
  for (int index = 0; index < 4; index++) {
    int digit = retake_p_hex(at[index]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

/* The end of a string whose quote is before `at`; NULL if it is none. */
static inline const char *retake_p_string_end(const char *at, const char *end) {
  while (at < end) {
    if (*at == '"') return at + 1;
    if (*at == '\\') {
      if (++at == end) return NULL;
      if (*at == 'u') {
        if (retake_p_unit(at + 1, end) < 0) return NULL;
        at += 5;
      } else if (*at && strchr("\"\\/bfnrt", *at)) {
        at++;
      } else {
        return NULL;
      }
      continue;
    }
    size_t length = retake_p_character((const unsigned char *)at, (size_t)(end - at));
    if (length == 0 || (unsigned char)*at < 0x20) return NULL;
    at += length;
  }
  return NULL;
}

static inline const char *retake_p_digits(const char *at, const char *end) {
  const char *start = at;
  while (at < end && *at >= '0' && *at <= '9') at++;
  return at == start ? NULL : at;
}

/* The end of a number, RFC 8259; NULL if it is none. */
static inline const char *retake_p_number_end(const char *at, const char *end) {
  if (at < end && *at == '-') at++;
  if (at < end && *at == '0') {
    at++;
  } else if (!(at = retake_p_digits(at, end))) {
    return NULL;
  }
  if (at < end && *at == '.' && !(at = retake_p_digits(at + 1, end))) return NULL;
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    at = retake_p_digits(at, end);
  }
  return at;
}

static inline const char *retake_p_word_end(const char *at, const char *end, const char *word) {
  size_t length = strlen(word);
  return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

/* The end of the value that begins here; NULL if there is none. */
static inline const char *retake_p_value_end(const char *at, const char *end, int depth);

static inline const char *retake_p_members_end(
    const char *at, const char *end, char close, int depth) {
  at = retake_p_space(at, end);
  if (at < end && *at == close) return at + 1;
  /* Ends: each round takes a value off a text of bounded length. */
  for (;;) {
    if (close == '}') {
      at = retake_p_space(at, end);
      if (at == end || *at != '"' || !(at = retake_p_string_end(at + 1, end))) return NULL;
      at = retake_p_space(at, end);
      if (at == end || *at++ != ':') return NULL;
    }
    at = retake_p_value_end(at, end, depth);
    if (!at) return NULL;
    at = retake_p_space(at, end);
    if (at == end) return NULL;
    if (*at == close) return at + 1;
    if (*at++ != ',') return NULL;
  }
}

static inline const char *retake_p_value_end(const char *at, const char *end, int depth) {
  at = retake_p_space(at, end);
  if (at == end) return NULL;
  switch (*at) {
    case '{':
    case '[':
      /* The deepest recursion. */
      if (depth == RETAKE_P_DEPTH_MAX) return NULL;
      return retake_p_members_end(at + 1, end, *at == '{' ? '}' : ']', depth + 1);
    case '"': return retake_p_string_end(at + 1, end);
    case 't': return retake_p_word_end(at, end, "true");
    case 'f': return retake_p_word_end(at, end, "false");
    case 'n': return retake_p_word_end(at, end, "null");
    default: return retake_p_number_end(at, end);
  }
}

/* The next element or member of an object or array; false behind the last one. Begin with `at`
 * behind the bracket. */
static inline bool retake_p_next(
    retake_p_json parent, const char **at, retake_p_json *key, retake_p_json *value) {
  const char *next = retake_p_space(*at, parent.end);
  if (*next == ',') next = retake_p_space(next + 1, parent.end);
  if (*next == '}' || *next == ']') return false;
  if (*parent.start == '{') {
    key->start = next;
    key->end = retake_p_string_end(next + 1, parent.end);
    next = retake_p_space(key->end, parent.end) + 1;
  }
  value->start = retake_p_space(next, parent.end);
  value->end = retake_p_value_end(value->start, parent.end, 0);
  *at = value->end;
  return true;
}

/* Writes a character in UTF-8. */
static inline size_t retake_p_encode(long character, char *text) {
  if (character < 0x80) {
    text[0] = (char)character;
    return 1;
  }
  size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  for (size_t index = length - 1; index > 0; index--) {
    text[index] = (char)(0x80 | (character & 0x3F));
    character >>= 6;
  }
  text[0] = (char)((length == 2 ? 0xC0 : length == 3 ? 0xE0 : 0xF0) | character);
  return length;
}

/* Copies a string without its escapes. False if it is none, does not fit with its NUL, or has a NUL
 * or half of a character. */
static inline bool retake_p_string(retake_p_json value, char *text, size_t size) {
  if (*value.start != '"') return false;
  size_t count = 0;
  for (const char *at = value.start + 1; at < value.end - 1;) {
    char character[4];
    size_t length = 1;
    if (*at != '\\') {
      character[0] = *at++;
    } else if (at[1] != 'u') {
      const char *kinds = "bfnrt", *meanings = "\b\f\n\r\t";
      const char *kind = strchr(kinds, at[1]);
      character[0] = kind ? meanings[kind - kinds] : at[1];
      at += 2;
    } else {
      long unit = retake_p_unit(at + 2, value.end);
      at += 6;
      if (unit >= 0xD800 && unit <= 0xDBFF && at[0] == '\\' && at[1] == 'u') {
        long second = retake_p_unit(at + 2, value.end);
        if (second < 0xDC00 || second > 0xDFFF) return false;
        unit = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
        at += 6;
      }
      if (unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF)) return false;
      length = retake_p_encode(unit, character);
    }
    if (count + length >= size) return false;
    memcpy(text + count, character, length);
    count += length;
  }
  if (size == 0) return false;
  text[count] = '\0';
  return true;
}

/* The member of an object. False if it is not there. A key that comes twice ends the program. */
static inline bool retake_p_member(retake_p_json object, const char *name, retake_p_json *found) {
  char text[64];
  bool is_found = false;
  retake_p_json key = {NULL, NULL}, value = {NULL, NULL};
  const char *at = object.start + 1;
  if (*object.start != '{') return false;
  while (retake_p_next(object, &at, &key, &value)) {
    if (!retake_p_string(key, text, sizeof text) || strcmp(text, name) != 0) continue;
    if (is_found) retake_p_refuse("a message has twice the key ", name);
    is_found = true;
    *found = value;
  }
  return is_found;
}

/* The value of a number that is an integer, also if it is written as 1.5e1. */
static inline bool retake_p_integer(retake_p_json value, int64_t *result) {
  const char *at = value.start;
  bool is_negative = at < value.end && *at == '-', is_fraction = false;
  long exponent = 0;
  uint64_t whole = 0;
  if (is_negative) at++;
  if (at == value.end || *at < '0' || *at > '9') return false;
  const char *mark = at;
  while (mark < value.end && *mark != 'e' && *mark != 'E') mark++;
  if (mark < value.end) {
    /* Clamped, so that it cannot overflow; a message has fewer digits. */
    bool is_small = mark[1] == '-';
    for (const char *digit = mark + 1; digit < value.end; digit++) {
      if (*digit >= '0' && *digit <= '9' && exponent < 10000000) {
        exponent = exponent * 10 + (*digit - '0');
      }
    }
    if (is_small) exponent = -exponent;
  }
  /* Zeros are counted, and multiplied in only if another digit follows. */
  long zeros = 0;
  for (; at < mark; at++) {
    if (*at == '.') {
      is_fraction = true;
      continue;
    }
    if (is_fraction) exponent--;
    if (*at == '0') {
      if (whole) zeros++;
      continue;
    }
    for (zeros++; zeros > 0; zeros--) {
      if (whole > UINT64_MAX / 10) return false;
      whole *= 10;
    }
    if (whole > UINT64_MAX - (uint64_t)(*at - '0')) return false;
    whole += (uint64_t)(*at - '0');
  }
  if (whole == 0) {
    *result = 0;
    return true;
  }
  exponent += zeros;
  if (exponent < 0) return false;
  for (; exponent > 0; exponent--) {
    if (whole > UINT64_MAX / 10) return false;
    whole *= 10;
  }
  uint64_t most = (uint64_t)INT64_MAX + (is_negative ? 1 : 0);
  if (whole > most) return false;
  *result = !is_negative ? (int64_t)whole : whole == most ? INT64_MIN : -(int64_t)whole;
  return true;
}

/* ---- The frame ----------------------------------------------------------------------------- */

struct retake_options {
  retake_p_json object;
  bool *is_used; /* by the index of the option */
};

/* How the planes of a format divide the sides of the frame; 0 channels: no such plane. */
typedef struct retake_p_format {
  const char *name;
  struct {
    unsigned char across, down, channels;
  } planes[4];
  unsigned char sample_bytes; /* 0: 1 */
} retake_p_format;

static const retake_p_format retake_p_formats[] = {
    {"GRAY8", {{1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 1},
    {"RGB24", {{1, 1, 3}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 1},
    {"BGR24", {{1, 1, 3}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 1},
    {"BGRA", {{1, 1, 4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 1},
    {"RGBA", {{1, 1, 4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 1},
    {"NV12", {{1, 1, 1}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}}, 1},
    {"I420", {{1, 1, 1}, {2, 2, 1}, {2, 2, 1}, {0, 0, 0}}, 1},
    {"I422", {{1, 1, 1}, {2, 1, 1}, {2, 1, 1}, {0, 0, 0}}, 1},
    {"I444", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}}, 1},
    {"I440", {{1, 1, 1}, {1, 2, 1}, {1, 2, 1}, {0, 0, 0}}, 1},
    {"I411", {{1, 1, 1}, {4, 1, 1}, {4, 1, 1}, {0, 0, 0}}, 1},
    {"I410", {{1, 1, 1}, {4, 4, 1}, {4, 4, 1}, {0, 0, 0}}, 1},
    {"I420A", {{1, 1, 1}, {2, 2, 1}, {2, 2, 1}, {1, 1, 1}}, 1},
    {"I422A", {{1, 1, 1}, {2, 1, 1}, {2, 1, 1}, {1, 1, 1}}, 1},
    {"I444A", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 1},
    {"GBR", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}}, 2},
    {"GBRA", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 2},
    {"GRAY", {{1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 2},
};

/* The format of a name; deep ones are that of their planes and the number of their bits: I420P10,
   GBRP12, GRAY16. */
static inline retake_p_format retake_p_format_of(const char *name) {
  size_t length = strlen(name), digits = length;
  int bits = 0;
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') digits--;
  if (length - digits <= 2) {
    for (size_t index = digits; index < length; index++) bits = 10 * bits + (name[index] - '0');
  }
  size_t base = digits > 0 && name[digits - 1] == 'P' ? digits - 1 : digits;
  for (size_t index = 0; index < sizeof retake_p_formats / sizeof *retake_p_formats; index++) {
    retake_p_format format = retake_p_formats[index];
    bool is_whole = strcmp(format.name, name) == 0 && format.sample_bytes == 1;
    if (is_whole) return format;
    bool has_bits = bits > 8 && bits <= 16 && strlen(format.name) == base;
    /* Only gray has no P between its name and its bits. */
    if (has_bits && strncmp(format.name, name, base) == 0 &&
        (base < digits) == (strcmp(format.name, "GRAY") != 0)) {
      format.sample_bytes = 2;
      return format;
    }
  }
  retake_p_refuse("there is no format ", name);
}

/* Memory that is freed when the stage has returned. */
typedef struct retake_p_block {
  struct retake_p_block *next;
  double alignment;
} retake_p_block;

static inline void *retake_p_take(retake_p_block **blocks, size_t count, size_t size) {
  /* Both come from a message of at most RETAKE_P_RECEIVED_MAX, so the product fits. */
  retake_p_block *block = (retake_p_block *)malloc(sizeof *block + count * size);
  if (!block) retake_p_refuse("no memory for a frame", NULL);
  block->next = *blocks;
  *blocks = block;
  return block + 1;
}

static inline void retake_p_free(retake_p_block *blocks) {
  while (blocks) {
    retake_p_block *next = blocks->next;
    free(blocks);
    blocks = next;
  }
}

/* The conversation with the host. */
typedef struct retake_p_conversation {
  const retake_stage *stage;
  void *self;
  const uint8_t *memory;
  size_t size, slots, slot_bytes;
  bool is_greeted;
  retake_p_block *blocks; /* of the present frame */
  retake_p_bytes answer; /* a message for the host; empty if there is none */
} retake_p_conversation;

static inline int64_t retake_p_required(
    retake_p_json object, const char *name, int64_t least, int64_t most) {
  retake_p_json value = {NULL, NULL};
  int64_t result = 0;
  if (!retake_p_member(object, name, &value)) retake_p_refuse("a message lacks the key ", name);
  if (!retake_p_integer(value, &result) || result < least || result > most) {
    retake_p_refuse("a message has an integer that is not possible: ", name);
  }
  return result;
}

static inline void retake_p_required_text(
    retake_p_json object, const char *name, char *text, size_t size) {
  retake_p_json value = {NULL, NULL};
  if (!retake_p_member(object, name, &value)) retake_p_refuse("a message lacks the key ", name);
  if (!retake_p_string(value, text, size)) {
    retake_p_refuse("a message has a string that is not possible: ", name);
  }
}

/* One plane, `[offset, stride]`, after the check that it is inside of the slot. */
static inline void retake_p_place(
    const retake_p_conversation *conversation, retake_p_json place, const uint8_t *slot,
    retake_plane *plane) {
  retake_p_json key = {NULL, NULL}, value = {NULL, NULL};
  int64_t numbers[2] = {0, 0};
  size_t count = 0;
  const char *at = place.start + 1;
  if (*place.start == '[') {
    for (; retake_p_next(place, &at, &key, &value); count++) {
      if (count < 2 && !retake_p_integer(value, &numbers[count])) numbers[count] = -1;
    }
  }
  uint64_t room = conversation->slot_bytes, rows = plane->height;
  uint64_t visible = (uint64_t)plane->width * plane->channels * plane->sample_bytes;
  uint64_t offset = (uint64_t)numbers[0], stride = (uint64_t)numbers[1];
  /* Without a product that could overflow. */
  bool fits = count == 2 && numbers[0] >= 0 && numbers[1] >= 0 && stride >= visible &&
              offset <= room && visible <= room - offset &&
              (rows == 1 || rows - 1 <= (room - offset - visible) / stride);
  if (!fits) retake_p_refuse("a plane is not inside of its slot", NULL);
  plane->pixels = slot + offset;
  plane->stride = (size_t)stride;
}

static inline retake_frame retake_p_frame(
    const retake_p_conversation *conversation, retake_p_json message, char texts[3][16]) {
  retake_frame frame;
  memset(&frame, 0, sizeof frame);
  frame.track = retake_p_required(message, "track", 0, INT64_MAX);
  frame.sequence = retake_p_required(message, "sequence", 0, INT64_MAX);
  frame.pts_ns = retake_p_required(message, "ptsNs", INT64_MIN, INT64_MAX);
  frame.width = (size_t)retake_p_required(message, "width", 1, INT32_MAX);
  frame.height = (size_t)retake_p_required(message, "height", 1, INT32_MAX);
  int64_t slot = retake_p_required(message, "slot", 0, (int64_t)conversation->slots - 1);
  retake_p_json value = {NULL, NULL};
  frame.item = -1;
  if (retake_p_member(message, "item", &value) && *value.start != 'n') {
    frame.item = retake_p_required(message, "item", 0, INT64_MAX);
  }
  const char *const names[3] = {"format", "range", "matrix"};
  for (int index = 0; index < 3; index++) {
    retake_p_required_text(message, names[index], texts[index], sizeof texts[index]);
  }
  frame.format = texts[0];
  frame.range = texts[1];
  frame.matrix = texts[2];
  const retake_p_format format = retake_p_format_of(texts[0]);
  while (frame.plane_count < 4 && format.planes[frame.plane_count].channels) frame.plane_count++;
  retake_p_json places = {NULL, NULL}, key = {NULL, NULL}, place = {NULL, NULL};
  if (!retake_p_member(message, "planes", &places) || *places.start != '[') {
    retake_p_refuse("a frame has no planes", NULL);
  }
  const char *at = places.start + 1;
  size_t count = 0;
  for (; retake_p_next(places, &at, &key, &place); count++) {
    if (count >= frame.plane_count) continue;
    retake_plane *plane = &frame.planes[count];
    size_t across = format.planes[count].across, down = format.planes[count].down;
    plane->width = (frame.width + across - 1) / across;
    plane->height = (frame.height + down - 1) / down;
    plane->channels = format.planes[count].channels;
    plane->sample_bytes = format.sample_bytes;
    const uint8_t *start = conversation->memory + (size_t)slot * conversation->slot_bytes;
    retake_p_place(conversation, place, start, plane);
  }
  if (count != frame.plane_count) retake_p_refuse("a frame has another number of planes", NULL);
  return frame;
}

/* ---- Sensors of a frame -------------------------------------------------------------------- */

static inline retake_p_json retake_p_list(retake_p_json object, const char *name, size_t *count) {
  retake_p_json list = {NULL, NULL}, key = {NULL, NULL}, value = {NULL, NULL};
  if (!retake_p_member(object, name, &list) || *list.start != '[') {
    retake_p_refuse("a sensor lacks the list ", name);
  }
  const char *at = list.start + 1;
  for (*count = 0; retake_p_next(list, &at, &key, &value);) ++*count;
  return list;
}

static inline const char *retake_p_copied(retake_p_json value, retake_p_block **blocks) {
  /* With its quotes it is longer than without. */
  size_t size = (size_t)(value.end - value.start);
  char *text = (char *)retake_p_take(blocks, size, 1);
  if (!retake_p_string(value, text, size)) {
    retake_p_refuse("a sensor has a string that is not possible", NULL);
  }
  return text;
}

static inline const char *retake_p_copied_member(
    retake_p_json object, const char *name, retake_p_block **blocks) {
  retake_p_json value = {NULL, NULL};
  if (!retake_p_member(object, name, &value)) retake_p_refuse("a sensor lacks the key ", name);
  return retake_p_copied(value, blocks);
}

static inline bool retake_p_double(retake_p_json value, double *result);

/* `[time, [values]]`, where null is no value. */
static inline retake_sample retake_p_sample(
    retake_p_json given, size_t channels, retake_p_block **blocks) {
  retake_sample sample = {0, NULL};
  retake_p_json key = {NULL, NULL}, time = {NULL, NULL}, list = {NULL, NULL}, value = {NULL, NULL};
  double *values = (double *)retake_p_take(blocks, channels, sizeof *values);
  size_t count = 0;
  const char *at = given.start + 1;
  bool is_sample = *given.start == '[' && retake_p_next(given, &at, &key, &time) &&
                   retake_p_next(given, &at, &key, &list) &&
                   !retake_p_next(given, &at, &key, &value) && *list.start == '[' &&
                   retake_p_integer(time, &sample.time_ns);
  if (is_sample) {
    at = list.start + 1;
    for (; is_sample && retake_p_next(list, &at, &key, &value); count++) {
      is_sample = count < channels;
      if (is_sample && *value.start == 'n') {
        values[count] = (double)NAN;
      } else if (is_sample) {
        is_sample = retake_p_double(value, &values[count]);
      }
    }
  }
  if (!is_sample || count != channels) retake_p_refuse("a sample is not [time, [values]]", NULL);
  sample.values = values;
  return sample;
}

static inline retake_sensor retake_p_sensor(retake_p_json given, retake_p_block **blocks) {
  retake_sensor sensor;
  memset(&sensor, 0, sizeof sensor);
  if (*given.start != '{') retake_p_refuse("a sensor is not an object", NULL);
  sensor.name = retake_p_copied_member(given, "sensor", blocks);
  sensor.unit = retake_p_copied_member(given, "unit", blocks);
  retake_p_json key = {NULL, NULL}, value = {NULL, NULL}, latest = {NULL, NULL};
  retake_p_json list = retake_p_list(given, "channels", &sensor.channel_count);
  const char **channels =
      (const char **)retake_p_take(blocks, sensor.channel_count, sizeof *channels);
  const char *at = list.start + 1;
  for (size_t index = 0; retake_p_next(list, &at, &key, &value); index++) {
    channels[index] = retake_p_copied(value, blocks);
  }
  sensor.channels = channels;
  if (retake_p_member(given, "latest", &latest) && *latest.start != 'n') {
    retake_sample *sample = (retake_sample *)retake_p_take(blocks, 1, sizeof *sample);
    *sample = retake_p_sample(latest, sensor.channel_count, blocks);
    sensor.latest = sample;
  }
  list = retake_p_list(given, "window", &sensor.window_count);
  retake_sample *window =
      (retake_sample *)retake_p_take(blocks, sensor.window_count, sizeof *window);
  at = list.start + 1;
  for (size_t index = 0; retake_p_next(list, &at, &key, &value); index++) {
    window[index] = retake_p_sample(value, sensor.channel_count, blocks);
  }
  sensor.window = window;
  return sensor;
}

/* Hosts before sensors send none. */
static inline void retake_p_sensors(
    retake_p_json message, retake_frame *frame, retake_p_block **blocks) {
  retake_p_json list = {NULL, NULL}, key = {NULL, NULL}, value = {NULL, NULL};
  if (!retake_p_member(message, "sensors", &list)) return;
  list = retake_p_list(message, "sensors", &frame->sensor_count);
  retake_sensor *sensors =
      (retake_sensor *)retake_p_take(blocks, frame->sensor_count, sizeof *sensors);
  const char *at = list.start + 1;
  for (size_t index = 0; retake_p_next(list, &at, &key, &value); index++) {
    sensors[index] = retake_p_sensor(value, blocks);
  }
  frame->sensors = sensors;
}

static inline const retake_sensor *retake_sensor_named(
    const retake_frame *frame, const char *name) {
  for (size_t index = 0; index < frame->sensor_count; index++) {
    if (strcmp(frame->sensors[index].name, name) == 0) return &frame->sensors[index];
  }
  return NULL;
}

static inline double retake_latest(const retake_sensor *sensor, const char *channel) {
  for (size_t index = 0; sensor && sensor->latest && index < sensor->channel_count; index++) {
    if (strcmp(sensor->channels[index], channel) == 0) return sensor->latest->values[index];
  }
  return (double)NAN;
}

/* ---- The reply ----------------------------------------------------------------------------- */

struct retake_reply {
  const retake_stage *stage;
  retake_p_bytes elements; /* without the bracket at the end */
  size_t count;
  bool has_labels, is_open; /* the last detection: a list of labels is begun, `}` is missing */
  retake_p_bytes error;     /* its members, if there is one */
};

static inline void retake_p_fail(
    retake_reply *reply, const char *code, const char *message, const char *severity) {
  size_t count = strlen(message);
  /* The first one counts. */
  if (reply->error.count) return;
  retake_p_put(&reply->error, "{\"code\":");
  retake_p_put_string(&reply->error, code, strlen(code));
  retake_p_put(&reply->error, ",\"message\":");
  retake_p_put_string(&reply->error, message, count < RETAKE_P_TEXT_MAX ? count : RETAKE_P_TEXT_MAX);
  retake_p_put(&reply->error, ",\"severity\":\"");
  retake_p_put(&reply->error, severity);
  retake_p_put(&reply->error, "\"}");
}

/* A mistake of the stage's author, which halts the run. */
static inline void retake_p_misuse(retake_reply *reply, const char *what, const char *detail) {
  char text[256];
  snprintf(text, sizeof text, "%s%.200s", what, detail ? detail : "");
  retake_p_fail(reply, "c.value", text, "unrecoverable");
}

static inline bool retake_p_is_given(retake_reply *reply, const void *given, const char *what) {
  if (given) return true;
  retake_p_misuse(reply, what, " is NULL");
  return false;
}

static inline bool retake_p_outputs(retake_reply *reply, const char *output) {
  if (strcmp(reply->stage->output, output) == 0) return true;
  retake_p_misuse(reply, "the output of the stage is not ", output);
  return false;
}

static inline bool retake_p_finite(retake_reply *reply, double value, const char *what) {
  if (isfinite(value)) return true;
  retake_p_misuse(reply, what, " must be finite");
  return false;
}

static inline void retake_p_close_detection(retake_reply *reply) {
  if (reply->has_labels) retake_p_put(&reply->elements, "]");
  if (reply->is_open) retake_p_put(&reply->elements, "}");
  reply->has_labels = reply->is_open = false;
}

static inline void retake_p_begin(retake_reply *reply) {
  retake_p_close_detection(reply);
  retake_p_put(&reply->elements, reply->count ? "," : "");
  reply->count++;
}

static inline void retake_detection(
    retake_reply *reply, double x, double y, double width, double height, double score,
    int64_t class_index) {
  double box[4] = {x, y, width, height};
  size_t classes = 0;
  if (!retake_p_outputs(reply, "detections")) return;
  for (int side = 0; side < 4; side++) {
    if (!retake_p_finite(reply, box[side], "a side of a box")) return;
  }
  if (!retake_p_finite(reply, score, "a score")) return;
  if (width < 0 || height < 0) {
    retake_p_misuse(reply, "the width and height of a box are 0 or more", NULL);
    return;
  }
  while (reply->stage->class_names && reply->stage->class_names[classes]) classes++;
  if (class_index < 0 || (classes && (uint64_t)class_index >= classes)) {
    retake_p_misuse(reply, "a detection has a class without a name", NULL);
    return;
  }
  retake_p_begin(reply);
  retake_p_put(&reply->elements, "{\"box\":[");
  for (int side = 0; side < 4; side++) {
    retake_p_put(&reply->elements, side ? "," : "");
    retake_p_put_number(&reply->elements, box[side]);
  }
  retake_p_put(&reply->elements, "],\"score\":");
  retake_p_put_number(&reply->elements, score);
  retake_p_put(&reply->elements, ",\"class\":");
  retake_p_put_integer(&reply->elements, class_index);
  reply->is_open = true;
}

static inline void retake_identity(retake_reply *reply, int64_t identity) {
  bool observes = strcmp(reply->stage->output, "observations") == 0;
  if (!observes && !retake_p_outputs(reply, "detections")) return;
  if (!reply->is_open || reply->has_labels) {
    retake_p_misuse(reply, "an identity comes directly behind its detection", NULL);
    return;
  }
  retake_p_put(&reply->elements, ",\"identity\":");
  retake_p_put_integer(&reply->elements, identity);
}

static inline void retake_label(retake_reply *reply, const char *label, double score) {
  bool is_own = strcmp(reply->stage->output, "classes") == 0;
  if (!is_own && !retake_p_outputs(reply, "detections")) return;
  if (!retake_p_is_given(reply, label, "a label")) return;
  if (!is_own && !reply->is_open) {
    retake_p_misuse(reply, "there is no detection for the label ", label);
    return;
  }
  if (!retake_p_is_text(label)) {
    retake_p_misuse(reply, "a label is not UTF-8: ", label);
    return;
  }
  if (!retake_p_finite(reply, score, "a score")) return;
  if (is_own) {
    retake_p_begin(reply);
  } else {
    retake_p_put(&reply->elements, reply->has_labels ? "," : ",\"classes\":[");
    reply->has_labels = true;
  }
  retake_p_put(&reply->elements, "{\"label\":");
  retake_p_put_string(&reply->elements, label, strlen(label));
  retake_p_put(&reply->elements, ",\"score\":");
  retake_p_put_number(&reply->elements, score);
  retake_p_put(&reply->elements, "}");
}

static inline void retake_scalar(retake_reply *reply, const char *name, double value) {
  if (!retake_p_outputs(reply, "scalars")) return;
  if (!retake_p_is_given(reply, name, "the name of a scalar")) return;
  if (!retake_p_is_text(name)) {
    retake_p_misuse(reply, "a name is not UTF-8: ", name);
    return;
  }
  if (!retake_p_finite(reply, value, name)) return;
  retake_p_begin(reply);
  retake_p_put(&reply->elements, "{\"name\":");
  retake_p_put_string(&reply->elements, name, strlen(name));
  retake_p_put(&reply->elements, ",\"value\":");
  retake_p_put_number(&reply->elements, value);
  retake_p_put(&reply->elements, "}");
}

/* ---- Observations -------------------------------------------------------------------------- */

/* Begins an observation, up to the colon before its content. */
static inline bool retake_p_observe(
    retake_reply *reply, const char *label, double score, const char *content) {
  if (!retake_p_outputs(reply, "observations")) return false;
  if (!retake_p_is_given(reply, label, "a label")) return false;
  if (!retake_p_is_text(label)) {
    retake_p_misuse(reply, "a label is not UTF-8: ", label);
    return false;
  }
  if (!retake_p_finite(reply, score, "a score")) return false;
  retake_p_begin(reply);
  retake_p_put(&reply->elements, "{\"label\":");
  retake_p_put_string(&reply->elements, label, strlen(label));
  retake_p_put(&reply->elements, ",\"score\":");
  retake_p_put_number(&reply->elements, score);
  retake_p_put(&reply->elements, content);
  reply->is_open = true;
  return true;
}

/* A number of COCO's compressed runs, five bits in each character. */
static inline void retake_p_put_run(retake_p_bytes *bytes, int64_t rest) {
  bool is_last = false;
  while (!is_last) {
    /* No shift to the right of a negative number, which C leaves to the compiler. */
    int64_t bits = ((rest % 32) + 32) % 32;
    rest = (rest - bits) / 32;
    is_last = rest == (bits & 16 ? -1 : 0);
    char character = (char)(bits + (is_last ? 48 : 80));
    if (character == '\\') retake_p_add(bytes, "\\", 1);
    retake_p_add(bytes, &character, 1);
  }
}

typedef struct retake_p_runs {
  int64_t length;  /* of the open run */
  int64_t last[2]; /* lengths of the two runs before it */
  size_t count;    /* of ended runs */
} retake_p_runs;

/* From the fourth run on, the difference to the run before the last. */
static inline void retake_p_end_run(retake_p_bytes *bytes, retake_p_runs *runs) {
  int64_t *before_last = &runs->last[runs->count % 2];
  retake_p_put_run(bytes, runs->count > 2 ? runs->length - *before_last : runs->length);
  *before_last = runs->length;
  runs->length = 0;
  runs->count++;
}

static inline bool retake_p_is_size(size_t width, size_t height) {
  return width > 0 && height > 0 && width <= RETAKE_P_SIDE_MAX && height <= RETAKE_P_SIDE_MAX;
}

static inline void retake_mask(
    retake_reply *reply, const char *label, double score, const uint8_t *pixels, size_t stride,
    size_t width, size_t height) {
  retake_p_runs runs = {0, {0, 0}, 0};
  if (!pixels || !retake_p_is_size(width, height) || stride < width) {
    retake_p_misuse(
        reply, "a mask has pixels, 1 to 65536 columns and rows, and a stride of at least its columns",
        NULL);
    return;
  }
  if (!retake_p_observe(reply, label, score, ",\"mask\":{\"size\":[")) return;
  retake_p_put_integer(&reply->elements, (int64_t)height);
  retake_p_put(&reply->elements, ",");
  retake_p_put_integer(&reply->elements, (int64_t)width);
  retake_p_put(&reply->elements, "],\"counts\":\"");
  for (size_t x = 0; x < width; x++) {
    for (size_t y = 0; y < height; y++) {
      /* The first run is outside, and may be empty. */
      if ((pixels[y * stride + x] != 0) != (runs.count % 2 == 1)) {
        retake_p_end_run(&reply->elements, &runs);
      }
      runs.length++;
    }
  }
  retake_p_end_run(&reply->elements, &runs);
  retake_p_put(&reply->elements, "\"}");
}

static inline void retake_p_put_point(retake_reply *reply, const retake_point *point) {
  retake_p_bytes *bytes = &reply->elements;
  if (!retake_p_is_given(reply, point->name, "the name of a point")) return;
  if (!retake_p_is_text(point->name)) {
    retake_p_misuse(reply, "a name is not UTF-8: ", point->name);
    return;
  }
  if (!retake_p_finite(reply, point->x, "a coordinate of a point") ||
      !retake_p_finite(reply, point->y, "a coordinate of a point") ||
      !retake_p_finite(reply, point->score, "the score of a point")) {
    return;
  }
  retake_p_put(bytes, "{\"name\":");
  retake_p_put_string(bytes, point->name, strlen(point->name));
  retake_p_put(bytes, ",\"x\":");
  retake_p_put_number(bytes, point->x);
  retake_p_put(bytes, ",\"y\":");
  retake_p_put_number(bytes, point->y);
  retake_p_put(bytes, ",\"score\":");
  retake_p_put_number(bytes, point->score);
  retake_p_put(bytes, "}");
}

static inline void retake_points(
    retake_reply *reply, const char *label, double score, const retake_point *points, size_t count,
    const retake_bone *bones, size_t bone_count) {
  if (count && !retake_p_is_given(reply, points, "the array of points")) return;
  if (bone_count && !retake_p_is_given(reply, bones, "the array of bones")) return;
  if (!retake_p_observe(reply, label, score, ",\"points\":[")) return;
  for (size_t index = 0; index < count; index++) {
    retake_p_put(&reply->elements, index ? "," : "");
    retake_p_put_point(reply, &points[index]);
  }
  retake_p_put(&reply->elements, "],\"bones\":[");
  for (size_t index = 0; index < bone_count; index++) {
    if (bones[index].from >= count || bones[index].to >= count) {
      retake_p_misuse(reply, "an end of a bone is the index of a point", NULL);
      return;
    }
    retake_p_put(&reply->elements, index ? ",[" : "[");
    retake_p_put_integer(&reply->elements, (int64_t)bones[index].from);
    retake_p_put(&reply->elements, ",");
    retake_p_put_integer(&reply->elements, (int64_t)bones[index].to);
    retake_p_put(&reply->elements, "]");
  }
  retake_p_put(&reply->elements, "]");
}

static inline void retake_polyline(
    retake_reply *reply, const char *label, double score, const retake_vertex *points, size_t count,
    bool is_closed) {
  const char *content = is_closed ? ",\"polygon\":[" : ",\"polyline\":[";
  if (count && !retake_p_is_given(reply, points, "the array of points")) return;
  if (!retake_p_observe(reply, label, score, content)) return;
  for (size_t index = 0; index < count; index++) {
    if (!retake_p_finite(reply, points[index].x, "a coordinate of a point") ||
        !retake_p_finite(reply, points[index].y, "a coordinate of a point")) {
      return;
    }
    retake_p_put(&reply->elements, index ? ",[" : "[");
    retake_p_put_number(&reply->elements, points[index].x);
    retake_p_put(&reply->elements, ",");
    retake_p_put_number(&reply->elements, points[index].y);
    retake_p_put(&reply->elements, "]");
  }
  retake_p_put(&reply->elements, "]");
}

/* Up to three bytes of base64, RFC 4648. */
static inline void retake_p_put_base64(retake_p_bytes *bytes, const uint8_t *group, size_t count) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char text[4] = {'=', '=', '=', '='};
  uint32_t bits = 0;
  for (size_t index = 0; index < 3; index++) bits = bits << 8 | (index < count ? group[index] : 0);
  for (size_t index = 0; index <= count; index++) {
    text[index] = digits[bits >> (18 - 6 * index) & 63];
  }
  retake_p_add(bytes, text, sizeof text);
}

/* The numbers of rows, little-endian, in base64. */
static inline void retake_p_put_pixels(
    retake_p_bytes *bytes, const uint8_t *pixels, size_t stride, size_t row_bytes, size_t height,
    size_t number_bytes) {
  const uint16_t one = 1;
  /* The first byte of a number here is its last one in the message, or the same. */
  const size_t flip = *(const uint8_t *)&one == 1 ? 0 : number_bytes - 1;
  uint8_t group[3];
  size_t count = 0;
  for (size_t y = 0; y < height; y++) {
    for (size_t x = 0; x < row_bytes; x++) {
      /* A number has 1, 2 or 4 bytes, so that this turns their order. */
      group[count++] = pixels[y * stride + (x ^ flip)];
      if (count < sizeof group) continue;
      retake_p_put_base64(bytes, group, count);
      count = 0;
    }
  }
  if (count) retake_p_put_base64(bytes, group, count);
}

static inline void retake_image(
    retake_reply *reply, const char *label, double score, const void *pixels, size_t stride,
    size_t width, size_t height, size_t channels, retake_type type) {
  static const char *const names[] = {"u8", "u16", "f32"};
  static const size_t sizes[] = {1, 2, 4};
  const size_t index = (size_t)type;
  if (!pixels || !retake_p_is_size(width, height) || channels < 1 || channels > 4 ||
      index >= sizeof sizes / sizeof *sizes || stride < width * channels * sizes[index]) {
    retake_p_misuse(
        reply, "an image has pixels, 1 to 65536 columns and rows, 1 to 4 channels, one of the types, "
               "and a stride of at least its row in bytes",
        NULL);
    return;
  }
  const size_t row_bytes = width * channels * sizes[index];
  if ((uint64_t)row_bytes * height > RETAKE_P_IMAGE_MAX) {
    retake_p_misuse(reply, "an image has at most 24 MiB: ", label);
    return;
  }
  if (!retake_p_observe(reply, label, score, ",\"image\":{\"size\":[")) return;
  retake_p_put_integer(&reply->elements, (int64_t)height);
  retake_p_put(&reply->elements, ",");
  retake_p_put_integer(&reply->elements, (int64_t)width);
  retake_p_put(&reply->elements, ",");
  retake_p_put_integer(&reply->elements, (int64_t)channels);
  retake_p_put(&reply->elements, "],\"type\":\"");
  retake_p_put(&reply->elements, names[index]);
  retake_p_put(&reply->elements, "\",\"data\":\"");
  retake_p_put_pixels(
      &reply->elements, (const uint8_t *)pixels, stride, row_bytes, height, sizes[index]);
  retake_p_put(&reply->elements, "\"}");
}

static inline void retake_embedding(
    retake_reply *reply, const char *label, double score, const float *values, size_t count) {
  if (count && !retake_p_is_given(reply, values, "the array of an embedding")) return;
  if (!retake_p_observe(reply, label, score, ",\"embedding\":[")) return;
  for (size_t index = 0; index < count; index++) {
    if (!retake_p_finite(reply, (double)values[index], "a number of an embedding")) return;
    retake_p_put(&reply->elements, index ? "," : "");
    retake_p_put_number(&reply->elements, (double)values[index]);
  }
  retake_p_put(&reply->elements, "]");
}

static inline void retake_json(
    retake_reply *reply, const char *label, double score, const char *json) {
  const int depth = 5; /* of the value in a message, at most */
  if (!retake_p_is_given(reply, json, "the text of a JSON value")) return;
  const char *end = json + strlen(json), *value_end = retake_p_value_end(json, end, depth);
  if (!value_end || retake_p_space(value_end, end) != end) {
    retake_p_misuse(reply, "this is not a JSON value: ", json);
    return;
  }
  if (!retake_p_observe(reply, label, score, ",\"json\":")) return;
  retake_p_put(&reply->elements, json);
}

static inline void retake_p_fail_with(
    retake_reply *reply, const char *code, const char *message, const char *severity) {
  size_t count = code ? strlen(code) : 0;
  bool is_code = count > 0 && count <= RETAKE_P_CODE_MAX;
  for (size_t index = 0; index < count; index++) {
    is_code = is_code && code[index] >= '!' && code[index] <= '~';
  }
  if (is_code) {
    retake_p_fail(reply, code, message ? message : "", severity);
  } else {
    retake_p_misuse(reply, "this is not a code, such as model.shape: ", code);
  }
}

static inline void retake_error(retake_reply *reply, const char *code, const char *message) {
  retake_p_fail_with(reply, code, message, "recoverable");
}

static inline void retake_halt(retake_reply *reply, const char *code, const char *message) {
  retake_p_fail_with(reply, code, message, "unrecoverable");
}

/* ---- Options ------------------------------------------------------------------------------- */

static inline bool retake_p_option(
    const retake_options *options, const char *key, retake_p_json *found) {
  char text[64];
  retake_p_json name = {NULL, NULL}, value = {NULL, NULL};
  const char *at = options->object.start + 1;
  /* A key that comes twice ends the program. */
  bool is_found = retake_p_member(options->object, key, found);
  for (size_t index = 0; retake_p_next(options->object, &at, &name, &value); index++) {
    if (retake_p_string(name, text, sizeof text) && strcmp(text, key) == 0) {
      options->is_used[index] = true;
    }
  }
  return is_found;
}

/* False if it is not a number that a double can hold. */
static inline bool retake_p_double(retake_p_json value, double *result) {
  char text[512];
  size_t count = (size_t)(value.end - value.start);
  const char *point = localeconv()->decimal_point;
  bool is_number = *value.start == '-' || (*value.start >= '0' && *value.start <= '9');
  if (!is_number || count + strlen(point) >= sizeof text) return false;
  memcpy(text, value.start, count);
  text[count] = '\0';
  char *dot = strchr(text, '.');
  if (dot) {
    /* strtod reads the point of the program's locale. */
    memmove(dot + strlen(point), dot + 1, strlen(dot + 1) + 1);
    memcpy(dot, point, strlen(point));
  }
  *result = strtod(text, NULL);
  return isfinite(*result);
}

static inline double retake_number(
    const retake_options *options, const char *key, double otherwise) {
  retake_p_json value = {NULL, NULL};
  double result = otherwise;
  if (retake_p_option(options, key, &value) && !retake_p_double(value, &result)) {
    retake_p_refuse("this option must be a number: ", key);
  }
  return result;
}

static inline int64_t retake_integer(
    const retake_options *options, const char *key, int64_t otherwise) {
  retake_p_json value = {NULL, NULL};
  int64_t result = otherwise;
  if (retake_p_option(options, key, &value) && !retake_p_integer(value, &result)) {
    retake_p_refuse("this option must be an integer: ", key);
  }
  return result;
}

static inline bool retake_flag(const retake_options *options, const char *key, bool otherwise) {
  retake_p_json value = {NULL, NULL};
  if (!retake_p_option(options, key, &value)) return otherwise;
  if (*value.start != 't' && *value.start != 'f') {
    retake_p_refuse("this option must be true or false: ", key);
  }
  return *value.start == 't';
}

static inline void retake_string(
    const retake_options *options, const char *key, const char *otherwise, char *text,
    size_t size) {
  retake_p_json value = {NULL, NULL};
  if (!retake_p_option(options, key, &value)) {
    if (strlen(otherwise) >= size) retake_p_refuse("there is no room for the option ", key);
    memcpy(text, otherwise, strlen(otherwise) + 1);
  } else if (!retake_p_string(value, text, size)) {
    retake_p_refuse("this option must be a string that is not too long: ", key);
  }
}

/* Options that no one asked for are most likely misspelt. */
static inline void retake_p_open(retake_p_conversation *conversation, retake_p_json object) {
  bool is_used[RETAKE_P_KEYS_MAX] = {false};
  const retake_stage *stage = conversation->stage;
  retake_options options = {object, is_used};
  retake_p_json key = {NULL, NULL}, value = {NULL, NULL};
  const char *at = object.start + 1;
  char text[64];
  size_t count = 0;
  while (retake_p_next(object, &at, &key, &value)) count++;
  if (count > RETAKE_P_KEYS_MAX) retake_p_refuse("the node has too many options", NULL);
  conversation->self = stage->open ? stage->open(stage->self, &options) : stage->self;
  at = object.start + 1;
  for (size_t index = 0; retake_p_next(object, &at, &key, &value); index++) {
    if (is_used[index]) continue;
    bool is_short = retake_p_string(key, text, sizeof text);
    retake_p_refuse("the stage has no option ", is_short ? text : "with such a key");
  }
}

/* ---- The conversation ---------------------------------------------------------------------- */

static inline void retake_p_put_list(retake_p_bytes *bytes, const char *const *texts) {
  retake_p_put(bytes, "[");
  for (size_t index = 0; texts && texts[index]; index++) {
    retake_p_put(bytes, index ? "," : "");
    retake_p_put_string(bytes, texts[index], strlen(texts[index]));
  }
  retake_p_put(bytes, "]");
}

static inline void retake_p_greet(retake_p_conversation *conversation, retake_p_json hello) {
  const retake_stage *stage = conversation->stage;
  retake_p_bytes *answer = &conversation->answer;
  const char *fingerprint = stage->fingerprint ? stage->fingerprint : "";
  char output[32];
  retake_p_json options = {NULL, NULL};
  /* The host may speak newer versions, too; it follows the one of 'ready'. */
  retake_p_required(hello, "v", 1, INT64_MAX);
  retake_p_required_text(hello, "output", output, sizeof output);
  if (strcmp(output, stage->output) != 0) {
    fprintf(stderr, "retake: the stage '%s' returns %s, and the output of the node is %s\n",
            stage->name, stage->output, output);
    RETAKE_P_EXIT(RETAKE_P_REFUSED);
  }
  uint64_t slots = (uint64_t)retake_p_required(hello, "slots", 1, INT64_MAX);
  uint64_t bytes = (uint64_t)retake_p_required(hello, "slotBytes", 1, INT64_MAX);
  if (slots > conversation->size / bytes) {
    retake_p_refuse("the slots do not fit into the shared memory", NULL);
  }
  conversation->slots = (size_t)slots;
  conversation->slot_bytes = (size_t)bytes;
  if (!retake_p_member(hello, "options", &options) || *options.start != '{') {
    retake_p_refuse("'options' must be an object", NULL);
  }
  retake_p_open(conversation, options);
  conversation->is_greeted = true;
  retake_p_put(answer, "{\"ready\":{\"v\":1,\"name\":");
  retake_p_put_string(answer, stage->name, strlen(stage->name));
  retake_p_put(answer, ",\"version\":");
  retake_p_put_integer(answer, stage->version);
  retake_p_put(answer, ",\"output\":\"");
  retake_p_put(answer, stage->output);
  retake_p_put(answer, stage->reset ? "\",\"state\":\"stateful\"" : "\",\"state\":\"pure\"");
  retake_p_put(answer, ",\"formats\":");
  retake_p_put_list(answer, stage->formats);
  retake_p_put(answer, ",\"classNames\":");
  retake_p_put_list(answer, stage->class_names);
  retake_p_put(answer, ",\"fingerprint\":");
  retake_p_put_string(answer, fingerprint, strlen(fingerprint));
  retake_p_put(answer, "}}");
}

static inline void retake_p_answer(retake_p_conversation *conversation, retake_p_json message) {
  char texts[3][16];
  retake_frame frame = retake_p_frame(conversation, message, texts);
  retake_p_sensors(message, &frame, &conversation->blocks);
  retake_p_bytes *answer = &conversation->answer;
  retake_reply reply;
  memset(&reply, 0, sizeof reply);
  reply.stage = conversation->stage;
  conversation->stage->process(conversation->self, &frame, &reply);
  retake_p_free(conversation->blocks);
  conversation->blocks = NULL;
  retake_p_close_detection(&reply);
  /* Both have room for what is around the value. */
  if (reply.elements.is_full || reply.elements.count > RETAKE_P_BYTES_MAX - 256) {
    retake_p_misuse(&reply, "the value is larger than a message can be", NULL);
  }
  retake_p_put(answer, "{\"sequence\":");
  retake_p_put_integer(answer, frame.sequence);
  if (frame.item >= 0) {
    retake_p_put(answer, ",\"item\":");
    retake_p_put_integer(answer, frame.item);
  }
  if (reply.error.count) {
    retake_p_put(answer, ",\"error\":");
    retake_p_add(answer, reply.error.start, reply.error.count);
    retake_p_put(answer, "}");
  } else {
    retake_p_put(answer, ",\"value\":{\"");
    retake_p_put(answer, conversation->stage->output);
    retake_p_put(answer, "\":[");
    if (reply.elements.count) {
      retake_p_add(answer, reply.elements.start, reply.elements.count);
    }
    retake_p_put(answer, "]}}");
  }
  free(reply.elements.start);
  free(reply.error.start);
}

/* Handles a message of the host, and writes the answer, if there is one. False at `bye`. What
 * breaks the protocol ends the program. */
static inline bool retake_p_handle(
    retake_p_conversation *conversation, const char *message, size_t count) {
  const char *end = message + count;
  retake_p_json whole = {NULL, NULL}, content = {NULL, NULL};
  whole.start = retake_p_space(message, end);
  whole.end = retake_p_value_end(whole.start, end, 0);
  conversation->answer.count = 0;
  conversation->answer.is_full = false;
  if (!whole.end || retake_p_space(whole.end, end) != end || *whole.start != '{') {
    retake_p_refuse("a message is not a JSON object", NULL);
  }
  if (!conversation->is_greeted) {
    if (!retake_p_member(whole, "hello", &content)) {
      retake_p_refuse("the first message must be 'hello'", NULL);
    }
    retake_p_greet(conversation, content);
  } else if (retake_p_member(whole, "frame", &content)) {
    retake_p_answer(conversation, content);
  } else if (retake_p_member(whole, "reset", &content)) {
    int64_t number = retake_p_required(whole, "reset", 1, INT64_MAX);
    if (conversation->stage->reset) conversation->stage->reset(conversation->self);
    retake_p_put(&conversation->answer, "{\"reset\":");
    retake_p_put_integer(&conversation->answer, number);
    retake_p_put(&conversation->answer, "}");
  }
  /* Other messages are those of later versions, and need no answer. */
  return !retake_p_member(whole, "bye", &content);
}

/* ---- The socket ---------------------------------------------------------------------------- */

/* Receives so many bytes. False at the end of the stream before the first one. */
static inline bool retake_p_receive(int messages, char *bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    ssize_t part = read(messages, bytes + done, count - done);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0 && errno != ECONNRESET) retake_p_refuse("read: ", strerror(errno));
    if (part <= 0 && done > 0) retake_p_refuse("the host closed the socket in a message", NULL);
    if (part <= 0) return false;
    done += (size_t)part;
  }
  return true;
}

/* False if no one receives messages any more. */
static inline bool retake_p_send(int messages, const char *bytes, size_t count) {
#ifdef MSG_NOSIGNAL
  const int flags = MSG_NOSIGNAL;
#else
  const int flags = 0;
#endif
  while (count > 0) {
    ssize_t part = send(messages, bytes, count, flags);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0 && (errno == EPIPE || errno == ECONNRESET)) return false;
    if (part < 0) retake_p_refuse("send: ", strerror(errno));
    bytes += part;
    count -= (size_t)part;
  }
  return true;
}

static inline int retake_serve(
    const retake_stage *stage, int messages, const uint8_t *memory, size_t size) {
  retake_p_conversation conversation;
  memset(&conversation, 0, sizeof conversation);
  conversation.stage = stage;
  conversation.memory = memory;
  conversation.size = size;
  char *body = NULL;
  size_t room = 0;
  unsigned char header[4];
  bool goes_on = true;
  /* Ends at the latest when the host closes the socket. */
  while (goes_on && retake_p_receive(messages, (char *)header, sizeof header)) {
    size_t count = header[0] | (size_t)header[1] << 8 | (size_t)header[2] << 16 |
                   (size_t)header[3] << 24;
    if (count == 0 || count > RETAKE_P_RECEIVED_MAX) {
      retake_p_refuse("a message has a length that is not possible", NULL);
    }
    if (count > room) {
      char *larger = (char *)realloc(body, count);
      if (!larger) retake_p_refuse("no memory for a message", NULL);
      body = larger;
      room = count;
    }
    if (!retake_p_receive(messages, body, count)) {
      retake_p_refuse("the host closed the socket in a message", NULL);
    }
    goes_on = retake_p_handle(&conversation, body, count);
    const retake_p_bytes *answer = &conversation.answer;
    if (answer->is_full) retake_p_refuse("what the stage says about itself is too long", NULL);
    for (int byte = 0; byte < 4; byte++) {
      header[byte] = (unsigned char)(answer->count >> (8 * byte) & 0xFF);
    }
    if (answer->count && !(retake_p_send(messages, (const char *)header, sizeof header) &&
                           retake_p_send(messages, answer->start, answer->count))) {
      goes_on = false;
    }
  }
  free(body);
  free(conversation.answer.start);
  return 0;
}

static inline int retake_main(const retake_stage *stage) {
  const int messages = 3, pixels = 4;
  if (!getenv("RETAKE_PROTOCOL")) {
    fprintf(stderr,
            "this program computes the stage '%s' for Retake, which starts it for a node of a "
            "pipeline: {\"kind\": \"process\", \"options\": {\"command\": [\"./program\"], "
            "\"output\": \"%s\"}}\n",
            stage->name, stage->output);
    return RETAKE_P_USAGE;
  }
  /* So that programs which the stage starts do not get the files, and the last words before a crash
   * are not lost. */
  if (fcntl(messages, F_SETFD, FD_CLOEXEC) < 0 || fcntl(pixels, F_SETFD, FD_CLOEXEC) < 0) {
    retake_p_refuse("files 3 and 4 are not open: ", strerror(errno));
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  struct stat status;
  if (fstat(pixels, &status) < 0 || status.st_size <= 0) {
    retake_p_refuse("file 4 is not shared memory", NULL);
  }
  size_t size = (size_t)status.st_size;
  void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, pixels, 0);
  if (memory == MAP_FAILED) retake_p_refuse("mmap: ", strerror(errno));
  int result = retake_serve(stage, messages, (const uint8_t *)memory, size);
  munmap(memory, size);
  return result;
}

/* ---- Names beside those of retake.h --------------------------------------------------------- */

#ifdef RETAKE_H
#undef retake_plane
#undef retake_frame
#undef retake_options
#undef retake_detection
#undef retake_error
#else
typedef retake_plane retake_stage_plane;
typedef retake_frame retake_stage_frame;
typedef retake_options retake_stage_options;

static inline void retake_stage_detection(
    retake_reply *reply, double x, double y, double width, double height, double score,
    int64_t class_index) {
  retake_detection(reply, x, y, width, height, score, class_index);
}

static inline void retake_stage_error(retake_reply *reply, const char *code, const char *message) {
  retake_error(reply, code, message);
}
#endif

#endif /* RETAKE_STAGE_H */
