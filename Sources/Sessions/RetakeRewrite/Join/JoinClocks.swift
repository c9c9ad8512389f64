import Foundation
import RetakeBuffers
import RetakeCore
import RetakeSensors
import RetakeSession

/// Compares the clocks of two sessions.
struct JoinClocks {
  let first: SessionReader
  let second: SessionReader
  let report: @Sendable (SessionCheck.Progress) -> Bool

  /// Frames whose brightness is measured, from the first on: an hour and more.
  private static let framesMax = 200_000

  func fit(_ method: SessionJoin.Method) throws -> ClockFit {
    switch method {
    case .offset(let offset, let drift):
      return ClockFit(
        offsetNanoseconds: offset, driftPPM: drift, confidence: 1, observations: 0)
    case .wall: return try wall()
    case .audio: return try audio()
    case .flash: return try flash()
    }
  }

  private func notAligned(_ method: String, _ cause: String) -> SessionError {
    // Only recordings in real time say when they began.
    let areDated = [first, second].allSatisfy { session in
      (try? session.index.store.meta(SessionDate.fact)) != nil
    }
    return .notAligned(
      sessions: [first.folder.path, second.folder.path], method: method, cause: cause,
      ways: ["audio", "flash"] + (areDated ? ["wall"] : []))
  }

  /// Compares the wall clock times at which the recorders began their time lines.
  private func wall() throws -> ClockFit {
    func start(_ session: SessionReader) throws -> (Int64, uncertainty: Int64) {
      let store = session.index.store
      guard let start = try store.meta(SessionDate.fact).flatMap({ Int64($0) }) else {
        throw notAligned(
          "wall",
          "\(session.folder.name) does not say when it began: only recordings in real time do")
      }
      let uncertainty = try store.meta(SessionDate.uncertaintyFact).flatMap { Int64($0) }
      return (start, abs(uncertainty ?? 0))
    }
    let (one, two) = (try start(first), try start(second))
    let (offset, overflow) = two.0.subtractingReportingOverflow(one.0)
    guard !overflow, abs(offset) < 1 << 60 else {
      throw notAligned("wall", "they began years apart")
    }
    // Two readings of one machine's clock are as exact as their uncertainties. The clocks of two
    // machines are some milliseconds apart even with NTP, which cannot be detected here.
    let doubt = Double(one.uncertainty &+ two.uncertainty) / 1e9
    return ClockFit(
      offsetNanoseconds: offset, driftPPM: 0, confidence: max(0, min(1, 1 - doubt)),
      observations: 1)
  }

  private func audio() throws -> ClockFit {
    let (one, two) = (try sound(first), try sound(second))
    let silent = zip([first, second], [one, two]).filter { $1.isSilent }.map { $0.0.folder.name }
    guard silent.isEmpty else {
      throw notAligned("audio", "the sound of \(silent.joined(separator: " and ")) is silent")
    }
    switch SoundAlignment(one, two).answer() {
    case .fit(let fit): return fit
    case .nothing: throw notAligned("audio", "the sound of the two sessions does not match")
    case .repeats:
      throw notAligned(
        "audio",
        "the sound repeats, like a tone, a hum or a regular beep: it fits at several offsets, and "
          + "the right offset is unknown")
    }
  }

  private func sound(_ session: SessionReader) throws -> SoundTrack {
    // A recording has images only, and a trimmed or optimized copy as well.
    guard let file = session.mediaFiles().first, session.index.segments.count > 0 else {
      throw SessionError.noFrames(file: session.folder.path)
    }
    do {
      return try SoundTrack(file: try path(of: file, in: session)) {
        report(SessionCheck.Progress(done: 0, total: 0))
      }
    } catch let error as SensorError {
      switch error {
      case .interrupted: throw SessionError.interrupted
      case .unreadable(_, let cause):
        throw notAligned("audio", "\(session.folder.name): \(cause)")
      case .noSamples: throw notAligned("audio", "\(session.folder.name) has no sound")
      default: throw error
      }
    }
  }

  private func path(of file: String, in session: SessionReader) throws -> String {
    do {
      return try session.folder.file(file)
    } catch let error as SessionError {
      throw SensorError.unreadable(file: file, cause: error.message)
    }
  }

  private func flash() throws -> ClockFit {
    let (one, two) = (try levels(first), try levels(second))
    guard let fit = FlashAlignment(one, two).fit() else {
      throw notAligned("flash", "no lights go on or off in both")
    }
    return fit
  }

  /// The mean luma of each frame of a session's first track.
  private func levels(_ session: SessionReader) throws -> [FlashAlignment.Level] {
    guard let track = session.tracks.first else { return [] }
    var levels: [FlashAlignment.Level] = []
    let total = min(Self.framesMax, track.frameCount)
    for sequence in 0..<total {
      let id = FrameID(track: track.track, sequence: sequence)
      guard let row = try session.index.frame(id), row.cause == nil, row.packet != nil else {
        continue
      }
      let frame = try session.frame(id)
      levels.append(
        FlashAlignment.Level(
          time: Double(row.ptsNanoseconds) / 1e9, brightness: Self.brightness(frame)))
      guard report(SessionCheck.Progress(done: sequence, total: total)) else {
        throw SessionError.interrupted
      }
    }
    return levels.sorted { $0.time < $1.time }
  }

  private static func brightness(_ frame: Frame) -> Double {
    // The first plane: luma, or all colors of an RGB image in turns.
    let bytes = frame.bytes(of: 0)
    let bits = frame.format.bitsPerSample
    guard bits > 8 else {
      return Double(bytes.reduce(0) { $0 + Int($1) }) / Double(max(1, bytes.count))
    }
    // Words of two bytes, the lower one first, in levels of 8 bits.
    var sum = 0
    for (place, byte) in bytes.enumerated() { sum += place % 2 == 0 ? Int(byte) : Int(byte) << 8 }
    return Double(sum) / Double(max(1, bytes.count / 2)) / Double(1 << (bits - 8))
  }
}
