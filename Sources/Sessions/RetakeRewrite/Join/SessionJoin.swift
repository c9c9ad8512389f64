import Foundation
package import RetakeCore
import RetakeSensors
package import RetakeSession

/// Makes one session of two: the frames of two cameras on one clock.
///
/// The first session keeps its times and the numbers of its tracks. The times of the second session
/// are moved onto the clock of the first, by an offset and a drift; its tracks get the numbers
/// after them.
package struct SessionJoin: Sendable {
  /// The evidence for comparing the clocks.
  package enum Method: Hashable, Sendable {
    /// The wall clocks of the recorders.
    case wall
    /// The sound of both.
    case audio
    /// Lights that both saw go on and off.
    case flash
    /// A known offset in nanoseconds, and a known drift in parts per million.
    case offset(Int64, driftPPM: Double)

    package var name: String {
      switch self {
      case .wall: "wall"
      case .audio: "audio"
      case .flash: "flash"
      case .offset: "offset"
      }
    }
  }

  /// The offset and the drift of the second session's clock against the first session's clock.
  package struct Alignment: Hashable, Sendable, Codable {
    package var method: String
    /// The time on the first clock when the second clock shows zero.
    package var offsetNanoseconds: Int64
    package var driftPPM: Double
    /// From 0 to 1.
    package var confidence: Double
    /// Pieces of sound, or changes of light, that agree; 1 for the wall clocks, and 0 for a known
    /// offset.
    package var observations: Int
  }

  package struct Result: Hashable, Sendable, Codable {
    package var alignment: Alignment
    /// nil if only the clocks were compared.
    package var path: String?
    package var frames: Int?
    /// By the number in the joined session: the session and its own number.
    package var tracks: [Track]?
    package var sessionDigest: Digest128?
    /// Nil without a remark.
    package var notes: [String]?
  }

  package struct Track: Hashable, Sendable, Codable {
    package var track: Int
    package var session: String
    package var original: Int
  }

  /// The confidence from which sessions are joined without being told to.
  package static let confidenceMin = 0.5

  let first: SessionFolder
  let second: SessionFolder
  let method: Method
  let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameter report: Called with the progress; returning false stops the join, which then
  ///   removes its files.
  package init(
    _ first: String, _ second: String, method: Method,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    self.first = SessionFolder(path: first)
    self.second = SessionFolder(path: second)
    self.method = method
    self.report = report
  }

  /// Compares the clocks, without making a session.
  ///
  /// - Throws: `SessionError.notAligned`, and the errors of sessions that cannot be read.
  package func compare() throws -> Result {
    let (one, two, fit) = try opened()
    return Result(alignment: alignment(fit), notes: Self.chapters(one, two).map { [$0] })
  }

  /// Makes the joined session.
  ///
  /// - Parameter isForced: Join even if the confidence is low.
  /// - Throws: As `compare()`; a failed join removes its files.
  package func run(to target: SessionTarget, link: Bool = false, isForced: Bool = false) throws
    -> Result
  {
    let (one, two, fit) = try opened()
    let alignment = alignment(fit)
    guard isForced || fit.confidence >= Self.confidenceMin else {
      throw SessionError.notAligned(
        sessions: [first.path, second.path], method: method.name,
        cause: "the confidence is \(Self.rounded(fit.confidence)), below "
          + "\(Self.confidenceMin), which --force ignores")
    }
    for part in [one, two] {
      try SessionClosing(folder: part.folder, report: { _ in true }).requireIntact(part)
    }
    let destination = try target.folder(for: first)
    let rows = JoinRows(first: one, second: two, fit: fit, alignment: alignment)
    let notes = try rows.notes()
    let built = try BuiltSession(destination) { site in
      try rows.bring(to: site, link: link, report: report)
      try rows.write(to: site.folder.database)
      try site.write(notes, to: site.folder.notes)
    }
    return Result(
      alignment: alignment, path: destination.path, frames: built.frames, tracks: rows.tracks,
      sessionDigest: built.digest,
      notes: Self.chapters(one, two).map { [$0] })
  }

  private func opened() throws -> (SessionReader, SessionReader, ClockFit) {
    let options = ReadOptions(framesPerChain: nil)
    let one = try SessionReader(first, options: options, trust: .checked)
    let two = try SessionReader(second, options: options, trust: .checked)
    guard one.folder.path != two.folder.path else {
      throw SessionError.notAligned(
        sessions: [first.path], method: method.name, cause: "both are the same session")
    }
    try one.requireWholeRows()
    try two.requireWholeRows()
    do {
      let fit = try JoinClocks(first: one, second: two, report: report).fit(method)
      return (one, two, fit)
    } catch let error as SessionError {
      guard case .notAligned = error, let chapters = Self.chapters(one, two) else { throw error }
      var facts = error.facts
      facts.advice = chapters
      throw facts
    }
  }

  /// The advice for sessions whose files look like chapters of one recording; nil for others. A
  /// join puts their frames side by side, and does not append them.
  private static func chapters(_ one: SessionReader, _ two: SessionReader) -> String? {
    let sources = [one, two].compactMap { try? $0.index.store.meta("source") }
    guard let group = ChapterName.groups(of: sources).first else { return nil }
    return
      "\(group.joined(separator: " and ")) look like chapters of one recording, and a join is for "
      + "two cameras; to make one track of them: retake import "
      + group.map(\.shellWord).joined(separator: " ") + " --append"
  }

  private func alignment(_ fit: ClockFit) -> Alignment {
    Alignment(
      method: method.name, offsetNanoseconds: fit.offsetNanoseconds,
      driftPPM: Self.rounded(fit.driftPPM), confidence: Self.rounded(fit.confidence),
      observations: fit.observations)
  }

  /// To three places, as it is printed and stored.
  private static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}
