public import RetakeCore

/// Describes a source.
public struct SourceDescription: Hashable, Sendable {
  /// Human-readable, such as `synthetic:figures`.
  public var name: String
  /// At least one; the session's tracks have these numbers, from 0.
  public var tracks: [SourceTrack]
  /// Whether frames arrive at their own time, whether or not they are requested. A live source can
  /// be opened only once at a time.
  public var isLive: Bool

  /// A source with one track. `framesPerSecond` is the track's nominal rate; nil when unknown.
  public init(
    name: String, timeBase: TimeBase, framesPerSecond: Double? = nil, isLive: Bool = false
  ) {
    self.init(
      name: name, tracks: [SourceTrack(timeBase: timeBase, framesPerSecond: framesPerSecond)],
      isLive: isLive)
  }

  /// `tracks` must have at least one element, or the process ends.
  public init(name: String, tracks: [SourceTrack], isLive: Bool = false) {
    precondition(!tracks.isEmpty, "a source has a track")
    self.name = name
    self.tracks = tracks
    self.isLive = isLive
  }

  /// Total of all tracks; nil when the rate of one of them is unknown.
  package var framesPerSecond: Double? {
    tracks.reduce(0) { sum, track in
      sum.flatMap { sum in track.framesPerSecond.map { sum + $0 } }
    }
  }
}
