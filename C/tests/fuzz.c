/* Hostile hosts for retake_stage.h: messages that are almost right, under the sanitizers.
 *
 * With libFuzzer:  clang -g -O1 -fsanitize=fuzzer,address,undefined -DLIBFUZZER C/tests/fuzz.c
 * With a loop of its own, also under gcc:  gcc -g -O1 -fsanitize=address,undefined C/tests/fuzz.c
 *   ./a.out ROUNDS SEED
 *
 * The input is a number of messages, each behind two bytes with its length. */

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf refused;
#define RETAKE_P_EXIT(status) longjmp(refused, (status))
/* What is refused is not of interest here; what the sanitizers write is. */
#define fprintf(...) ((void)0)
#include "../retake_stage.h"
#undef fprintf

#define SLOTS 3
#define SLOT_BYTES 101
#define INPUT_MAX 4096

static volatile unsigned seen;

/* Reads every visible byte, so that one outside of the memory is found. */
static void process(void *self, const retake_frame *frame, retake_reply *reply) {
  (void)self;
  for (size_t index = 0; index < frame->plane_count; index++) {
    const retake_plane *plane = &frame->planes[index];
    for (size_t y = 0; y < plane->height; y++) {
      for (size_t x = 0; x < plane->width * plane->channels; x++) {
        seen += plane->pixels[y * plane->stride + x];
      }
    }
  }
  for (size_t index = 0; index < frame->sensor_count; index++) {
    const retake_sensor *sensor = &frame->sensors[index];
    seen += (unsigned)(strlen(sensor->name) + strlen(sensor->unit));
    for (size_t channel = 0; channel < sensor->channel_count; channel++) {
      seen += retake_latest(sensor, sensor->channels[channel]) > 0;
      for (size_t row = 0; row < sensor->window_count; row++) {
        seen += sensor->window[row].values[channel] > (double)sensor->window[row].time_ns;
      }
    }
  }
  retake_detection(reply, (double)frame->pts_ns / 7, 0, 1, 1, 0.5, 0);
  retake_label(reply, frame->range, 1);
}

static void *open_stage(void *self, const retake_options *options) {
  char text[8];
  retake_string(options, "text", "none", text, sizeof text);
  if (retake_flag(options, "flag", false)) seen += (unsigned)strlen(text);
  seen += (unsigned)retake_integer(options, "integer", 0);
  seen += retake_number(options, "number", 1) > 0;
  return self;
}

static void reset(void *self) { (void)self; }

/* The answer has to be a message that the same reader accepts. */
static void check(const retake_p_bytes *answer) {
  if (answer->count == 0) return;
  const char *end = answer->start + answer->count;
  if (retake_p_value_end(answer->start, end, 0) != end) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* In memory of their own, so that the sanitizer sees a byte too many. */
  uint8_t *memory = (uint8_t *)calloc(SLOTS, SLOT_BYTES);
  retake_stage stage = retake_stage_make("fuzz", "detections", process);
  static retake_p_conversation conversation;
  static char *volatile message;
  stage.open = open_stage;
  stage.reset = reset;
  memset(&conversation, 0, sizeof conversation);
  conversation.stage = &stage;
  conversation.memory = memory;
  conversation.size = (size_t)SLOTS * SLOT_BYTES;
  message = NULL;
  if (setjmp(refused) == 0) {
    for (size_t at = 0; at + 2 < size;) {
      size_t count = data[at] | (size_t)data[at + 1] << 8;
      at += 2;
      if (count > size - at) count = size - at;
      if (count == 0) break;
      message = (char *)malloc(count);
      memcpy(message, data + at, count);
      bool goes_on = retake_p_handle(&conversation, message, count);
      check(&conversation.answer);
      free(message);
      message = NULL;
      at += count;
      if (!goes_on) break;
    }
  }
  free(message);
  retake_p_free(conversation.blocks);
  free(conversation.answer.start);
  free(memory);
  return 0;
}

#ifndef LIBFUZZER
static const char *const seeds[] = {
    "{\"hello\":{\"v\":1,\"clock\":\"virtual\",\"output\":\"detections\",\"options\":{\"number\":1.5e1,"
    "\"text\":\"\\u00e9\\ud83d\\ude00\",\"flag\":true,\"integer\":-3},\"slots\":3,\"slotBytes\":101}}",
    "{\"frame\":{\"track\":0,\"sequence\":12,\"item\":null,\"ptsNs\":-400400000,\"slot\":2,\"format\":"
    "\"GRAY8\",\"width\":10,\"height\":10,\"range\":\"full\",\"matrix\":\"identity\",\"planes\":[[1,10]]}}",
    "{\"frame\":{\"track\":0,\"sequence\":13,\"item\":3,\"ptsNs\":9e2,\"slot\":0,\"format\":\"I420\","
    "\"width\":7,\"height\":5,\"range\":\"limited\",\"matrix\":\"bt601\",\"planes\":[[0,8],[40,4],[60,4]]}}",
    "{\"frame\":{\"track\":0,\"sequence\":14,\"item\":null,\"ptsNs\":0,\"slot\":1,\"format\":\"NV12\","
    "\"width\":8,\"height\":6,\"range\":\"full\",\"matrix\":\"bt709\",\"planes\":[[0,9],[64,8]]}}",
    "{\"frame\":{\"track\":0,\"sequence\":15,\"item\":null,\"ptsNs\":0,\"slot\":0,\"format\":\"GRAY8\","
    "\"width\":4,\"height\":4,\"range\":\"full\",\"matrix\":\"identity\",\"planes\":[[0,4]],\"sensors\":["
    "{\"sensor\":\"imu\",\"unit\":\"rad/s\",\"channels\":[\"x\",\"y\"],\"latest\":[9,[1.5,null]],"
    "\"window\":[[7,[1,2]],[8,[3e1,-4]]]},{\"sensor\":\"gps\",\"unit\":\"\",\"channels\":[],"
    "\"latest\":null,\"window\":[]}]}}",
    "{\"reset\":1}", "{\"later\":[1,[2,{\"a\":null}]]}", "{\"bye\":{\"reason\":\"end\"}}",
};
static const char *const tokens[] = {
    "0", "-1", "1e3", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1.0",
    "null", "true", "[", "]", "{", "}", "\"", "\\u0000", "\\ud800", "\\", ",", ":", "\xC3", "\xF0\x9F",
    "[[[[[[[[[[[[[[[[", "\"slots\":1,", "RGB24", "BGRA", "I444", "4294967296", "2147483647", "101", "1",
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t state;

/* SplitMix64. */
static size_t draw(size_t below) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (size_t)((z ^ (z >> 31)) % below);
}

/* Changes some bytes of a message, or puts a token into it. */
static size_t mutate(char *text, size_t count, size_t room) {
  for (size_t changes = draw(4); changes > 0; changes--) {
    size_t at = draw(count + 1), kind = draw(4);
    if (kind == 0 && at < count) {
      text[at] = (char)draw(256);
    } else if (kind == 1 && at < count) {
      size_t gone = 1 + draw(count - at < 8 ? count - at : 8);
      memmove(text + at, text + at + gone, count - at - gone);
      count -= gone;
    } else {
      const char *token = tokens[draw(COUNT(tokens))];
      size_t length = strlen(token);
      /* In place of a number, if there is one here. */
      size_t gone = 0;
      if (kind == 3) {
        while (at + gone < count && text[at + gone] >= '0' && text[at + gone] <= '9') gone++;
      }
      if (count - gone + length > room) continue;
      memmove(text + at + length, text + at + gone, count - at - gone);
      memcpy(text + at, token, length);
      count = count - gone + length;
    }
  }
  return count;
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  static uint8_t input[INPUT_MAX];
  state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  for (long round = 0; round < rounds; round++) {
    size_t count = 0;
    for (size_t messages = 1 + draw(6), index = 0; index < messages; index++) {
      /* Mostly in the right order, so that frames are reached. */
      const char *seed = seeds[index == 0 && draw(16) ? 0 : draw(COUNT(seeds))];
      char text[1024];
      size_t length = strlen(seed);
      memcpy(text, seed, length);
      if (draw(3)) length = mutate(text, length, sizeof text);
      if (count + 2 + length > sizeof input) break;
      input[count++] = (uint8_t)(length & 0xFF);
      input[count++] = (uint8_t)(length >> 8);
      memcpy(input + count, text, length);
      count += length;
    }
    LLVMFuzzerTestOneInput(input, count);
  }
  printf("%ld rounds, %u\n", rounds, seen);
  return 0;
}
#endif
