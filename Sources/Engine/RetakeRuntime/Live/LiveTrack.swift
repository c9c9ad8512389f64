public import RetakeBuffers
public import RetakeCore
import RetakeGraph

/// A track whose frames are pushed to a live pipeline.
public struct LiveTrack: Hashable, Sendable {
  /// The track number that source nodes refer to.
  public var track: Int
  /// The unit of the frames' `pts`.
  public var timeBase: TimeBase
  /// The format of the first frames. Stages that need another format get a `convert` before them.
  public var format: PixelFormat
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int

  /// A track whose frames have this size and format. By default it is track 0, and `pts` are
  /// nanoseconds.
  public init(
    track: Int = 0, timeBase: TimeBase = TimeBase(1, 1_000_000_000), format: PixelFormat,
    width: Int, height: Int
  ) {
    self.track = track
    self.timeBase = timeBase
    self.format = format
    self.width = width
    self.height = height
  }
}

/// The form that tracks have in a session's `run` table.
extension LiveTrack {
  package var json: JSONValue {
    .object([
      "track": .integer(Int64(track)), "format": .string(format.rawValue),
      "width": .integer(Int64(width)), "height": .integer(Int64(height)),
      "timeBase": .string("\(timeBase.numerator)/\(timeBase.denominator)"),
    ])
  }

  /// Reads the form that `json` writes; `nil` for anything else.
  package init?(json: JSONValue) {
    guard case .integer(let track) = json["track"], case .string(let word) = json["format"],
      let format = PixelFormat(rawValue: word), case .integer(let width) = json["width"],
      case .integer(let height) = json["height"], case .string(let base) = json["timeBase"],
      (1...65_535).contains(width), (1...65_535).contains(height), track >= 0
    else { return nil }
    let parts = base.split(separator: "/").map { Int32($0) }
    guard parts.count == 2, let numerator = parts[0], let denominator = parts[1],
      numerator > 0, denominator > 0
    else { return nil }
    self.init(
      track: Int(track), timeBase: TimeBase(numerator, denominator), format: format,
      width: Int(width), height: Int(height))
  }
}
