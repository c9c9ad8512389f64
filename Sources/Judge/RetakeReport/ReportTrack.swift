package import RetakeCore

/// A track that the case reads.
package struct ReportTrack: Hashable, Sendable, Codable {
  package var track: Int
  /// In pixels. Boxes are given in these pixels, no matter where in the pipeline they were found.
  package var width: Int
  package var height: Int
  package var frames: Int
  package var timeBase: TimeBase?

  package init(track: Int, width: Int, height: Int, frames: Int, timeBase: TimeBase? = nil) {
    self.track = track
    self.width = width
    self.height = height
    self.frames = frames
    self.timeBase = timeBase
  }

  private enum CodingKeys: String, CodingKey { case track, width, height, frames, timeBase }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    track = try container.decode(Int.self, forKey: .track)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    frames = try container.decode(Int.self, forKey: .frames)
    // Only shown, so an invalid time base does not make the report unreadable.
    timeBase = try container.decodeIfPresent(String.self, forKey: .timeBase)
      .flatMap { TimeBase(parsing: $0) }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(track, forKey: .track)
    try container.encode(width, forKey: .width)
    try container.encode(height, forKey: .height)
    try container.encode(frames, forKey: .frames)
    // The schema has a string such as 1/90000, not an object of two numbers.
    try container.encodeIfPresent(timeBase?.description, forKey: .timeBase)
  }
}
