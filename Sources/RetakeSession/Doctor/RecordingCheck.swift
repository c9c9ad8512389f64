import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// What became of a recording that was never closed: its log, and media that no row speaks of.
struct RecordingCheck {
  let reader: SessionReader

  private var store: StoreReader { reader.index.store }

  func run(_ notes: inout DoctorNotes) {
    let isLive = !store.isClosed && RecorderLock.isHeld(reader.folder.lock)
    // Somebody may be in the middle of a frame.
    if !isLive, let damage = WriteAheadLog.damage(ofDatabase: reader.folder.database) {
      notes.add(
        damage.isCut ? .warning : .error, "log", damage.text, file: "session.sqlite-wal",
        advice: notes.rebuildAdvice)
    }
    guard !store.isClosed else { return }
    let last = (try? store.lastCommit().ordinal) ?? 0
    if isLive {
      notes.add(.note, "recording", "it is being recorded; commit \(last) is the last so far")
      return
    }
    if store.hasJournal {
      notes.add(
        .warning, "open", "the recording was never closed; commit \(last) is the last",
        advice: "Close it: retake session recover \(reader.folder.path)")
    } else {
      notes.add(
        .error, "log",
        "the recording was never closed, and its write-ahead log session.sqlite-wal is gone: "
          + "all rows after commit \(last) are lost with it",
        file: "session.sqlite-wal", advice: notes.rebuildAdvice)
    }
    checkTails(&notes)
  }

  /// Media behind the last commit. A crash leaves a second of it at most; more means that commits
  /// are missing.
  private func checkTails(_ notes: inout DoctorNotes) {
    let named = Set(reader.mediaFiles())
    for name in Set(reader.folder.mediaOnDisk).union(named).sorted() {
      guard let file = try? reader.index.file(name) else { continue }
      let segments = reader.index.segments.values.filter { $0.file == name }
      let committed = segments.map(\.bytes).max() ?? 0
      guard file.size > committed else { continue }
      let tail = packets(behind: segments.map(\.index), of: file)
      let seconds = Double(tail.milliseconds) / 1_000
      let isLong = tail.milliseconds > Self.crashMillisecondsMax
      notes.add(
        isLong ? .error : .note, "tail",
        "\(file.size - committed) bytes of \(name) came after the last commit: "
          + "\(tail.count) packets, \(seconds) s"
          + (isLong ? ", more than a crash explains; rows are missing" : ""),
        file: name, advice: isLong ? notes.rebuildAdvice : nil)
    }
  }

  private static let crashMillisecondsMax: Int64 = 1_500

  /// How many packets a file has behind the committed ones, and from the last of these to the end.
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
    while let packet = try? demuxer.nextPacket() {
      count += 1
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
