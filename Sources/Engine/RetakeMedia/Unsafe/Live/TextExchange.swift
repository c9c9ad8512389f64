import CFFmpeg
import RetakeCore

/// One HTTP or RTSP request and its response, over FFmpeg's tcp or tls. FFmpeg's own protocols
/// would follow redirects; this type does not.
final class TextExchange {
  // SAFETY: the connection is made here and closed once, in deinit. Its two callbacks are called
  // directly because FFmpeg's buffered reader cannot both read and write.
  let stream: StreamAddress
  private(set) var status = 0
  /// The length of an HTTP body in bytes; nil if the server does not know it, as for a live stream.
  private(set) var bodyBytes: Int64?
  private(set) var location: String?
  /// Bytes that were received after the response's header.
  private var rest: ArraySlice<UInt8> = []
  private var connection: UnsafeMutablePointer<AVIOContext>?
  private let interruption: CallGuard

  /// Maximum number of bytes of a response's header.
  private static let headBytesMax = 16_384

  /// Sends the request and reads the header of the response.
  ///
  /// - Throws: `MediaError.unknownHost`, `.unreachable`, `.notStream` or `.timedOut`.
  init(
    _ request: String, to stream: StreamAddress, interruption: CallGuard
  ) throws {
    self.stream = stream
    self.interruption = interruption
    try HostName.check(stream)
    let scheme = stream.usesTLS ? "tls" : "tcp"
    // An IPv6 address before a port needs brackets (RFC 3986, 3.2.2).
    let isBare = stream.host.contains(":") && !stream.host.hasPrefix("[")
    let host = isBare ? "[\(stream.host)]" : stream.host
    if stream.usesTLS, let problem = CertificateAuthorities.problemOfSystem() {
      throw MediaError.certificate(
        address: stream.publicText, cause: problem, remedy: CertificateAuthorities.remedy)
    }
    let authorities = stream.usesTLS ? CertificateAuthorities.ofSystem() : nil
    let verification = stream.usesTLS ? CertificateAuthorities.options(authorities) : []
    var options = OptionDictionary(
      [(name: "protocol_whitelist", value: "tcp,tls")] + verification)
    var callback = interruption.callback
    TLSLog.begin()
    let opened = avio_open2(
      &connection, "\(scheme)://\(host):\(stream.port)", AVIO_FLAG_READ_WRITE, &callback,
      &options.pointer)
    guard opened >= 0 else {
      let refusal = CertificateRefusal(
        host: stream.host, port: stream.port, file: authorities, line: TLSLog.line())
      let isRefused = stream.usesTLS && opened == retake_error_io
      throw failure(opened) {
        isRefused
          ? .certificate(address: $0, cause: refusal.cause, remedy: refusal.remedy)
          : .unreachable(address: $0, cause: $1)
      }
    }
    // FFmpeg ignores an option that it does not know, and would not verify the certificate.
    if let name = options.leftover {
      throw MediaError.unreachable(
        address: stream.publicText, cause: "this FFmpeg has no option '\(name)' for \(scheme)")
    }
    try send(Array(request.utf8))
    try readHead()
  }

  deinit {
    // SAFETY: the buffer is empty, because every write was direct, so there is no data to flush.
    avio_closep(&connection)
  }

  /// Fills the memory with the next bytes; returns 0 at the end, or FFmpeg's error.
  func read(_ bytes: UnsafeMutablePointer<UInt8>, count: Int) -> Int32 {
    if !rest.isEmpty {
      let taken = rest.prefix(count)
      // SAFETY: the caller's memory has space for `count` bytes.
      UnsafeMutableRawBufferPointer(start: bytes, count: count).copyBytes(from: taken)
      rest = rest.dropFirst(taken.count)
      return Int32(clamping: taken.count)
    }
    guard let connection, let read = connection.pointee.read_packet else {
      return retake_error_io
    }
    return read(connection.pointee.opaque, bytes, Int32(clamping: count))
  }

  private func send(_ bytes: [UInt8]) throws {
    guard let connection, let write = connection.pointee.write_packet else {
      throw failure(retake_error_io) { .notStream(address: $0, cause: $1) }
    }
    var memory = bytes
    let sent = memory.withUnsafeMutableBufferPointer {
      write(connection.pointee.opaque, $0.baseAddress, Int32(clamping: $0.count))
    }
    guard sent >= 0 else { throw failure(sent) { .notStream(address: $0, cause: $1) } }
  }

  private func readHead() throws {
    var head: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 2_048)
    // Ends: each round reads at least a byte, or returns.
    while head.count < Self.headBytesMax {
      let count = piece.withUnsafeMutableBufferPointer { buffer in
        buffer.baseAddress.map { read($0, count: buffer.count) } ?? 0
      }
      guard count > 0 else {
        let isEnd = count == 0 || count == retake_error_end
        throw failure(count) {
          .notStream(
            address: $0,
            cause: isEnd ? "the server closed the connection without a response" : $1)
        }
      }
      head += piece.prefix(Int(count))
      if let end = Self.end(of: head) {
        rest = head[end...]
        return try take(String(decoding: head[..<end], as: UTF8.self))
      }
    }
    throw MediaError.notStream(
      address: stream.publicText, cause: "the head of its answer has no end")
  }

  /// Position after the empty line.
  private static func end(of head: [UInt8]) -> Int? {
    let line: [UInt8] = [13, 10, 13, 10]
    guard head.count >= line.count else { return nil }
    return (0...head.count - line.count).first { head[$0..<$0 + 4].elementsEqual(line) }
      .map { $0 + 4 }
  }

  private func take(_ head: String) throws {
    let lines = head.split(whereSeparator: \.isNewline)
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count > 1, words[0].hasPrefix("HTTP/") || words[0].hasPrefix("RTSP/"),
      let number = Int(words[1])
    else {
      throw MediaError.notStream(
        address: stream.publicText, cause: "it speaks neither HTTP nor RTSP")
    }
    status = number
    location = Self.field("location", of: lines)
    // Each part of a multipart body has its own length, and its server may invent the total.
    let isParts = Self.field("content-type", of: lines)?.lowercased().hasPrefix("multipart/")
    bodyBytes = isParts == true ? nil : Self.field("content-length", of: lines).flatMap(Int64.init)
  }

  private static func field(_ name: String, of lines: [Substring]) -> String? {
    // The names of header fields are case-insensitive (RFC 9110, 5.1).
    let line = lines.first { $0.lowercased().hasPrefix(name + ":") }
    return line.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
  }

  /// - Throws: `MediaError.redirected`.
  func refuseRedirection() throws {
    guard (300..<400).contains(status) else { return }
    throw MediaError.redirected(
      address: stream.publicText,
      to: location.map(StreamAddress.withoutSecrets) ?? "another place")
  }

  private func failure(
    _ number: Int32, _ error: (_ address: String, _ cause: String) -> MediaError
  ) -> MediaError {
    if number == retake_error_exit { return .timedOut(address: stream.publicText) }
    return MediaError.of(number, "ask the source", file: stream.publicText) {
      error(stream.publicText, $0)
    }
  }
}
