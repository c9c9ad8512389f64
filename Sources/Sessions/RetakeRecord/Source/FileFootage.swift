import RetakeCore
import RetakeMedia
import RetakeSession

/// Collects from the packets of a file the remarks about video that its recording lacks.
struct FileFootage {
  private var streams: [MediaStream]
  private let recorded: Set<Int>
  private let isTransport: Bool
  private var spans: [Int: TrackSpan] = [:]
  private var opaque: Set<Int> = []
  /// Streams that the file revealed only while it was read.
  private var late: Set<Int> = []
  private(set) var hasEnded = false

  init(recorded: [MediaStream], others: [MediaStream], isTransport: Bool) {
    streams = recorded + others
    self.recorded = Set(recorded.map(\.index))
    self.isTransport = isTransport
  }

  mutating func meet(_ packet: MediaPacket, of demuxer: MediaDemuxer) {
    if !late.contains(packet.stream), let stream = demuxer.lateStream(packet.stream),
      stream.kind == .video
    {
      late.insert(packet.stream)
      streams.append(stream)
    }
    guard let stream = streams.first(where: { $0.index == packet.stream }) else { return }
    if PacketOpacity.mayHave(codec: stream.codec), !opaque.contains(stream.index),
      packet.sideData.map(PacketOpacity.isIn) == true
    {
      opaque.insert(stream.index)
    }
    guard let time = packet.pts.flatMap({ Timestamp(pts: $0, timeBase: stream.timeBase) }) else {
      return
    }
    let at = time.nanoseconds
    var span =
      spans[stream.index]
      ?? TrackSpan(
        track: stream.index, first: at, last: at, codec: stream.codec, width: stream.width,
        height: stream.height)
    (span.first, span.last) = (min(span.first, at), max(span.last, at))
    spans[stream.index] = span
  }

  /// The file was read to its end. Only then the ends of its streams are known.
  mutating func end() { hasEnded = true }

  func remarks(isCopied: Bool) -> [String] {
    // By number: the order of a Set and a Dictionary differs from run to run.
    let opacity = opaque.sorted().filter { recorded.contains($0) && !isCopied }.map {
      "stream \($0): the frames have opacity, which is not decoded: they are recorded opaque"
    }
    guard hasEnded, streams.count > recorded.count else { return opacity }
    return opacity
      + TrackSpan.successions(
        spans.keys.sorted().compactMap { spans[$0] }, isTransport: isTransport,
        advice: late.isEmpty
          ? "it is not recorded; record it, too: --track all"
          : "it is not recorded; 'retake import' imports it, too")
  }
}
