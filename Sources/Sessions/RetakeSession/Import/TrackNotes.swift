import RetakeCore
package import RetakeMedia

/// Remarks about one imported track: packets without a picture, and times that are counted, missing
/// or all the same.
package struct TrackNotes {
  private let stream: MediaStream
  private let rows: TrackRows
  private let file: String
  private let hasTimes: Bool

  /// - Parameters:
  ///   - file: Named by the commands.
  ///   - hasTimes: Whether the times are from a separate file.
  package init(_ stream: MediaStream, _ rows: TrackRows, file: String, hasTimes: Bool) {
    (self.stream, self.rows, self.file, self.hasTimes) = (stream, rows, file, hasTimes)
  }

  var texts: [String] {
    ([hasTimes ? nil : Self.timing(of: stream, file: file), sameTime, gaps].compactMap(\.self)
      + withoutImage)
      .map { "track \(rows.track): \($0)" }
  }

  /// Only the remarks about packets without an image.
  package var undecoded: [String] { withoutImage.map { "track \(rows.track): \($0)" } }

  /// A sentence about the times of a stream without timestamps; nil for any other stream.
  package static func timing(of stream: MediaStream, file: String) -> String? {
    guard let rate = stream.averageFrameRate else { return nil }
    switch stream.timing {
    case .container: return nil
    case .rateInStream:
      return "the times are counted by the rate that the stream names, \(rate.text) a second; if "
        + "they are in a file: retake import \(file.shellWord) --times TIMES"
    case .rateAssumed:
      let name = file.shellWord
      // mkvmerge reads no raw Motion JPEG, and ffmpeg copies no raw stream with B frames.
      let rated =
        stream.codec == "mjpeg"
        ? "ffmpeg -f mjpeg -framerate N -i \(name) -c copy OUT.mkv"
        : "mkvmerge -o OUT.mkv --default-duration 0:Nfps \(name)"
      return guess(rate) + ". If you know the rate N: \(rated); if the times are in a file: "
        + "retake import \(name) --times TIMES"
    }
  }

  /// The note that a session keeps about a stream whose rate is assumed; nil for any other stream.
  /// An import's note about it begins with the same words.
  package static func assumedRate(of stream: MediaStream, track: Int) -> String? {
    guard stream.timing == .rateAssumed, let rate = stream.averageFrameRate else { return nil }
    return "track \(track): \(guess(rate))"
  }

  /// The note that a session keeps about a stream whose headers do not show each lost picture,
  /// although headers of its codec can; nil for any other stream.
  static func undecided(_ rows: TrackRows) -> String? {
    guard rows.facts.headers.isUndecided else { return nil }
    return "track \(rows.track): the times of its pictures have gaps or no constant distance, so "
      + "they do not show each lost image"
  }

  private static func guess(_ rate: FrameRate) -> String {
    "\(rate.text) a second is a guess: the stream has neither times nor a rate"
  }

  private var sameTime: String? {
    let frames = rows.timeline.frames
    guard frames.count > 1, let first = frames.first, let last = frames.last,
      first.nanoseconds == last.nanoseconds
    else { return nil }
    return "all \(frames.count) frames have the same time, and arrive at once. Set their times: "
      + "ffmpeg -i \(file.shellWord) -vf setpts=N/25/TB -fps_mode passthrough -c:v ffv1 OUT.mkv"
  }

  // MARK: Gaps

  /// More gaps are only counted.
  private static let gapsNamedMax = 4

  /// Only for codecs whose headers do not show a lost picture. The headers of other codecs show
  /// each lost picture.
  private var gaps: String? {
    guard StreamEvidence.isSilent(stream.codec), stream.timing == .container,
      // The session's times must equal the file's times.
      rows.timeline.places.isEmpty,
      let tick = Timestamp(pts: 1, timeBase: stream.timeBase)?.nanoseconds
    else { return nil }
    let frames = rows.timeline.frames
    let gaps = FrameGaps(count: frames.count, tick: tick) { frames[$0].nanoseconds }.gaps
    guard !gaps.isEmpty else { return nil }
    let named = gaps.prefix(Self.gapsNamedMax).map { gap in
      "\(counted(gap.missing, "frame")) after frame \(gap.frame)"
    }
    let more = gaps.count - named.count
    return "frames may be missing: " + named.joined(separator: ", ")
      + (more > 0 ? ", and at \(counted(more, "more place"))" : "")
      + "; \(stream.codec) does not show whether an image was lost"
  }

  // MARK: Packets without a picture

  /// A picture that is not coded has a few bytes in MPEG-4, and is not shown.
  private static let emptyBytesMax = 12
  /// If more than one packet in four has no picture, each packet has one field of a frame.
  private static let fieldShare = 4

  private var withoutImage: [String] {
    let facts = rows.facts
    let given = Set(facts.frames.indices.map { facts.frames.packet($0) })
    let refused = Set(facts.refused.map(\.packet))
    guard let first = given.min() else { return [] }
    let hidden = rows.packets.indices.filter {
      !given.contains($0) && rows.packets.flags($0).contains(.discard)
    }
    let empty = rows.packets.indices.filter {
      !given.contains($0) && !refused.contains($0)
        && rows.packets.flags($0).isDisjoint(with: [.discard, .corrupt])
    }
    let leading = empty.prefix { $0 < first }
    return [
      Self.hidden(hidden.count), Self.leading(leading.count),
      later(Array(empty.dropFirst(leading.count))),
    ].compactMap(\.self)
  }

  private static func hidden(_ count: Int) -> String? {
    guard count > 0 else { return nil }
    return "\(counted(count, "packet")) \(count == 1 ? "is" : "are") decoded and not shown, as the "
      + "container says (an edit list)"
  }

  private static func leading(_ count: Int) -> String? {
    guard count > 0 else { return nil }
    return "\(counted(count, "packet")) before the first key frame "
      + "\(count == 1 ? "decodes" : "decode") to no image"
  }

  private func later(_ empty: [Int]) -> String? {
    // Packets of these codecs may hold pictures that only later packets show.
    guard !MediaStream.mayHidePictures(stream.codec) else { return nil }
    let empty = empty.filter {
      stream.codec != "mpeg4" || rows.packets[$0].size > Self.emptyBytesMax
    }
    guard let first = empty.first, empty.count * Self.fieldShare <= rows.packets.count else {
      return nil
    }
    return empty.count == 1
      ? "packet \(first) decodes to no image"
      : "\(empty.count) packets decode to no image, the first of them packet \(first)"
  }
}

extension FrameRate {
  /// `25`, `29.97`.
  fileprivate var text: String {
    let thousandths = Int((framesPerSecond * 1_000).rounded())
    guard !thousandths.isMultiple(of: 1_000) else { return "\(thousandths / 1_000)" }
    let fraction = String(thousandths % 1_000 + 1_000).dropFirst()
    return "\(thousandths / 1_000).\(fraction)"
  }
}
