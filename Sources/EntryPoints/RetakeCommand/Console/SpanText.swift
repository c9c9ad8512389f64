import Retake

/// The length of a track: `150 frames, 5.96 s, 25 frames per second`.
enum SpanText {
  static func of(_ track: SessionInfo.Track) -> String {
    let seconds = rounded(Double(track.durationNanoseconds) / 1e9)
    let rate = track.framesPerSecond.map { ", \(rounded($0)) frames per second" } ?? ""
    return "\(counted(track.frames, "frame")), \(seconds) s\(rate)"
  }

  /// With at most three decimals; an integer has no decimals.
  private static func rounded(_ value: Double) -> String {
    let number = (value * 1_000).rounded() / 1_000
    return number == number.rounded() ? "\(Int(number))" : "\(number)"
  }
}
