/* A camera loop in C++17 under Retake: a stand-in for cv::VideoCapture that reads a session.
 *
 * Needs retake_stage.h from the same folder, and nothing else. docs/c.md is the guide,
 * docs/formats/program-protocol.md the conversation with Retake.
 *
 *   #include "retake_capture.hpp"
 *
 *   int main() {
 *     retake::Capture capture(0);
 *     capture.sink("light", "scalars");
 *     retake::Image image;
 *     while (capture.read(image)) capture.scalar("light", "corner", image.data[0]);
 *   }
 *
 * If <opencv2/core.hpp> is included before, images convert to cv::Mat. A mistake, such as a value
 * that is not finite, ends the program with status 2, and Retake reports it with the frame.
 *
 * Copyright the authors of Retake. Licensed under the Apache License 2.0.
 */
#ifndef RETAKE_CAPTURE_HPP
#define RETAKE_CAPTURE_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "retake_stage.h"

namespace retake {

/* The properties of Capture::get, with the numbers of OpenCV. */
enum Property {
  CAP_PROP_POS_MSEC = 0,
  CAP_PROP_POS_FRAMES = 1,
  CAP_PROP_FRAME_WIDTH = 3,
  CAP_PROP_FRAME_HEIGHT = 4,
  CAP_PROP_FPS = 5,
  CAP_PROP_FRAME_COUNT = 7,
};

/* One image in shared memory, read-only, valid until the next read. */
struct Image {
  const uint8_t *data = nullptr; /* the first plane */
  int width = 0, height = 0;     /* pixels */
  size_t stride = 0;             /* bytes from one row to the next */
  int channels = 0;              /* bytes of a pixel: 3 in BGR24 */
  std::string format;            /* BGR24, GRAY8 or another format of the capture */
  int rotation = 0;              /* degrees clockwise by which a viewer rotates the image */
  int64_t sequence = -1;         /* counts the frames of the track from 0 */
  int64_t pts_ns = 0, now_ns = 0; /* presentation time, and virtual time of the read */
  retake_stage_frame frame = {}; /* all planes */

#ifdef OPENCV_CORE_HPP
  /* The same memory: clone it before you change it or keep it. Formats of 8 bits in one plane. */
  cv::Mat mat() const {
    return cv::Mat(height, width, CV_MAKETYPE(CV_8U, channels), const_cast<uint8_t *>(data), stride);
  }
#endif
};

/* The camera: one for each program, used on one thread at a time. */
class Capture {
 public:
  Capture() = default;
  /* The argument is that of cv::VideoCapture, and has no effect: Retake chooses the session. */
  template <typename Source>
  explicit Capture(const Source &source, int backend = 0) { open(source, backend); }
  Capture(const Capture &) = delete;
  Capture &operator=(const Capture &) = delete;
  /* The conversation ends with the program, whose status counts: until then a copy continues it. */
  ~Capture() {
    if (current() == this) current() = new Capture(std::move(*this));
  }

  template <typename Source>
  bool open(const Source &, int = 0) {
    is_released_ = false;
    return isOpened();
  }

  /* Whether Retake started this program, and the capture is not released. */
  bool isOpened() const { return std::getenv("RETAKE_PROTOCOL") != nullptr && !is_released_; }

  /* No more frames: the program has to have read them all, unless it may end. */
  void release() { is_released_ = true; }

  /* ---- Before the first read, and before `get` ---- */

  /* Adds a sink: `detections`, `classes`, `scalars` or `observations`. A program has at least one. */
  Capture &sink(const std::string &name, const std::string &output) {
    if (is_begun_) refuse("a sink is added after the first read: ", name);
    for (const Sink &sink : sinks_) {
      if (sink.name == name) refuse("a sink is added twice: ", name);
    }
    sinks_.emplace_back(name, output);
    return *this;
  }

  /* Of images: BGR24 (the default), RGB24, GRAY8, BGRA, RGBA, I420 or another format of Retake. */
  Capture &format(const std::string &name) {
    format_ = name;
    return *this;
  }

  /* The names of the classes of detections, by their index. */
  Capture &classNames(std::vector<std::string> names) {
    class_names_ = std::move(names);
    return *this;
  }

  /* The program may end before the last frame, which is an error otherwise. */
  Capture &mayEnd() {
    may_end_ = true;
    return *this;
  }

  /* ---- Frames ---- */

  /* The next frame; false after the last one, and without Retake. */
  bool read(Image &image) {
    if (!isOpened() || !begin()) return false;
    if (is_unread_) {
      is_unread_ = false;
    } else if (!next()) {
      return false;
    }
    count_++;
    image = image_;
    return true;
  }

  Capture &operator>>(Image &image) {
    if (!read(image)) image = Image();
    return *this;
  }

#ifdef OPENCV_CORE_HPP
  /* A copy of the next frame, as of cv::VideoCapture; it is not rotated. */
  bool read(cv::Mat &mat) {
    Image image;
    if (!read(image)) {
      mat.release();
      return false;
    }
    image.mat().copyTo(mat);
    return true;
  }

  Capture &operator>>(cv::Mat &mat) {
    read(mat);
    return *this;
  }
#endif

  /* A `Property`; 0 for others. Waits for the first frame. */
  double get(int property) {
    if (!isOpened() || !begin()) return 0;
    switch (property) {
      case CAP_PROP_POS_MSEC: return count_ ? static_cast<double>(image_.pts_ns) / 1e6 : 0;
      case CAP_PROP_POS_FRAMES: return static_cast<double>(count_);
      case CAP_PROP_FRAME_WIDTH: return image_.width;
      case CAP_PROP_FRAME_HEIGHT: return image_.height;
      case CAP_PROP_FPS: return frame_rate_;
      case CAP_PROP_FRAME_COUNT: return static_cast<double>(frame_count_);
      default: return 0;
    }
  }

  /* No property can be set. */
  bool set(int, double) { return false; }

  /* ---- Values, about the frame that was read last ---- */

  /* Adds a number. */
  void scalar(const std::string &sink, const std::string &name, double value) {
    if (Sink *found = at(sink)) retake_scalar(&found->reply, name.c_str(), value), check(*found);
  }

  /* Adds a detection: the upper left corner, width and height in pixels. */
  void detection(const std::string &sink, double x, double y, double width, double height,
                 double score, int64_t class_index = 0) {
    Sink *found = at(sink);
    if (!found) return;
    retake_stage_detection(&found->reply, x, y, width, height, score, class_index);
    check(*found);
  }

  /* Adds a label: of the frame if the sink has classes, otherwise of the last detection. */
  void label(const std::string &sink, const std::string &label, double score) {
    if (Sink *found = at(sink)) retake_label(&found->reply, label.c_str(), score), check(*found);
  }

  /* A tracker's number of the last detection or observation. */
  void identity(const std::string &sink, int64_t identity) {
    if (Sink *found = at(sink)) retake_identity(&found->reply, identity), check(*found);
  }

  /* Adds a mask of the pixels that are not 0. */
  void mask(const std::string &sink, const std::string &label, double score,
            const uint8_t *pixels, size_t stride, size_t width, size_t height) {
    Sink *found = at(sink);
    if (!found) return;
    retake_mask(&found->reply, label.c_str(), score, pixels, stride, width, height);
    check(*found);
  }

  /* Adds key points, and the bones between them. */
  void points(const std::string &sink, const std::string &label, double score,
              const std::vector<retake_point> &points, const std::vector<retake_bone> &bones = {}) {
    Sink *found = at(sink);
    if (!found) return;
    retake_points(&found->reply, label.c_str(), score, points.data(), points.size(), bones.data(),
                  bones.size());
    check(*found);
  }

  /* Adds a chain of straight lines, such as a lane, or a polygon. */
  void polyline(const std::string &sink, const std::string &label, double score,
                const std::vector<retake_vertex> &points, bool is_closed = false) {
    Sink *found = at(sink);
    if (!found) return;
    retake_polyline(&found->reply, label.c_str(), score, points.data(), points.size(), is_closed);
    check(*found);
  }

  /* Adds an image in the order red, green, blue and alpha, or a map of numbers such as depth. */
  void image(const std::string &sink, const std::string &label, double score, const void *pixels,
             size_t stride, size_t width, size_t height, size_t channels,
             retake_type type = RETAKE_U8) {
    Sink *found = at(sink);
    if (!found) return;
    retake_image(&found->reply, label.c_str(), score, pixels, stride, width, height, channels, type);
    check(*found);
  }

  /* Adds a vector that represents an object or the frame. */
  void embedding(const std::string &sink, const std::string &label, double score,
                 const std::vector<float> &values) {
    Sink *found = at(sink);
    if (!found) return;
    retake_embedding(&found->reply, label.c_str(), score, values.data(), values.size());
    check(*found);
  }

  /* Adds any value as JSON text. */
  void json(const std::string &sink, const std::string &label, double score,
            const std::string &json) {
    Sink *found = at(sink);
    if (!found) return;
    retake_json(&found->reply, label.c_str(), score, json.c_str());
    check(*found);
  }

 private:
  struct Sink {
    Sink(std::string name, std::string output)
        : name(std::move(name)), output(std::move(output)) {
      stage.output = this->output.c_str();
      reply.stage = &stage;
    }
    Sink(const Sink &) = delete;
    Sink &operator=(const Sink &) = delete;
    ~Sink() {
      std::free(reply.elements.start);
      std::free(reply.error.start);
    }

    std::string name, output;
    retake_stage stage = {};
    retake_reply reply = {};
  };

  static constexpr int kMessages = 3, kPixels = 4;
  static constexpr const char *kAgain = "RETAKE_CAPTURE"; /* reset, slots, bytes of a slot */

  Capture(Capture &&) = default;

  [[noreturn]] static void refuse(const std::string &what, const std::string &which) {
    retake_p_refuse(what.c_str(), which.c_str());
  }

  static Capture *&current() {
    static Capture *capture = nullptr;
    return capture;
  }

  /* Begins the conversation, and waits for the first frame. */
  bool begin() {
    if (is_begun_) return true;
    if (current()) fail("loop.secondCapture", "a program has one retake::Capture that reads");
    if (sinks_.empty()) refuse("the capture needs a sink, such as sink(\"light\", \"scalars\")", "");
    if (std::getenv("RETAKE_TRANSPORT")) refuse("retake::Capture uses files 3 and 4, not stdio", "");
    map();
    is_begun_ = true;
    current() = this;
    process_ = getpid();
#ifdef __GLIBC__
    on_exit([](int status, void *) { current()->finish(status); }, nullptr);
#else
    std::atexit([] { current()->finish(0); }); /* the status is unknown */
#endif
    if (const char *again = std::getenv(kAgain)) {
      long long reset = 0, slots = 0, bytes = 0;
      std::sscanf(again, "%lld %lld %lld", &reset, &slots, &bytes);
      unsetenv(kAgain);
      conversation_.slots = static_cast<size_t>(slots);
      conversation_.slot_bytes = static_cast<size_t>(bytes);
      send("{\"reset\":" + std::to_string(reset) + "}");
    } else {
      greet();
    }
    is_unread_ = next();
    return is_unread_;
  }

  void map() {
    struct stat status;
    for (int file : {kMessages, kPixels}) {
      if (fcntl(file, F_SETFD, FD_CLOEXEC) < 0) refuse("files 3 and 4 are not open", "");
    }
    if (fstat(kPixels, &status) < 0 || status.st_size <= 0) refuse("file 4 is not memory", "");
    conversation_.size = static_cast<size_t>(status.st_size);
    void *memory = mmap(nullptr, conversation_.size, PROT_READ, MAP_SHARED, kPixels, 0);
    if (memory == MAP_FAILED) refuse("mmap: ", std::strerror(errno));
    conversation_.memory = static_cast<const uint8_t *>(memory);
  }

  void greet() {
    retake_p_json message = {}, hello = {};
    if (!receive(message) || !retake_p_member(message, "hello", &hello)) {
      refuse("the first message must be 'hello'", "");
    }
    char output[32];
    retake_p_required_text(hello, "output", output, sizeof output);
    if (std::strcmp(output, "program") != 0) {
      refuse("a loop is a whole program: use --program, or \"output\": \"program\", not ", output);
    }
    const int64_t slots = retake_p_required(hello, "slots", 1, INT64_MAX);
    const int64_t bytes = retake_p_required(hello, "slotBytes", 1, INT64_MAX);
    if (static_cast<uint64_t>(slots) > conversation_.size / static_cast<uint64_t>(bytes)) {
      refuse("the slots do not fit into the shared memory", "");
    }
    conversation_.slots = static_cast<size_t>(slots);
    conversation_.slot_bytes = static_cast<size_t>(bytes);
    std::string ready = "{\"ready\":{\"v\":1,\"name\":\"loop\",\"version\":1,\"output\":\"program\","
                        "\"state\":\"stateful\",\"formats\":[" + quoted(format_) + "],\"sinks\":{";
    for (const Sink &sink : sinks_) {
      ready += (&sink == &sinks_.front() ? "" : ",") + quoted(sink.name) + ":" + quoted(sink.output);
    }
    ready += "},\"classNames\":[";
    for (size_t index = 0; index < class_names_.size(); index++) {
      ready += (index ? "," : "") + quoted(class_names_[index]);
    }
    send(ready + "]}}");
  }

  /* Ends the open frame or timer, and waits for the next frame. False at the end of the session. */
  bool next() {
    if (is_at_end_) return false;
    if (!open_.empty()) done();
    retake_p_json message = {}, content = {};
    /* Ends at the latest when the host closes the socket. */
    while (receive(message)) {
      if (retake_p_member(message, "frame", &content)) {
        take(content);
        return true;
      }
      if (retake_p_member(message, "timer", &content)) {
        open_timer(message);
        is_at_end_ = true;
        return false;
      }
      if (retake_p_member(message, "reset", &content)) answer_reset(message);
      if (retake_p_member(message, "bye", &content)) break;
    }
    /* No run needs the rest of the program. */
    std::fflush(nullptr);
    _exit(0);
  }

  void take(retake_p_json content) {
    retake_stage_frame frame = retake_p_frame(&conversation_, content, texts_);
    image_.frame = frame;
    image_.data = frame.planes[0].pixels;
    image_.stride = frame.planes[0].stride;
    image_.channels = static_cast<int>(frame.planes[0].channels);
    image_.width = static_cast<int>(frame.width);
    image_.height = static_cast<int>(frame.height);
    image_.format = frame.format;
    image_.sequence = frame.sequence;
    image_.pts_ns = frame.pts_ns;
    image_.now_ns = retake_p_required(content, "nowNs", INT64_MIN, INT64_MAX);
    open_ = std::to_string(frame.sequence);
    retake_p_json value = {};
    int64_t number = 0;
    if (retake_p_member(content, "rotation", &value) && retake_p_integer(value, &number)) {
      image_.rotation = static_cast<int>(number);
    }
    if (has_timer_) return;
    /* Retake calls it after the last frame, so that the loop learns of the end. */
    send("{\"timer\":{\"id\":0,\"atNs\":9223372036854775807}}");
    has_timer_ = true;
    if (retake_p_member(content, "frameCount", &value)) retake_p_integer(value, &frame_count_);
    if (retake_p_member(content, "frameRate", &value)) retake_p_double(value, &frame_rate_);
  }

  /* A timer is open until the program ends. */
  void open_timer(retake_p_json message) {
    const int64_t now = retake_p_required(message, "nowNs", INT64_MIN, INT64_MAX);
    open_ = "{\"timer\":0,\"nowNs\":" + std::to_string(now) + "}";
  }

  void answer_reset(retake_p_json message) {
    const int64_t number = retake_p_required(message, "reset", 1, INT64_MAX);
    send("{\"reset\":" + std::to_string(number) + "}");
  }

  /* Sends the values of the open frame. */
  void done() {
    for (Sink &sink : sinks_) {
      if (sink.reply.count == 0) continue;
      retake_p_close_detection(&sink.reply);
      retake_p_bytes &elements = sink.reply.elements;
      if (elements.is_full || elements.count > RETAKE_P_BYTES_MAX - 256) {
        fail("c.value", "the values of '" + sink.name + "' are larger than a message can be");
      }
      send("{\"out\":{\"sink\":" + quoted(sink.name) + ",\"sequence\":" +
           std::to_string(image_.sequence) + ",\"value\":{\"" + sink.output + "\":[" +
           std::string(elements.start, elements.count) + "]}}}");
      elements.count = sink.reply.count = 0;
    }
    send("{\"done\":" + open_ + "}");
    open_.clear();
  }

  /* At the end of the program: answers until Retake needs no more. */
  void finish(int status) {
    if (getpid() != process_) return; /* a fork of the program */
    if (status != 0) {
      fail("loop.status", "the program ended with status " + std::to_string(status) + " at frame " +
                              std::to_string(image_.sequence));
    }
    retake_p_json message = {}, content = {};
    int resets = 0;
    /* Ends at the latest when the host closes the socket. */
    while (true) {
      if (!open_.empty()) done();
      if (!receive(message) || retake_p_member(message, "bye", &content)) return;
      if (retake_p_member(message, "reset", &content)) {
        /* The first one ends the run, and the second one begins another. */
        if (++resets > 1) run_again(message);
        answer_reset(message);
      } else if (retake_p_member(message, "timer", &content)) {
        open_timer(message);
        is_at_end_ = true;
      } else if (retake_p_member(message, "frame", &content)) {
        if (!is_at_end_ && !may_end_) {
          fail("loop.ended", "the program ended at frame " + std::to_string(image_.sequence) +
                                 ", and the frames after it were not read: let it read until there "
                                 "is no frame, or call mayEnd()");
        }
        open_ = std::to_string(retake_p_required(content, "sequence", 0, INT64_MAX));
        image_.sequence = retake_p_required(content, "sequence", 0, INT64_MAX);
      }
    }
  }

  /* The same program from its start, in this process. */
  [[noreturn]] void run_again(retake_p_json message) {
    const int64_t reset = retake_p_required(message, "reset", 1, INT64_MAX);
    const std::string again = std::to_string(reset) + " " + std::to_string(conversation_.slots) +
                              " " + std::to_string(conversation_.slot_bytes);
    setenv(kAgain, again.c_str(), 1);
    for (int file : {kMessages, kPixels}) fcntl(file, F_SETFD, 0);
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::vector<char *> arguments;
    for (size_t at = 0; at < text.size(); at += std::strlen(&text[at]) + 1) {
      arguments.push_back(&text[at]);
    }
    arguments.push_back(nullptr);
    std::fflush(nullptr);
    execv("/proc/self/exe", arguments.data());
    refuse("the program cannot be run again: ", std::strerror(errno));
  }

  /* ---- Messages ---- */

  bool receive(retake_p_json &message) {
    unsigned char header[4];
    if (!retake_p_receive(kMessages, reinterpret_cast<char *>(header), sizeof header)) return false;
    const size_t count = header[0] | static_cast<size_t>(header[1]) << 8 |
                         static_cast<size_t>(header[2]) << 16 | static_cast<size_t>(header[3]) << 24;
    if (count == 0 || count > RETAKE_P_RECEIVED_MAX) refuse("a message has an impossible length", "");
    body_.resize(count);
    if (!retake_p_receive(kMessages, body_.data(), count)) {
      refuse("the host closed the socket in a message", "");
    }
    const char *end = body_.data() + count;
    message.start = retake_p_space(body_.data(), end);
    message.end = retake_p_value_end(message.start, end, 0);
    if (!message.end || retake_p_space(message.end, end) != end || *message.start != '{') {
      refuse("a message is not a JSON object", "");
    }
    return true;
  }

  static void send(const std::string &text) {
    char header[4];
    for (int byte = 0; byte < 4; byte++) {
      header[byte] = static_cast<char>(text.size() >> (8 * byte) & 0xFF);
    }
    /* If the host has left, the next receive reports it. */
    if (retake_p_send(kMessages, header, sizeof header)) {
      retake_p_send(kMessages, text.data(), text.size());
    }
  }

  static std::string quoted(const std::string &text) {
    retake_p_bytes bytes = {};
    retake_p_put_string(&bytes, text.data(), text.size());
    std::string result(bytes.start, bytes.count);
    std::free(bytes.start);
    return result;
  }

  Sink *at(const std::string &name) {
    if (!isOpened() && !is_begun_) return nullptr; /* without Retake */
    for (Sink &sink : sinks_) {
      if (sink.name != name) continue;
      if (count_ == 0) fail("c.value", "'" + name + "' gets a value before the first read");
      sink.stage.class_names = pointers();
      return &sink;
    }
    fail("c.value", "there is no sink '" + name + "': add it with sink() before the first read");
  }

  const char *const *pointers() {
    if (class_pointers_.empty() && !class_names_.empty()) {
      for (const std::string &name : class_names_) class_pointers_.push_back(name.c_str());
      class_pointers_.push_back(nullptr);
    }
    return class_pointers_.empty() ? nullptr : class_pointers_.data();
  }

  static void check(const Sink &sink) {
    const retake_p_bytes &error = sink.reply.error;
    if (error.count) leave(std::string(error.start, error.count));
  }

  [[noreturn]] static void fail(const std::string &code, const std::string &message) {
    leave("{\"code\":" + quoted(code) + ",\"message\":" + quoted(message) +
          ",\"severity\":\"unrecoverable\"}");
  }

  [[noreturn]] static void leave(const std::string &error) {
    std::fprintf(stderr, "retake: %s\n", error.c_str());
    send("{\"error\":" + error + "}");
    std::fflush(nullptr);
    _exit(RETAKE_P_REFUSED);
  }

  std::list<Sink> sinks_;
  std::string format_ = "BGR24";
  std::vector<std::string> class_names_;
  std::vector<const char *> class_pointers_;
  bool may_end_ = false, is_released_ = false, is_begun_ = false, is_unread_ = false;
  bool has_timer_ = false, is_at_end_ = false;
  pid_t process_ = 0;
  retake_p_conversation conversation_ = {};
  std::string body_;
  std::string open_; /* the `done` for which the host waits */
  char texts_[3][16] = {};
  Image image_;
  int64_t count_ = 0, frame_count_ = 0;
  double frame_rate_ = 0;
};

}  // namespace retake

#endif /* RETAKE_CAPTURE_HPP */
