import RetakeBuffers
import RetakeCore
import RetakeGraph

/// Identifies the frame of an answer; the answer must repeat it.
struct FrameName: Hashable, CustomStringConvertible {
  var sequence: Int
  /// Index inside a forEach.
  var item: Int?

  init(_ context: StageContext) { (sequence, item) = (context.frame.sequence, context.item) }

  /// `nil` if the message is not an answer.
  init?(answerIn message: JSONValue) {
    guard case .integer(let sequence)? = message["sequence"] else { return nil }
    self.sequence = Int(sequence)
    switch message["item"] {
    case nil, .null?: item = nil
    case .integer(let number)?: item = Int(number)
    default: return nil
    }
  }

  var description: String { item.map { "\(sequence), item \($0)" } ?? "\(sequence)" }
}

/// The message that sends a frame to a program.
struct FrameMessage {
  /// Where a plane is in the slot.
  struct Plane {
    var offset: Int
    /// Bytes from one row to the next.
    var stride: Int
  }

  /// Where a frame is in the shared memory.
  struct Planes {
    var slot: Int
    var places: [Plane]
  }

  /// JSON in canonical form.
  let text: String

  /// - Parameters:
  ///   - now: Virtual time, for a whole program.
  ///   - bytes: How many bytes of pixels follow the message, if they are not in shared memory.
  ///   - batch: How many frames of a batch come, with this frame; `nil` outside of a batch.
  init(
    _ frame: Frame, _ context: StageContext, planes: Planes, now: Int64? = nil, bytes: Int? = nil,
    batch: Int? = nil
  ) {
    let places = planes.places.map { "[\($0.offset),\($0.stride)]" }.joined(separator: ",")
    let sensors = context.sensors.isEmpty ? "" : #""sensors":\#(Self.sensors(context.sensors)),"#
    // Written directly: it is sent for each frame, and no other string in it has to be escaped.
    let track = now == nil ? nil : context.run?.tracks.first { $0.track == context.frame.track }
    text =
      #"{"frame":{"# + (batch.map { #""batch":\#($0),"# } ?? "")
      + (bytes.map { #""bytes":\#($0),"# } ?? "")
      + #""format":"\#(frame.format.rawValue)","# + (track.map(Self.length) ?? "")
      + #""height":\#(frame.height),"#
      + #""item":\#(context.item.map(String.init) ?? "null"),"#
      + (context.isKeyFrame.map { #""keyFrame":\#($0),"# } ?? "")
      + #""matrix":"\#(frame.matrix.rawValue)","#
      + (now.map { #""nowNs":\#($0),"# } ?? "")
      + #""planes":[\#(places)],"ptsNs":\#(context.timestamp.nanoseconds),"#
      + #""range":"\#(frame.range.rawValue)","#
      + (track.map { #""rotation":\#($0.rotationDegrees),"# } ?? "") + sensors
      + #""sequence":\#(context.frame.sequence),"#
      + #""slot":\#(planes.slot),"#
      + #""track":\#(context.frame.track),"width":\#(frame.width)}}"#
  }

  /// The length of the track, for programs that are pipelines, in a replay.
  private static func length(_ track: RunTrack) -> String {
    let rate = JSONValue.number(track.frameRate).canonicalText
    return #""frameCount":\#(track.frameCount),"frameRate":\#(rate),"#
  }

  // MARK: Sensors

  private static func sensors(_ readings: [SensorReading]) -> String {
    let parts = readings.map { reading in
      let track = reading.track
      let channels = JSONValue.array(track.channels.map(JSONValue.string)).canonicalText
      return #"{"channels":\#(channels),"#
        + #""latest":\#(reading.latest.map(sample) ?? "null"),"#
        + #""sensor":\#(JSONValue.string(track.name).canonicalText),"#
        + #""unit":\#(JSONValue.string(track.unit).canonicalText),"#
        + #""window":[\#(reading.window.map(sample).joined(separator: ","))]}"#
    }
    return "[\(parts.joined(separator: ","))]"
  }

  /// `[time, [values]]`; JSON has no NaN, which is `null`.
  private static func sample(_ sample: SensorSample) -> String {
    let values = sample.values.map {
      $0.isFinite ? JSONValue.number($0).canonicalText : "null"
    }
    return "[\(sample.time.nanoseconds),[\(values.joined(separator: ","))]]"
  }
}
