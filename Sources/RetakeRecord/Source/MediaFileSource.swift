import RetakeBuffers
import RetakeCore
import RetakeMedia

/// A media file played as if it were a camera: decoded, to be encoded again.
public struct MediaFileSource: RecordingSource {
  public let description: SourceDescription
  private let path: String
  private let track: Int?

  /// - Parameter track: The file's own number of the video stream; nil is the first one.
  /// - Throws: `MediaError`, one case for each way in which a file can be unfit.
  public init(path: String, track: Int? = nil) throws {
    let stream = try MediaDemuxer(path: path).videoStream(track)
    let name = path.split(separator: "/").last.map(String.init) ?? path
    self.path = path
    self.track = track
    description = SourceDescription(
      name: "file:\(name)", timeBase: stream.timeBase,
      framesPerSecond: stream.averageFrameRate?.framesPerSecond)
  }

  public func open() throws -> any FrameStream {
    let demuxer = try MediaDemuxer(path: path)
    let stream = try demuxer.videoStream(track)
    demuxer.select([stream.index])
    return MediaFileStream(
      demuxer: demuxer, stream: stream, decoder: try MediaDecoder(stream: stream, file: path))
  }
}

private final class MediaFileStream: FrameStream {
  private let demuxer: MediaDemuxer
  private let stream: MediaStream
  private let decoder: MediaDecoder
  private var ready: ArraySlice<DecodedFrame> = []
  private var hasEnded = false
  private var latest: Timestamp?
  private var failures = 0

  /// Bad packets in a row after which the file counts as lost.
  private static let failuresMax = 64

  init(demuxer: MediaDemuxer, stream: MediaStream, decoder: MediaDecoder) {
    (self.demuxer, self.stream, self.decoder) = (demuxer, stream, decoder)
  }

  func next() throws -> SourceFrame? {
    while ready.isEmpty {
      guard !hasEnded else { return nil }
      ready = try decode()[...]
    }
    let decoded = ready.removeFirst()
    var frame = decoded.frame
    if decoded.bestEffortTimestamp == nil { frame.timestamp = guess(decoded) }
    latest = frame.timestamp
    return SourceFrame(
      frame: frame, pts: decoded.bestEffortTimestamp, duration: decoded.duration)
  }

  /// A camera does not stop at a picture that it could not take, and neither does this.
  private func decode() throws -> [DecodedFrame] {
    do {
      guard let packet = try demuxer.nextPacket() else {
        hasEnded = true
        return try decoder.decode(nil)
      }
      guard packet.stream == stream.index else { return [] }
      let frames = try decoder.decode(packet)
      failures = 0
      return frames
    } catch {
      failures += 1
      guard failures < Self.failuresMax, !hasEnded else { throw error }
      return []
    }
  }

  private func guess(_ decoded: DecodedFrame) -> Timestamp {
    let rate = stream.averageFrameRate ?? FrameRate(25, 1)
    let step = Int64(1_000_000_000) * Int64(rate.denominator) / Int64(rate.numerator)
    return latest.map { $0 + step } ?? .zero
  }
}
