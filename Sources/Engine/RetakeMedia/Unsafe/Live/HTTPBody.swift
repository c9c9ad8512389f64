import CFFmpeg
import Foundation

/// The body of an HTTP response, read by a demuxer. The request uses HTTP/1.0, so that the body is
/// not chunked and ends with the connection. Redirects are not followed.
final class HTTPBody {
  // SAFETY: the reader refers to the exchange, unretained, which lives as long as this object; the
  // demuxer that uses the reader is freed earlier.
  private(set) var reader: UnsafeMutablePointer<AVIOContext>?
  private let exchange: TextExchange

  private static let bufferBytes = 1 << 15

  /// - Throws: `MediaError.redirected`, `.notStream`, `.notLive`, and the errors of `TextExchange`.
  init(_ stream: StreamAddress, _ interruption: CallGuard) throws {
    exchange = try TextExchange(Self.request(stream), to: stream, interruption: interruption)
    try exchange.refuseRedirection()
    guard exchange.status == 200 else {
      throw MediaError.notStream(
        address: stream.publicText, cause: "it answered with status \(exchange.status)")
    }
    // A file would arrive faster than in real time, and again after each end.
    if let bytes = exchange.bodyBytes {
      throw MediaError.notLive(address: stream.publicText, bytes: bytes)
    }
    let buffer = FFmpeg.required(av_malloc(Self.bufferBytes)).assumingMemoryBound(to: UInt8.self)
    let context = avio_alloc_context(
      buffer, Int32(Self.bufferBytes), 0, Unmanaged.passUnretained(exchange).toOpaque(),
      { opaque, bytes, count in
        guard let opaque, let bytes else { return retake_error_invalid_argument }
        let read = Unmanaged<TextExchange>.fromOpaque(opaque).takeUnretainedValue()
          .read(bytes, count: Int(count))
        // The callback must report the end with an error number, never with 0 (avio.h).
        return read == 0 ? retake_error_end : read
      }, nil, nil)
    reader = FFmpeg.required(context)
  }

  deinit {
    OutputState.free(reader)
  }

  private static func request(_ stream: StreamAddress) -> String {
    var lines = [
      "GET \(stream.target) HTTP/1.0", "Host: \(stream.host):\(stream.port)",
      "User-Agent: retake", "Accept: */*", "Connection: close",
    ]
    if let user = stream.user {
      let secret = Data("\(user):\(stream.password ?? "")".utf8).base64EncodedString()
      lines.append("Authorization: Basic \(secret)")
    }
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }
}
