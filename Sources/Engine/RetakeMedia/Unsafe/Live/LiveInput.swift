import CFFmpeg
import Foundation
import RetakeCore

/// A camera, a stream or a test image: packets from a source that may disappear at any time.
///
/// No call lasts longer than the caller's guard allows, if the system can interrupt it. It may move
/// between threads, but only one thread at a time uses it.
package final class LiveInput: @unchecked Sendable {
  // SAFETY: @unchecked because the contexts are pointers. They are made here, used by one thread at
  // a time by the rule above, and freed once, in deinit, before the objects that they refer to.
  package let address: LiveAddress
  package let streams: [MediaStream]
  private let interruption: CallGuard
  private let body: HTTPBody?
  private var context: UnsafeMutablePointer<AVFormatContext>?
  private var counts: [Int]

  package enum Outcome: Sendable {
    case packet(MediaPacket)
    /// A camera has no packet yet; ask again soon.
    case none
    case end
  }

  /// Connects and analyses the streams.
  ///
  /// - Parameter isOver: Polled while a call waits; true ends the call.
  /// - Throws: `MediaError`, with one case for each way in which a source can be unsuitable.
  package init(
    _ address: LiveAddress, camera: CameraSettings = CameraSettings(),
    isOver: @escaping @Sendable () -> Bool
  ) throws {
    _ = FFmpeg.quiet
    self.address = address
    let interruption = CallGuard(isOver)
    self.interruption = interruption
    let plan = try LivePlan(address, camera: camera)
    let body = try Self.ask(address, interruption)
    self.body = body
    let context = try Self.open(plan, address, body, interruption)
    self.context = context
    streams = (0..<Int(context.pointee.nb_streams)).map {
      Self.stream(FFmpeg.required(context.pointee.streams[$0]), of: context)
    }
    counts = streams.map { _ in 0 }
  }

  deinit {
    avformat_close_input(&context)
    // The context refers to the body's reader until it is closed.
    withExtendedLifetime(body) {}
  }

  /// The first video stream.
  ///
  /// - Throws: `MediaError.noVideo`.
  package var videoStream: MediaStream {
    get throws {
      guard let stream = streams.first(where: { $0.kind == .video }) else {
        throw MediaError.noVideo(file: address.name)
      }
      return stream
    }
  }

  /// The next packet of any stream.
  ///
  /// - Throws: `MediaError.lost`, `.timedOut` or `.redirected`.
  package func nextPacket() throws -> Outcome {
    let payload = try PacketPayload()
    // SAFETY: the packet is fresh; its bytes are counted references of the library.
    let result = av_read_frame(context, payload.pointer)
    if result == retake_error_again { return .none }
    if result == retake_error_end { return .end }
    guard result >= 0 else { throw Self.failure(result, address, interruption, isOpen: true) }
    let stream = Int(payload.pointer.pointee.stream_index)
    // A stream may appear late; it has no description and is not used.
    while counts.count <= stream { counts.append(0) }
    defer { counts[stream] += 1 }
    return .packet(MediaPacket(payload, index: counts[stream]))
  }

  /// Generated images have no average rate; the lowest rate that fits all their times is used.
  private static func stream(
    _ stream: UnsafeMutablePointer<AVStream>, of context: UnsafeMutablePointer<AVFormatContext>
  ) -> MediaStream {
    var result = MediaStream(stream, of: context)
    if result.averageFrameRate == nil {
      result.averageFrameRate = [retake_named_rate(stream), stream.pointee.r_frame_rate]
        .compactMap { FrameRate(known: $0) }
        .first { $0.framesPerSecond <= Double(framesPerSecondMax) }
    }
    return result
  }

  /// A higher rate belongs to a clock, not to images.
  private static let framesPerSecondMax: Int32 = 1_000

  /// Sends the HTTP request, or checks whether an RTSP server redirects.
  private static func ask(
    _ address: LiveAddress, _ interruption: CallGuard
  ) throws -> HTTPBody? {
    guard case .stream(let stream) = address else { return nil }
    switch stream.scheme {
    case .http, .https: return try HTTPBody(stream, interruption)
    case .rtsp, .rtsps:
      let request =
        "DESCRIBE \(stream.publicText) RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n"
        + "User-Agent: retake\r\n\r\n"
      try TextExchange(request, to: stream, interruption: interruption).refuseRedirection()
      return nil
    case .rtp, .udp: return nil
    }
  }

  private static let busyAttemptsMax = 8
  private static let busyMilliseconds: Int32 = 100

  private static func open(
    _ plan: LivePlan, _ address: LiveAddress, _ body: HTTPBody?, _ interruption: CallGuard
  ) throws -> UnsafeMutablePointer<AVFormatContext> {
    var context: UnsafeMutablePointer<AVFormatContext>?
    var opened = retake_error_server
    // A server may still be busy with cleaning up after the previous request.
    for attempt in 0..<busyAttemptsMax where opened == retake_error_server {
      if attempt > 0 { poll(nil, 0, busyMilliseconds) }
      context = FFmpeg.required(avformat_alloc_context())
      context?.pointee.interrupt_callback = interruption.callback
      context?.pointee.flags |= plan.flags
      if let body { context?.pointee.pb = body.reader }
      if plan.isWatched { interruption.watch(context, url: plan.url) }
      var options = OptionDictionary(plan.options)
      // SAFETY: on failure the library frees the context and leaves nil.
      opened = avformat_open_input(&context, plan.url, plan.format, &options.pointer)
      interruption.watch(nil, url: "")
      // An HTTP request is repeated only when the caller reconnects.
      if body != nil { break }
    }
    guard opened >= 0, let result = context else {
      throw failure(opened, address, interruption, isOpen: false)
    }
    let found = avformat_find_stream_info(result, nil)
    guard found >= 0 else {
      avformat_close_input(&context)
      throw failure(found, address, interruption, isOpen: false)
    }
    return result
  }

  private static func failure(
    _ number: Int32, _ address: LiveAddress, _ interruption: CallGuard, isOpen: Bool
  ) -> MediaError {
    if let target = interruption.redirection {
      return .redirected(address: address.name, to: StreamAddress.withoutSecrets(target))
    }
    // The library reports a protocol that is not on the list, for a second connection, as an
    // invalid argument.
    if interruption.hasForbiddenMore, !isOpen, number == retake_error_invalid_argument {
      return .redirected(address: address.name, to: "another place")
    }
    let timeouts = [retake_error_exit, retake_error_from_errno(ETIMEDOUT)]
    if timeouts.contains(number) { return .timedOut(address: address.name) }
    return MediaError.of(number, "read the source", file: address.name) { cause in
      if isOpen { return .lost(address: address.name, cause: cause) }
      switch address {
      case .test(let graph): return .badTestImage(graph: graph, cause: cause)
      // The server was contacted before, and answered.
      case .stream(let stream) where stream.isAsked:
        return .notStream(address: address.name, cause: cause)
      case .stream, .camera: return .unreachable(address: address.name, cause: cause)
      }
    }
  }
}

/// The parameters for opening an input with FFmpeg.
struct LivePlan {
  // SAFETY: the format is a constant of the library.
  var url: String
  var format: UnsafePointer<AVInputFormat>?
  var flags: Int32 = 0
  /// Whether the demuxer could follow a redirect.
  var isWatched = false
  var options: [(name: String, value: String)]

  /// Limits of analyzing the streams.
  private static let look = [
    (name: "analyzeduration", value: "2000000"), (name: "probesize", value: "5000000"),
  ]
  private static let timeoutMicroseconds = "5000000"

  init(_ address: LiveAddress, camera: CameraSettings) throws {
    options = Self.look
    switch address {
    case .camera(let device):
      url = device
      format = try MediaDevices.format("v4l2")
      flags = retake_format_no_wait
      options = camera.options
    case .test(let graph):
      url = graph
      format = try MediaDevices.format("lavfi")
    case .stream(let stream):
      url = stream.text
      addOptions(for: stream)
    }
  }

  private mutating func addOptions(for stream: StreamAddress) {
    switch stream.scheme {
    case .http, .https:
      url = "stream"
      flags = retake_format_custom_io
      // The media must not cause anything else to be opened.
      add("protocol_whitelist", "none")
      add("format_whitelist", ContainerFormats.whitelist + ",mpjpeg")
    case .rtsp, .rtsps:
      isWatched = true
      add("timeout", Self.timeoutMicroseconds)
      add("rtsp_transport", "tcp")
      add("protocol_whitelist", "rtsp,rtp,tcp,tls,udp")
      add("format_whitelist", "rtsp,rtp,sdp,mpegts")
    case .rtp:
      add("protocol_whitelist", "rtp,udp")
      add("format_whitelist", "rtp,sdp,mpegts")
    case .udp:
      add("timeout", Self.timeoutMicroseconds)
      add("protocol_whitelist", "udp")
      add("format_whitelist", "mpegts")
    }
  }

  private mutating func add(_ name: String, _ value: String) {
    options.append((name: name, value: value))
  }
}
