import RetakeBuffers
import RetakeCore
import RetakeMedia

/// A decoder in a restricted process. Its frames are in the shared memory.
///
/// Only one thread at a time uses it.
final class RemoteRun: PictureRun {
  let track: Int
  private(set) var position: RunPosition
  private let processes: PictureProcesses
  private let memory: ImageMemory
  private let threads: Int
  /// `nil` after its end.
  private var link: PictureLink?
  /// Whether the process has no decoder for this run yet.
  private var isNew = true

  /// A run that begins at a packet.
  init(
    track: Int, from packet: Int, threads: Int, in processes: PictureProcesses, memory: ImageMemory
  ) throws {
    (self.track, self.threads, self.processes) = (track, threads, processes)
    self.memory = memory
    position = RunPosition(start: packet, next: packet)
    link = try processes.take()
  }

  deinit {
    if let link { processes.giveBack(link) }
  }

  func decode(_ picture: FrameRun.Picture, id: FrameID) throws -> Frame? {
    guard let link else {
      throw processes.crash(id, "an earlier frame")
    }
    let request = PictureRequest(
      id: id, picture: picture, start: isNew ? position.start : nil, threads: threads)
    isNew = false
    guard let line = link.answer(to: request) else {
      throw ended(link.process.end(), picture, id)
    }
    switch PictureAnswer(line: line) {
    case .picture(let shared, let slot, let position):
      guard let frame = try link.frame(shared, slot: slot, or: memory) else { break }
      self.position = position
      return frame
    case .noPicture(let position):
      self.position = position
      return nil
    case .failure(let failure): throw failure.error
    case nil: break
    }
    _ = link.process.end()
    throw ended(.crashed(cause: "an answer that is not valid"), picture, id)
  }

  private func ended(
    _ end: PictureProcessEnd, _ picture: FrameRun.Picture, _ id: FrameID
  ) -> any Error {
    link = nil
    switch end {
    case .stopped(let error): return error
    case .crashed(let cause):
      processes.lose(picture, of: track, cause: cause)
      return processes.crash(id, cause)
    }
  }
}
