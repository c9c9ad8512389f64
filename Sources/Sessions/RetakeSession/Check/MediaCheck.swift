import RetakeCore
import RetakeMedia
import RetakeStore

/// Checks the media against the index: every packet and, in a deep check, every frame.
struct MediaCheck {
  let reader: SessionReader
  let report: @Sendable (SessionCheck.Progress) -> Bool

  /// Packets and frames may be large, so a stopped check ends after at most this many.
  private static let reportEvery = 16

  private func advice(allLost: Bool) -> String {
    reader.mediaAdvice + (allLost ? "" : "; all other frames replay")
  }

  /// - Returns: frames that can no longer be decoded.
  func checkPackets(_ notes: inout CheckNotes) throws -> Set<FrameID> {
    var counts: [Int: StoreReader.TrackCounts] = [:]
    for track in reader.index.tracks {
      counts[track] = try reader.index.store.counts(track: track)
    }
    // Up to the highest index, because missing rows are looked for, too.
    let total = counts.values.reduce(0) { $0 + $1.packetEnd }
    var suffering: Set<FrameID> = []
    for track in reader.index.tracks {
      guard let count = counts[track] else { continue }
      let damaged = try checkPackets(of: track, count.packetEnd, total: total, &notes)
      suffering.formUnion(try nameFrames(of: track, damaged: damaged, &notes))
      try checkRows(of: track, count, &notes)
    }
    return suffering
  }

  /// - Returns: the damaged packets, in ascending order.
  private func checkPackets(
    of track: Int, _ end: Int, total: Int, _ notes: inout CheckNotes
  ) throws -> [Int] {
    var count = notes.packetsChecked
    let check = PacketCheck(reader: reader, track: track)
    let damages = try check.damages(before: end) {
      _ in
      count += 1
      try tell(count, of: total)
    }
    notes.packetsChecked = count
    try noteUnnamed(check.headers.damages, track: track, &notes)
    let numbers = PacketCheck.numbers(damages)
    let advice = advice(allLost: numbers.count == end)
    for damage in PacketCheck.folded(damages) { note(damage, track: track, advice, &notes) }
    return numbers
  }

  /// Reports frames that the session calls good although the headers of their packets show damage,
  /// as in sessions that were made by a version that did not read the headers.
  private func noteUnnamed(
    _ evidence: [Int: StreamDamage], track: Int, _ notes: inout CheckNotes
  ) throws {
    var unnamed: [(sequence: Int, cause: String)] = []
    for packet in evidence.keys.sorted() {
      guard let id = reader.index.frame(ofPacket: packet, of: track),
        let frame = try reader.index.frame(id), frame.cause == nil
      else { continue }
      unnamed.append((id.sequence, evidence[packet]?.rawValue ?? ""))
    }
    for run in FrameStretch.stretches(unnamed.sorted { $0.sequence < $1.sequence }) {
      notes.add(
        .warning, "reference",
        Self.text(run, track: track) + " show damage that the session does not name: \(run.cause)",
        track: track, frames: run.range(of: track),
        advice: "Import or record it again, and accept no golden of these frames")
    }
  }

  private func note(
    _ run: PacketCheck.Damage, track: Int, _ advice: String, _ notes: inout CheckNotes
  ) {
    let frame = reader.index.frame(ofPacket: run.packets.lowerBound, of: track)
    let (first, last) = (run.packets.lowerBound, run.packets.upperBound)
    let named = frame.map { " (frame \($0))" } ?? ""
    let message: String
    if first == last {
      message = "packet \(first) of track \(track)\(named) \(run.cause)"
    } else if run.topic == "media" {
      // The cause applies to all of them, because it is the file's.
      let last = reader.index.frame(ofPacket: last, of: track).map { " to \($0)" } ?? ""
      message =
        "\(counted(run.packets.count, "packet")) of track \(track)"
        + (frame.map { ", from frame \($0)\(last)," } ?? "") + " \(run.plural)"
    } else {
      message = "packets \(first) to \(last) of track \(track), the first one\(named) \(run.cause)"
    }
    notes.add(
      .error, run.topic, message, file: run.file, track: track, packet: first, frame: frame,
      advice: advice)
  }

  /// Reports the frames that cannot be decoded because of the damaged packets, and the frames that
  /// could never be decoded.
  private func nameFrames(
    of track: Int, damaged: [Int], _ notes: inout CheckNotes
  ) throws -> Set<FrameID> {
    let rows =
      damaged.isEmpty
      ? [] : try DamagedFrames(reader: reader).frames(of: track, damaged: damaged)
    let end = try reader.index.store.counts(track: track).packetEnd
    for run in FrameStretch.stretches(rows.map { ($0.sequence, "") }) {
      notes.add(
        .error, "frame", Self.text(run, track: track) + " cannot be decoded without them",
        track: track, frames: run.range(of: track),
        advice: advice(allLost: damaged.count == end))
    }
    notes.damagedFrames += rows.count
    // Damage that the session itself records is a warning: the frame is as it was stored.
    let known = try DamagedFrames(reader: reader).known(of: track)
    for run in FrameStretch.stretches(known.map { ($0.sequence, $0.cause ?? "") }) {
      notes.add(
        .warning, "cause",
        Self.text(run, track: track) + " cannot be replayed, as the session says: \(run.cause)",
        track: track, frames: run.range(of: track))
    }
    notes.damagedFrames += known.count
    return Set(rows.map { FrameID(track: track, sequence: $0.sequence) })
  }

  private static func text(_ run: FrameStretch, track: Int) -> String {
    run.first == run.last
      ? "frame \(track):\(run.first)"
      : "frames \(track):\(run.first) to \(track):\(run.last) (\(run.last - run.first + 1))"
  }

  private func checkRows(
    of track: Int, _ count: StoreReader.TrackCounts, _ notes: inout CheckNotes
  ) throws {
    guard count.frameEnd > count.frames else { return }
    let missing = count.frameEnd - count.frames
    notes.add(
      .error, "gap",
      "\(counted(missing, "frame")) of track \(track) "
        + "\(missing == 1 ? "has" : "have") no row", track: track,
      advice: notes.rebuildAdvice)
  }

  /// Decodes each frame from its entry and compares it with its pixel hash; frames known to fail are
  /// skipped.
  func checkPixels(
    _ notes: inout CheckNotes, except failing: Set<FrameID>, losses: [DecodingPlace.Loss],
    willDecode: (DecodingPlace) throws -> Void
  ) throws {
    let total = reader.tracks.reduce(0) { $0 + $1.frameCount }
    for track in reader.tracks {
      let check = EntryCheck(reader: reader, track: track.track)
      var frames = try check.frames(except: failing)
      // Frames without pixels were reported from their rows.
      notes.framesChecked += track.frameCount - frames.count
      for loss in losses {
        let group = frames.filter(loss.concerns)
        frames.removeAll(where: loss.concerns)
        try note(loss, of: group.map(\.id), &notes)
      }
      for frame in frames {
        try willDecode(DecodingPlace(frame: frame.id, entry: frame.picture.entry))
        do {
          try check.decode(frame)
        } catch let error as any RetakeError where !error.isAboutMemory {
          note(error, of: frame, &notes)
        }
        notes.framesChecked += 1
        try tell(notes.framesChecked, of: total)
      }
    }
  }

  private func note(
    _ error: any RetakeError, of frame: EntryCheck.Candidate, _ notes: inout CheckNotes
  ) {
    notes.damagedFrames += 1
    let entry = frame.hasEntry ? ", decoded from packet \(frame.picture.entry)," : ""
    notes.add(
      .error, "pixels",
      "frame \(frame.id)\(entry) does not come out as it was stored: "
        + (error.cause ?? error.message),
      track: frame.id.track, frame: frame.id, advice: error.advice)
  }

  private func note(
    _ loss: DecodingPlace.Loss, of frames: [FrameID], _ notes: inout CheckNotes
  ) throws {
    guard let first = frames.min(), let last = frames.max() else { return }
    notes.framesChecked += frames.count
    notes.damagedFrames += frames.count
    let (frame, entry) = (loss.place.frame, loss.place.entry)
    let segment = try reader.index.packet(track: frame.track, index: entry)?.segment
    let group =
      frames.count == 1
      ? "" : "; \(frames.count) frames, \(first) to \(last), depend on packet \(entry)"
    notes.add(
      .error, "crashed",
      "frame \(frame) ended the process that decoded it: \(loss.cause)\(group)",
      file: segment.flatMap { reader.index.segments[$0]?.file }, track: frame.track, packet: entry,
      frame: frame,
      advice: "Do not replay it: import a repaired copy of the file, and report the file to us if "
        + "you can. All other groups of pictures were decoded")
  }

  /// Adds a note for each footage note of the session, after the digests of its frames were
  /// checked.
  func noteFootage(_ notes: inout CheckNotes) throws {
    for note in try reader.footageNotes() { notes.add(.note, "footage", note) }
  }

  private func tell(_ done: Int, of total: Int) throws {
    guard done.isMultiple(of: Self.reportEvery) else { return }
    if !report(SessionCheck.Progress(done: done, total: total)) { throw SessionError.interrupted }
  }
}
