import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// Checks a recording that was never closed: its log, and media that no row refers to.
struct RecordingCheck {
  let reader: SessionReader

  private var store: StoreReader { reader.index.store }

  func run(_ notes: inout CheckNotes) {
    let last = (try? store.lastCommit().ordinal) ?? 0
    let isLive = !store.isClosed && RecorderLock.isHeld(reader.folder.lock)
    // A running recorder may be in the middle of writing a frame of the log.
    if !isLive, let damage = WriteAheadLog.damage(ofDatabase: reader.folder.database) {
      notes.add(
        damage.isCut ? .warning : .error, "log",
        damage.isCut ? damage.text + "; the rows after commit \(last) are lost" : damage.text,
        file: "session.sqlite-wal",
        // An open recording has the advice of `open`, below.
        advice: damage.isCut ? store.isClosed ? closeAdvice : nil : notes.rebuildAdvice)
    }
    guard !store.isClosed else { return }
    if isLive {
      notes.add(.note, "recording", "it is being recorded; commit \(last) is the last so far")
      return
    }
    let tails = tails()
    let lost = tails.reduce(0) { $0 + $1.packets }
    if !store.hasJournal, lost > 0 {
      notes.add(
        .error, "log",
        "the recording was never closed, and its write-ahead log session.sqlite-wal is gone: "
          + "\(counted(lost, "packet")) came after commit \(last), and "
          + "\(lost == 1 ? "its row is" : "their rows are") lost with it",
        file: "session.sqlite-wal", advice: notes.rebuildAdvice)
    } else {
      // A recorder that ends with a database error leaves no log, but everything that was
      // committed.
      notes.add(
        .warning, "open", "the recording was never closed; commit \(last) is the last",
        advice: closeAdvice)
    }
    for tail in tails { note(tail, &notes) }
  }

  private var closeAdvice: String {
    "Close it: retake session recover \(reader.folder.path.shellWord)"
  }

  /// Media after the last commit.
  private struct Tail {
    var file: String
    var bytes: Int64
    var packets: Int
    var milliseconds: Int64
  }

  private func tails() -> [Tail] {
    let named = Set(reader.mediaFiles())
    // A file that no row names may be the last file that the recorder wrote.
    return Set(reader.folder.mediaOnDisk).union(named).sorted().compactMap { name in
      guard let file = try? reader.index.file(name) else { return nil }
      let indexedBytes = reader.index.mediaSizes[name]?.bytes ?? 0
      guard file.size > indexedBytes else { return nil }
      let segments = reader.index.segments.values.filter { $0.file == name }
      let found = packets(behind: segments.map(\.index), of: file)
      return Tail(
        file: name, bytes: file.size - indexedBytes, packets: found.count,
        milliseconds: found.milliseconds)
    }
  }

  /// A crash loses at most one commit; a longer tail means that commits are missing.
  private func note(_ tail: Tail, _ notes: inout CheckNotes) {
    let isLong =
      isPaced
      ? tail.milliseconds > Self.crashMillisecondsMax : tail.packets > Self.crashPacketsMax
    let seconds = Double(tail.milliseconds) / 1_000
    notes.add(
      isLong ? .error : .note, "tail",
      "\(ByteText.of(tail.bytes)) of \(tail.file) came after the last commit: "
        + "\(counted(tail.packets, "packet")), \(seconds) s"
        + (isLong ? ", more than a crash explains; rows are missing" : "")
        + (tail.packets > 0 ? "; session recover adds their rows" : ""),
      file: tail.file, advice: isLong ? notes.rebuildAdvice : nil)
  }

  // docs/sessions.md, `tail`: far above the 350 ms in which a recorder commits (docs/recording.md).
  private static let crashMillisecondsMax: Int64 = 1_500
  /// A commit has at most this many rows, and another one may be in progress.
  private static let crashPacketsMax = 2 * 1_024

  /// An unpaced recording's time is unrelated to the time it took to record: there may be hours of
  /// it between two commits.
  private var isPaced: Bool { (try? store.meta("pace")) != "unpaced" }

  /// Counts a file's packets after the committed packets, and measures the time they span.
  private func packets(
    behind segments: [Int], of file: MediaFile
  ) -> (count: Int, milliseconds: Int64) {
    let committed = segments.reduce(0) { total, segment in
      total + ((try? store.packetCount(segment: segment)) ?? 0)
    }
    guard let demuxer = try? MediaDemuxer(path: file.path),
      let stream = try? demuxer.videoStream()
    else { return (0, 0) }
    demuxer.select([stream.index])
    var (count, times) = (0, [Int64]())
    // A packet that cannot be read ends the tail: a crash may have cut it.
    while let packet = try? demuxer.nextPacket() {
      count += 1
      // From the last committed packet on, so that the span begins at the commit.
      if count >= committed, let pts = packet.pts,
        let time = Timestamp(pts: pts, timeBase: stream.timeBase)
      {
        times.append(time.nanoseconds)
      }
    }
    let span = (times.max() ?? 0) &- (times.min() ?? 0)
    return (max(0, count - committed), span / 1_000_000)
  }
}
