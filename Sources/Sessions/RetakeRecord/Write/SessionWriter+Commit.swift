import Foundation
import RetakeCore
import RetakeSession
import RetakeStore

/// Makes rows and media durable, and waits for a database that another process has locked.
extension SessionWriter {
  /// Makes all rows durable, together with their media. Before the first segment the rows wait,
  /// because a frame of an undescribed track could not be read. While another process locks the
  /// database, the media is made durable and the rows wait.
  ///
  /// - Returns: false when there was no row to commit, the commit has to wait, or it failed;
  ///   `failure` then contains the reason.
  @discardableResult
  func commit(at time: Int64) -> Bool {
    guard !isStoreLost, !batch.isEmpty || !spool.isEmpty else { return false }
    // Media first, so that each row that can be read has its bytes (docs/formats/session.md, "What
    // is durable when").
    synchronizeMedia(at: time)
    guard hasSegment || batch.segment != nil else { return false }
    // Before the commit and whether or not it succeeds: this media is synced, and the next batch
    // begins without it.
    settle()
    do {
      let commit = try store.commit()
      guard makeLogDurable() else { return false }
      account(commit, at: time)
      return true
    } catch {
      refused(error, at: time)
      return false
    }
  }

  /// A commit is durable only with the directory entry of the log that it is in, and SQLite ignores
  /// an error of that.
  private func makeLogDurable() -> Bool {
    guard !hasDurableLog else { return true }
    let number = site.synchronizeFolder(site.folder.path)
    guard number == 0 else {
      loseStore(
        SessionError.write(site.folder.path, POSIXError(number: number)))
      return false
    }
    hasDurableLog = true
    return true
  }

  private func refused(_ error: any Error, at time: Int64) {
    if case StoreError.busy(let path, let holder) = error {
      hasDurableLog = false
      // The holder may be gone before it is looked up. The holder that was found before is then
      // kept, and the complete wait is one event.
      wait = DatabaseWait(since: wait?.since ?? time, holder: holder ?? wait?.holder)
      progress.databaseHolder = wait?.words
      guard store.pendingCount > spoolRowsMax else { return }
      giveUpDatabase(path)
    } else {
      // A failed commit is not tried again: after a failed fsync the kernel may have dropped the
      // pages, and the next fsync succeeds without them.
      loseStore(error.coded)
    }
  }

  /// Discards the waiting rows; the media that they refer to is kept.
  func giveUpDatabase(_ path: String) {
    loseStore(RecordError.databaseHeld(path: path, by: wait?.words))
  }

  private func loseStore(_ error: any CodedError) {
    failure = failure ?? error.leavingOpen(site.folder)
    isStoreLost = true
    lose(([batch] + spool).reduce(0) { $0 + $1.frames.count })
    (batch, spool) = (CommitBatch(), [])
  }

  private func synchronizeMedia(at time: Int64) {
    for track in lanes.indices { synchronizeMedia(track, at: time) }
  }

  private func synchronizeMedia(_ track: Int, at time: Int64) {
    let rows = batch.packets.indices.filter { batch.packets[$0].track == track }
    guard let segment = lanes[track].current, !rows.isEmpty else { return }
    do throws(SegmentFailed) {
      let places = try segment.synchronize(placing: rows.map { batch.packets[$0] })
      batch.place(places, rows: rows)
      if lanes[track].currentIsCommitted {
        // `bytes` grows with each commit, so the segment's row is replaced each time.
        batch.changedSegments.append(lanes[track].row(of: segment, isClosed: false))
      } else {
        batch.segment?.bytes = segment.bytes
      }
      // Only a successful sync shows that the disk works: a write may just have filled the cache.
      lanes[track].segments.committed()
    } catch {
      fail(track, error.failure, at: time)
    }
  }

  /// The batch's media is durable. Its rows go to the database, or wait until they can.
  private func settle() {
    guard !batch.isEmpty else { return }
    batch.append(to: store)
    if let opened = batch.segmentTrack {
      hasSegment = true
      lanes[opened.track].currentIsCommitted = true
    }
    for place in lanes.indices { lanes[place].committedPackets = lanes[place].nextPacket }
    // Kept until the database has the rows, because progress reports only durable rows.
    spool.append(batch)
    batch = CommitBatch()
  }

  private func account(_ commit: StoreWriter.Commit, at time: Int64) {
    for batch in spool { account(batch) }
    spool = []
    for place in lanes.indices {
      progress.setPacketDigest(lanes[place].digest.value, track: place)
    }
    progress.commit = commit.ordinal
    progress.timeNanoseconds = time
    // Before the event of the wait is added, which only the next commit makes durable.
    progress.events = nextEvent
    progress.databaseHolder = nil
    if let wait { add(wait.event(at: time)) }
    wait = nil
  }

  private func account(_ batch: CommitBatch) {
    var packets = batch.packets[...]
    for frame in batch.frames {
      // Frames with a packet and packets were added in one order, and a failure removes both. A
      // packet without a frame is a packet that a later packet needs.
      let packet = frame.packet.flatMap { index in
        packets.firstIndex { $0.track == frame.track && $0.index == index }
      }.map { place in
        defer { packets = packets[(place + 1)...] }
        return packets[place]
      }
      if let packet {
        if let cause = frame.cause {
          damaged[FrameID(track: frame.track, sequence: frame.sequence)] = cause
        } else if frame.pixelHash == nil {
          missingHashes += 1
        }
        lanes[frame.track].digest.append(frame.sequence, packet.digest)
      }
      progress.count(frame, hasPixels: packet != nil)
    }
    if batch.segmentTrack != nil { progress.segments += 1 }
    progress.mediaBytes += batch.packetBytes
  }

  /// Commits waiting rows and ends the segments.
  func finishMedia(at time: Int64) {
    // First, because packets are synced and their offsets found only while their segment is open.
    commit(at: time)
    // This changes the segments' rows, which need a commit of their own.
    for track in lanes.indices { finishSegment(track, at: time) }
    commit(at: time)
    // After a wait, this commits the event that reports it.
    if !isWaiting { commit(at: time) }
  }

  /// Adds the metadata that is known only at the end, before `close`.
  func prepareClose(_ facts: StoreWriter.Facts, hashes: [FrameRecord]) {
    store.set(facts)
    store.replace(hashes)
  }

  /// Marks the database as closed. If another process has locked it, this may be called again.
  func close() throws {
    progress.commit = try store.close().ordinal
    progress.closed = true
  }
}
