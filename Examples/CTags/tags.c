/* Finds AprilTags of the family 36h11, with libapriltag. */

#include <apriltag/apriltag.h>
#include <apriltag/tag36h11.h>

#include "retake_stage.h"

static void *open_detector(void *self, const retake_options *options) {
  (void)self;
  apriltag_detector_t *detector = apriltag_detector_create();
  apriltag_detector_add_family(detector, tag36h11_create());
  detector->quad_decimate = (float)retake_number(options, "decimate", 1);
  /* Results must not depend on threads. More `instances` use more processors. */
  detector->nthreads = 1;
  return detector;
}

static void add(const apriltag_detection_t *tag, retake_reply *reply) {
  double left = tag->p[0][0], right = left, top = tag->p[0][1], bottom = top;
  for (int corner = 1; corner < 4; corner++) {
    left = fmin(left, tag->p[corner][0]);
    right = fmax(right, tag->p[corner][0]);
    top = fmin(top, tag->p[corner][1]);
    bottom = fmax(bottom, tag->p[corner][1]);
  }
  retake_detection(reply, left, top, right - left, bottom - top, tag->decision_margin / 255, 0);
  retake_identity(reply, tag->id);
}

static void find(void *self, const retake_frame *frame, retake_reply *reply) {
  const retake_plane *grey = &frame->planes[0];
  /* libapriltag wants pixels that it may write to. */
  uint8_t *pixels = (uint8_t *)malloc(grey->width * grey->height);
  if (!pixels) abort();
  for (size_t y = 0; y < grey->height; y++) {
    memcpy(pixels + y * grey->width, grey->pixels + y * grey->stride, grey->width);
  }
  image_u8_t image = {(int)grey->width, (int)grey->height, (int)grey->width, pixels};
  zarray_t *tags = apriltag_detector_detect((apriltag_detector_t *)self, &image);
  for (int index = 0; index < zarray_size(tags); index++) {
    apriltag_detection_t *tag;
    zarray_get(tags, index, &tag);
    add(tag, reply);
  }
  apriltag_detections_destroy(tags);
  free(pixels);
}

int main(void) {
  static const char *const formats[] = {"GRAY8", NULL}, *const names[] = {"tag", NULL};
  retake_stage stage = retake_stage_make("tags", "detections", find);
  stage.formats = formats;
  stage.class_names = names;
  stage.open = open_detector;
  return retake_main(&stage);
}
