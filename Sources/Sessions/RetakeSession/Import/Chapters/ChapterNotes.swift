import RetakeCore
import RetakeMedia

/// Sentences about the places where the chapters of a recording meet.
struct ChapterNotes {
  /// The names of the files.
  let names: [String]
  let overlap: ImportOptions.Overlap
  let boundaries: [ChapterIndexing.Boundary]
  let track: Int

  var texts: [String] {
    zip(boundaries, boundaries.indices).flatMap { boundary, place in
      texts(boundary, from: names[place], to: names[place + 1])
    } + nothingRepeats
  }

  /// The note about a boundary, for another session with the frames.
  ///
  /// - Parameter place: As in `FootageFact.notes`.
  /// - Returns: nil for other notes, and for a boundary that is not in the other session.
  static func moved(
    _ note: String, place: (FrameID) throws -> (id: FrameID, nanoseconds: Int64)?
  ) rethrows -> String? {
    guard let match = note.firstMatch(of: /begins at frame (\d+):(\d+) \([-.\d]+ s\)/),
      let track = Int(match.1), let frame = Int(match.2),
      // The first frame of a session is no boundary in it.
      let found = try place(FrameID(track: track, sequence: frame)), found.id.sequence > 0
    else { return nil }
    var moved = note
    moved.replaceSubrange(
      match.range,
      with: "begins at frame \(found.id) "
        + "(\(FixedPoint.seconds(found.nanoseconds, digits: 3)) s)")
    return moved.replacing(/, to \d+:(\d+), are the last/) { last in
      ", to \(found.id.track):\((Int(last.1) ?? frame) - frame + found.id.sequence), are the last"
    }
  }

  /// The file that begins at the boundary of a note; nil for other notes.
  static func file(beginningIn note: String) -> Substring? {
    note.firstRange(of: " begins at frame ").map { note[..<$0.lowerBound] }
  }

  /// Whether a note is about the place before a file: a missing chapter, or a doubt.
  static func isBefore(_ file: Substring, _ note: String) -> Bool {
    note.hasSuffix(" and \(file)") || note.contains(" and \(file): ")
  }

  private func texts(
    _ boundary: ChapterIndexing.Boundary, from before: String, to name: String
  ) -> [String] {
    let start =
      "\(name) begins at frame \(track):\(boundary.frame) "
      + "(\(FixedPoint.seconds(boundary.nanoseconds, digits: 3)) s)"
    guard boundary.repeated == 0 else {
      return [start + ": " + repeated(boundary, before)]
    }
    let doubt = boundary.link.doubt.map { ["\(before) and \(name): \($0)"] } ?? []
    return [start + ", " + place(boundary.link, after: before)] + doubt
  }

  private func repeated(_ boundary: ChapterIndexing.Boundary, _ before: String) -> String {
    let count = boundary.repeated
    guard overlap == .keep else {
      return "its first \(counted(count, "frame")) were the last of \(before) again, and were left "
        + "out (--overlap once)"
    }
    let last = boundary.frame + count - 1
    return "its first \(counted(count, "frame")), to \(track):\(last), are the last of \(before) "
      + "again, and are kept; --overlap once leaves them out"
  }

  private func place(_ link: ChapterLink, after before: String) -> String {
    guard !link.isGap else {
      let gap = FixedPoint.seconds(link.gapNanoseconds, digits: 3)
      return "after a gap of \(gap) s behind \(before), as \(Self.evidence(link)) show"
    }
    guard !link.isInterleaved else {
      return
        "cut from \(before) between pictures that depend on each other: the times continue, as "
        + "\(Self.evidence(link)) show"
    }
    guard link.evidence != .none else {
      return
        "one frame after the end of \(before): assumed, because the files do not say when they "
        + "begin"
    }
    return "one frame after the end of \(before), as \(Self.evidence(link)) show"
  }

  private static func evidence(_ link: ChapterLink) -> String {
    switch link.evidence {
    case .times, .none: "the times in the files"
    case .timecode: "the time codes"
    case .samples: "the counts of the telemetry's samples"
    case .created: "the creation times (to 2 s)"
    }
  }

  /// The user asked for frames that repeat.
  private var nothingRepeats: [String] {
    guard overlap == .once, !boundaries.contains(where: { $0.repeated > 0 }) else { return [] }
    return ["no file begins with the last frames of the file before: --overlap once left out none"]
  }
}
