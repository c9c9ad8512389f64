/* A stage for the tests of retake_stage.h. The option `does` says what it does; the pure build returns
 * what OUTPUT says. It is also compiled as C++. */

#include "../retake_stage.h"

#ifndef OUTPUT
#define OUTPUT "scalars"
#endif

typedef struct probe {
  char does[32];
  int64_t count;
  double number;
  bool flag;
  int frames;
} probe;

static void *open_probe(void *self, const retake_options *options) {
  probe *own = (probe *)self;
  retake_string(options, "does", "sum", own->does, sizeof own->does);
  own->count = retake_integer(options, "count", 1);
  own->number = retake_number(options, "number", 0);
  own->flag = retake_flag(options, "flag", false);
  return own;
}

static void sum(const retake_frame *frame, retake_reply *reply) {
  static const char *const names[] = {"0", "1", "2", "3"};
  for (size_t index = 0; index < frame->plane_count; index++) {
    const retake_plane *plane = &frame->planes[index];
    double total = 0;
    for (size_t y = 0; y < plane->height; y++) {
      for (size_t x = 0; x < plane->width * plane->channels * plane->sample_bytes; x++) {
        total += plane->pixels[y * plane->stride + x];
      }
    }
    retake_scalar(reply, names[index], total);
  }
}

static void tell(const probe *own, const retake_frame *frame, retake_reply *reply) {
  retake_scalar(reply, "count", (double)own->count);
  retake_scalar(reply, "number", own->number);
  retake_scalar(reply, "flag", own->flag);
  retake_scalar(reply, "track", (double)frame->track);
  retake_scalar(reply, "item", (double)frame->item);
  retake_scalar(reply, "pts", (double)frame->pts_ns);
  retake_scalar(reply, frame->format, (double)frame->width);
  retake_scalar(reply, frame->range, (double)frame->height);
  retake_scalar(reply, frame->matrix, 0);
}

/* Doubles whose bits are the first row's bytes. */
static void numbers(const retake_frame *frame, retake_reply *reply) {
  char name[32];
  for (size_t index = 0; index < frame->width / sizeof(double); index++) {
    double value;
    memcpy(&value, frame->planes[0].pixels + index * sizeof value, sizeof value);
    snprintf(name, sizeof name, "%zu", index);
    retake_scalar(reply, name, value);
  }
}

/* The newest values, the sums of the windows, and the last time in them. */
static void sense(const retake_frame *frame, retake_reply *reply) {
  char name[128];
  for (size_t index = 0; index < frame->sensor_count; index++) {
    const retake_sensor *sensor = &frame->sensors[index];
    for (size_t channel = 0; channel < sensor->channel_count; channel++) {
      double sum = 0, newest = retake_latest(sensor, sensor->channels[channel]);
      for (size_t row = 0; row < sensor->window_count; row++) {
        if (!isnan(sensor->window[row].values[channel])) sum += sensor->window[row].values[channel];
      }
      snprintf(name, sizeof name, "%s.%s", sensor->name, sensor->channels[channel]);
      retake_scalar(reply, name, sum);
      snprintf(name, sizeof name, "%s.%s newest", sensor->name, sensor->channels[channel]);
      if (!isnan(newest)) retake_scalar(reply, name, newest);
    }
    snprintf(name, sizeof name, "%s in %s", sensor->name, sensor->unit);
    int64_t last = sensor->window_count ? sensor->window[sensor->window_count - 1].time_ns : -1;
    retake_scalar(reply, name, (double)last);
  }
  if (retake_sensor_named(frame, "none")) retake_error(reply, "probe.none", "");
  if (!isnan(retake_latest(retake_sensor_named(frame, "none"), "x"))) {
    retake_error(reply, "probe.none", "");
  }
}

static void detect(const probe *own, retake_reply *reply) {
  for (int64_t index = 0; index < own->count; index++) {
    retake_detection(reply, 1.5, -2, 3, 0.1, 0.25, index % 2);
    if (own->flag) {
      retake_identity(reply, INT64_MIN);
      retake_label(reply, "red \"\\\n", 0.5);
      retake_label(reply, "gr\xC3\xBCn", 1);
    }
  }
}

/* The frame's pixels as an image, and small maps with bytes between their rows. */
static void observe_images(const retake_plane *plane, retake_reply *reply) {
  static const uint16_t depth[2][3] = {{0x0102, 0xFFFF, 7}, {3, 4, 7}};
  static float flow[1][4] = {{0.1f, -2, 3e-9f, 0}};
  flow[0][3] = (float)NAN;
  retake_image(
      reply, "image", 1, plane->pixels, plane->stride, plane->width, plane->height, 1, RETAKE_U8);
  retake_image(reply, "depth", 0.5, depth, sizeof depth[0], 2, 2, 1, RETAKE_U16);
  retake_image(reply, "flow", 1, flow, sizeof flow[0], 2, 1, 2, RETAKE_F32);
  retake_identity(reply, 6);
}

/* A mask of the frame's pixels above 127, and observations of each other form. */
static void observe(const retake_frame *frame, retake_reply *reply) {
  static const retake_point points[] = {{"eye \"l\"", 1.5, -2, 0.5}, {"nose", 3, 4, 1}};
  static const retake_bone bones[] = {{1, 0}};
  static const retake_vertex vertices[] = {{0.1, -2}, {1e6, 3.25}, {4, 5}};
  static const float vector[] = {0.1f, -2, 3e-9f};
  const retake_plane *plane = &frame->planes[0];
  uint8_t *above = (uint8_t *)calloc(plane->height, plane->stride);
  for (size_t index = 0; index < plane->height * plane->stride; index++) {
    if (index % plane->stride < plane->width) above[index] = plane->pixels[index] > 127;
  }
  retake_mask(reply, "person", 0.75, above, plane->stride, plane->width, plane->height);
  free(above);
  retake_identity(reply, -4);
  retake_points(reply, "face", 1, points, 2, bones, 1);
  retake_polyline(reply, "lane", 0.5, vertices, 2, false);
  retake_identity(reply, 5);
  retake_polyline(reply, "car", 1, vertices, 3, true);
  retake_polyline(reply, "empty", 1, NULL, 0, true);
  observe_images(plane, reply);
  retake_embedding(reply, "cloth\xC3\xA9s", 1, vector, 3);
  retake_json(reply, "scene", 1, " {\"light\": [\"day\", null]} ");
}

static void misobserve(const char *does, retake_reply *reply) {
  static const retake_point point = {"a", 0, 0, 1};
  static const retake_bone bone = {0, 1};
  const float vector = (float)INFINITY;
  const retake_vertex nowhere = {0, NAN};
  const uint8_t pixel[16] = {0};
  if (strcmp(does, "noMask") == 0) retake_mask(reply, "a", 1, NULL, 1, 1, 1);
  if (strcmp(does, "wideMask") == 0) retake_mask(reply, "a", 1, (const uint8_t *)"", 1, 2, 1);
  if (strcmp(does, "bone") == 0) retake_points(reply, "a", 1, &point, 1, &bone, 1);
  if (strcmp(does, "noLine") == 0) retake_polyline(reply, "a", 1, NULL, 1, false);
  if (strcmp(does, "nowhere") == 0) retake_polyline(reply, "a", 1, &nowhere, 1, false);
  if (strcmp(does, "noImage") == 0) retake_image(reply, "a", 1, NULL, 1, 1, 1, 1, RETAKE_U8);
  if (strcmp(does, "flatImage") == 0) retake_image(reply, "a", 1, pixel, 1, 1, 0, 1, RETAKE_U8);
  if (strcmp(does, "deepImage") == 0) retake_image(reply, "a", 1, pixel, 5, 1, 1, 5, RETAKE_U8);
  if (strcmp(does, "wideImage") == 0) retake_image(reply, "a", 1, pixel, 15, 2, 1, 2, RETAKE_F32);
  if (strcmp(does, "noType") == 0) retake_image(reply, "a", 1, pixel, 16, 1, 1, 1, (retake_type)3);
  if (strcmp(does, "bigImage") == 0) {
    retake_image(reply, "a", 1, pixel, 24576, 1536, 1025, 4, RETAKE_F32);
  }
  if (strcmp(does, "images") == 0) {
    /* 16 MiB each. */
    uint8_t *rows = (uint8_t *)calloc(1024, 4096 * 4);
    retake_image(reply, "a", 1, rows, 4096 * 4, 4096, 1024, 1, RETAKE_F32);
    retake_image(reply, "b", 1, rows, 4096 * 4, 4096, 1024, 1, RETAKE_F32);
    free(rows);
  }
  if (strcmp(does, "largest") == 0) {
    uint8_t *rows = (uint8_t *)calloc(1024, 5000 * 4);
    rows[1024 * 5000 * 4 - 1] = 0x80;
    retake_image(reply, "a", 1, rows, 5000 * 4, 5000, 1024, 1, RETAKE_F32);
    free(rows);
  }
  if (strcmp(does, "infinite") == 0) retake_embedding(reply, "a", 1, &vector, 1);
  if (strcmp(does, "json") == 0) retake_json(reply, "a", 1, "{} {}");
  if (strcmp(does, "labels") == 0) retake_label(reply, "a", 1);
}

static void misuse(const char *does, retake_reply *reply) {
  if (strcmp(does, "nan") == 0) retake_detection(reply, 0, 0, NAN, 1, 1, 0);
  if (strcmp(does, "negative") == 0) retake_detection(reply, 0, 0, 1, -1, 1, 0);
  if (strcmp(does, "class") == 0) retake_detection(reply, 0, 0, 1, 1, 1, 2);
  if (strcmp(does, "other") == 0) retake_scalar(reply, "a", 1);
  if (strcmp(does, "identity") == 0) retake_identity(reply, 1);
  if (strcmp(does, "label") == 0) retake_label(reply, "a", 1);
  if (strcmp(does, "text") == 0) {
    retake_detection(reply, 0, 0, 1, 1, 1, 0);
    retake_label(reply, "\xFF", 1);
  }
  if (strcmp(does, "noText") == 0) {
    retake_detection(reply, 0, 0, 1, 1, 1, 0);
    retake_label(reply, NULL, 1);
  }
  if (strcmp(does, "noCode") == 0) retake_error(reply, NULL, "");
  if (strcmp(does, "noMessage") == 0) retake_error(reply, "probe.dark", NULL);
  if (strcmp(does, "code") == 0) retake_error(reply, "two words", "");
  if (strcmp(does, "error") == 0) retake_error(reply, "probe.dark", "too dark\xFF\n");
  if (strcmp(does, "halt") == 0) retake_halt(reply, "probe.broken", "");
}

static void process(void *self, const retake_frame *frame, retake_reply *reply) {
  probe *own = (probe *)self;
  own->frames++;
  if (strcmp(own->does, "sum") == 0) {
    sum(frame, reply);
  } else if (strcmp(own->does, "tell") == 0) {
    tell(own, frame, reply);
  } else if (strcmp(own->does, "numbers") == 0) {
    numbers(frame, reply);
  } else if (strcmp(own->does, "sense") == 0) {
    sense(frame, reply);
  } else if (strcmp(own->does, "detect") == 0) {
    detect(own, reply);
  } else if (strcmp(own->does, "classify") == 0) {
    retake_label(reply, "cat", 0.75);
    retake_label(reply, "dog", 0.25);
  } else if (strcmp(own->does, "observe") == 0) {
    observe(frame, reply);
  } else if (strcmp(OUTPUT, "observations") == 0) {
    misobserve(own->does, reply);
  } else if (strcmp(own->does, "frames") == 0) {
    retake_scalar(reply, "frames", own->frames);
  } else {
    misuse(own->does, reply);
  }
  printf("frame %lld\n", (long long)frame->sequence);
}

static void reset(void *self) { ((probe *)self)->frames = 0; }

int main(void) {
  static const char *const formats[] = {"GRAY8", "I420", NULL};
  static const char *const names[] = {"first", "sec\"ond", NULL};
  static probe own;
  retake_stage stage = retake_stage_make("probe", OUTPUT, process);
  stage.version = 7;
  stage.formats = formats;
  stage.fingerprint = "model:1";
  stage.self = &own;
  stage.open = open_probe;
  if (strcmp(OUTPUT, "detections") == 0) stage.class_names = names;
#ifdef STATEFUL
  stage.reset = reset;
#else
  (void)reset;
#endif
  return retake_main(&stage);
}
