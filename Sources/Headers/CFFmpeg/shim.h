#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/cpu.h>
#include <libavutil/crc.h>
#include <libavutil/display.h>
#include <libavutil/hmac.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/sha.h>
#include <libswscale/swscale.h>

// What Swift cannot import of FFmpeg: macros with casts and flags with mixed integer types.

static const int64_t retake_no_pts = INT64_MIN;
static const int32_t retake_error_again = AVERROR(EAGAIN);
static const int32_t retake_error_end = AVERROR_EOF;
static const int32_t retake_error_invalid_data = AVERROR_INVALIDDATA;
static const int32_t retake_error_invalid_argument = AVERROR(EINVAL);
static const int32_t retake_error_no_memory = AVERROR(ENOMEM);
static const int32_t retake_error_io = AVERROR(EIO);
static const int32_t retake_error_not_supported = AVERROR(ENOSYS);
static const int32_t retake_error_no_decoder = AVERROR_DECODER_NOT_FOUND;
static const int32_t retake_error_exit = AVERROR_EXIT;
static const int32_t retake_error_server = AVERROR_HTTP_SERVER_ERROR;
static const int32_t retake_error_external = AVERROR_EXTERNAL;

static const int32_t retake_codec_bitexact = AV_CODEC_FLAG_BITEXACT;
static const int32_t retake_codec_global_header = AV_CODEC_FLAG_GLOBAL_HEADER;
static const int32_t retake_codec_low_delay = AV_CODEC_FLAG_LOW_DELAY;
static const int32_t retake_codec_fixed_quality = AV_CODEC_FLAG_QSCALE;
static const int32_t retake_codec_unaligned = AV_CODEC_FLAG_UNALIGNED;
static const int32_t retake_codec_direct_rendering = AV_CODEC_CAP_DR1;
static const int32_t retake_packet_key = AV_PKT_FLAG_KEY;
static const int32_t retake_packet_corrupt = AV_PKT_FLAG_CORRUPT;
static const int32_t retake_packet_trusted = AV_PKT_FLAG_TRUSTED;
static const int32_t retake_packet_discard = AV_PKT_FLAG_DISCARD;
static const int32_t retake_frame_corrupt = AV_FRAME_FLAG_CORRUPT;
static const int32_t retake_input_padding = AV_INPUT_BUFFER_PADDING_SIZE;
static const int32_t retake_format_global_header = AVFMT_GLOBALHEADER;
static const int32_t retake_format_bitexact = AVFMT_FLAG_BITEXACT;
static const int32_t retake_format_custom_io = AVFMT_FLAG_CUSTOM_IO;
static const int32_t retake_format_no_wait = AVFMT_FLAG_NONBLOCK;
static const int32_t retake_format_no_buffer = AVFMT_FLAG_NOBUFFER;
static const int32_t retake_seek_size = AVSEEK_SIZE;
static const int32_t retake_seek_force = AVSEEK_FORCE;
static const int32_t retake_seek_backward = AVSEEK_FLAG_BACKWARD;
static const int32_t retake_seek_byte = AVSEEK_FLAG_BYTE;
static const int32_t retake_probe_padding = AVPROBE_PADDING_SIZE;
static const int32_t retake_pixel_bitstream = AV_PIX_FMT_FLAG_BITSTREAM;
static const int32_t retake_pixel_hardware = AV_PIX_FMT_FLAG_HWACCEL;
static const int32_t retake_open_read = O_RDONLY | O_CLOEXEC;

static inline int32_t retake_error_from_errno(int32_t number) { return AVERROR(number); }

static inline int32_t retake_errno_from_error(int32_t error) { return AVUNERROR(error); }

static inline int32_t retake_errno(void) { return errno; }

// The whole range, or what there is of it before the end; -errno on failure.
static inline int64_t retake_read_at(int32_t descriptor, void *bytes, int64_t count,
                                     int64_t offset) {
  int64_t done = 0;
  while (done < count) {
    ssize_t n = pread(descriptor, (char *)bytes + done, (size_t)(count - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    if (n == 0) break;
    done += n;
  }
  return done;
}

// 0 when all bytes were written, or -errno.
static inline int32_t retake_write_at(int32_t descriptor, const void *bytes, int64_t count,
                                      int64_t offset) {
  int64_t done = 0;
  while (done < count) {
    ssize_t n =
        pwrite(descriptor, (const char *)bytes + done, (size_t)(count - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    if (n == 0) return -EIO;
    done += n;
  }
  return 0;
}

static inline int32_t retake_close(int32_t descriptor) { return close(descriptor); }

// The n-th plane: fixed arrays are tuples in Swift.
static inline uint8_t *retake_plane(const AVFrame *frame, int32_t plane) {
  return frame->data[plane];
}

static inline int64_t retake_stride(const AVFrame *frame, int32_t plane) {
  return frame->linesize[plane];
}

static inline void retake_set_plane(AVFrame *frame, int32_t plane, const uint8_t *data,
                                    int64_t stride) {
  frame->data[plane] = (uint8_t *)data;
  frame->linesize[plane] = (int)stride;
}

// Blocks of this size and more come from the system and go back to it at once: an allocator may keep
// what is freed, and a few large pictures are more than all else that a process has.
static const int64_t retake_large_block = 1 << 20;

// Zeroed memory at a multiple of 64, NULL when there is none; `retake_free` frees it.
static inline void *retake_allocate(int64_t size) {
  void *memory = NULL;
  if (size >= retake_large_block) {
    memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
  }
  if (posix_memalign(&memory, 64, (size_t)size) != 0) return NULL;
  return memset(memory, 0, (size_t)size);
}

static inline void retake_free(void *memory, int64_t size) {
  if (size >= retake_large_block) munmap(memory, (size_t)size);
  else free(memory);
}

// Where the planes of a picture lie in one block of memory, aligned and with the edges that the
// codec asks for, as FFmpeg's own allocator lays them out. Returns the block's size or an error.
static inline int64_t retake_picture_layout(AVCodecContext *context, const AVFrame *frame,
                                            int64_t offsets[4], int32_t strides[4]) {
  int width = frame->width, height = frame->height, unaligned = 0;
  int alignments[AV_NUM_DATA_POINTERS];
  avcodec_align_dimensions2(context, &width, &height, alignments);
  do {
    int error = av_image_fill_linesizes(strides, (enum AVPixelFormat)frame->format, width);
    if (error < 0) return error;
    width += width & ~(width - 1);
    unaligned = 0;
    for (int i = 0; i < 4; i++) unaligned |= strides[i] % alignments[i];
  } while (unaligned);

  ptrdiff_t lines[4];
  size_t sizes[4];
  for (int i = 0; i < 4; i++) lines[i] = strides[i];
  int error = av_image_fill_plane_sizes(sizes, (enum AVPixelFormat)frame->format, height, lines);
  if (error < 0) return error;
  int64_t total = 0;
  for (int i = 0; i < 4; i++) {
    offsets[i] = total;
    if (sizes[i]) total += ((int64_t)sizes[i] + 128 + 63) / 64 * 64;
  }
  return total;
}

// Makes the frame's planes point into a block laid out as above, owned by `buffer`.
static inline void retake_picture_attach(AVFrame *frame, AVBufferRef *buffer,
                                         const int64_t offsets[4], const int32_t strides[4]) {
  memset(frame->data, 0, sizeof frame->data);
  memset(frame->linesize, 0, sizeof frame->linesize);
  for (int i = 0; i < 4 && strides[i]; i++) {
    frame->data[i] = buffer->data + offsets[i];
    frame->linesize[i] = strides[i];
  }
  frame->buf[0] = buffer;
  frame->extended_data = frame->data;
}

// FFmpeg 5 asks whether callbacks may come from any thread; FFmpeg 6 takes it for granted.
static inline void retake_allow_callbacks_on_any_thread(AVCodecContext *context) {
#if FF_API_THREAD_SAFE_CALLBACKS
  context->thread_safe_callbacks = 1;
#else
  (void)context;
#endif
}

// The number of a packet in the frames that are decoded from it, in whatever order they are shown:
// FFmpeg 5 copies a field of the context, FFmpeg 6 a field of the packet if a flag of the context
// demands it. `retake_number_packets` is called before the context is opened.
#if LIBAVCODEC_VERSION_MAJOR < 60
static inline void retake_number_packets(AVCodecContext *context) { (void)context; }

static inline void retake_number_packet(AVCodecContext *context, AVPacket *packet,
                                        int64_t number) {
  (void)packet;
  context->reordered_opaque = number;
}

static inline int64_t retake_packet_number(const AVFrame *frame) {
  return frame->reordered_opaque;
}
#else
static inline void retake_number_packets(AVCodecContext *context) {
  context->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
}

static inline void retake_number_packet(AVCodecContext *context, AVPacket *packet,
                                        int64_t number) {
  (void)context;
  packet->opaque = (void *)(intptr_t)number;
}

static inline int64_t retake_packet_number(const AVFrame *frame) {
  return (intptr_t)frame->opaque;
}
#endif

// FFmpeg 6.1 made a flag of the field, and FFmpeg 8 has no field.
static inline int32_t retake_is_key(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_KEY
  return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
  return frame->key_frame != 0;
#endif
}

// The same. Whether a frame is interlaced, and whether its top field is the first.
static inline int32_t retake_is_interlaced(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_INTERLACED
  return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame->interlaced_frame != 0;
#endif
}

static inline int32_t retake_is_top_field_first(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_TOP_FIELD_FIRST
  return (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  return frame->top_field_first != 0;
#endif
}

// FFmpeg 6 named the field differently.
#if LIBAVUTIL_VERSION_MAJOR < 58
static inline int64_t retake_duration(const AVFrame *frame) { return frame->pkt_duration; }

static inline void retake_set_duration(AVFrame *frame, int64_t duration) {
  frame->pkt_duration = duration;
}
#else
static inline int64_t retake_duration(const AVFrame *frame) { return frame->duration; }

static inline void retake_set_duration(AVFrame *frame, int64_t duration) {
  frame->duration = duration;
}
#endif

// The formats that an encoder takes, ended by NONE; NULL if it does not say.
static inline const enum AVPixelFormat *retake_pixel_formats(const AVCodec *codec) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
  const void *formats = NULL;
  if (avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &formats, NULL) < 0)
    return NULL;
  return (const enum AVPixelFormat *)formats;
#else
  return codec->pix_fmts;
#endif
}

// The rate that a video stream names in its own headers, 0 if it names none. FFmpeg 5 and 6.0 put
// it into the rates of the stream.
static inline AVRational retake_named_rate(const AVStream *stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 11, 100)
  return stream->codecpar->framerate;
#else
  (void)stream;
  return (AVRational){0, 1};
#endif
}

// What a container says of a whole stream: FFmpeg 6.1 keeps it with the codec's parameters. NULL if
// it says nothing of this type.
static inline const uint8_t *retake_stream_side_data(const AVStream *stream,
                                                     enum AVPacketSideDataType type,
                                                     size_t *size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
  const AVPacketSideData *side = av_packet_side_data_get(
      stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, type);
  *size = side ? side->size : 0;
  return side ? side->data : NULL;
#else
  return av_stream_get_side_data(stream, type, size);
#endif
}

// Memory for what a container says of a whole stream, owned by the stream. NULL without memory.
static inline uint8_t *retake_new_stream_side_data(AVStream *stream,
                                                   enum AVPacketSideDataType type, size_t size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
  AVPacketSideData *side = av_packet_side_data_new(
      &stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, type, size, 0);
  return side ? side->data : NULL;
#else
  return av_stream_new_side_data(stream, type, size);
#endif
}

// What a video decoder writes to FFmpeg's log: `opaque` of its context, whether it is an error, and
// the formatted line. Called from any thread.
typedef void (*retake_log_sink)(void *opaque, int32_t is_error, const char *line);

// Set once, before the first decoder; only one file of Swift may refer to it, since each has its own.
static retake_log_sink retake_decoder_log = NULL;

// The errors that FFmpeg logs for TLS connections, on the thread that opens the connection.
static void (*retake_tls_log)(const char *line) = NULL;

static void retake_log_tls(void *object, const char *format, va_list arguments) {
  const AVClass *class = *(const AVClass **)object;
  if (class->item_name == NULL || strcmp(class->item_name(object), "tls") != 0) return;
  char line[256];
  vsnprintf(line, sizeof line, format, arguments);
  retake_tls_log(line);
}

static void retake_log(void *object, int level, const char *format, va_list arguments) {
  if (level > AV_LOG_WARNING || object == NULL || retake_decoder_log == NULL) return;
  // Each object that FFmpeg logs for begins with a pointer to its class.
  if (*(const AVClass **)object != avcodec_get_class()) {
    if (level <= AV_LOG_ERROR) retake_log_tls(object, format, arguments);
    return;
  }
  const AVCodecContext *context = (const AVCodecContext *)object;
  if (context->codec_type != AVMEDIA_TYPE_VIDEO || context->opaque == NULL) return;
  char line[256];
  vsnprintf(line, sizeof line, format, arguments);
  retake_decoder_log(context->opaque, level <= AV_LOG_ERROR, line);
}

static inline void retake_take_log(retake_log_sink sink, void (*tls)(const char *line)) {
  retake_decoder_log = sink;
  retake_tls_log = tls;
  av_log_set_level(AV_LOG_QUIET);
  av_log_set_callback(retake_log);
}
