import RetakeBuffers
import RetakeMedia

/// A restricted process, and the pictures in its memory that frames of this process use.
///
/// Only one thread at a time uses it. Any thread may release the frames, also after the process has
/// ended.
final class PictureLink {
  let process: any PictureProcess
  private let memory: PictureMemory
  /// The slots whose frames were released since the last request.
  private let released = Locked<[Int]>([])

  init(_ process: any PictureProcess) {
    self.process = process
    memory = process.memory
  }

  /// `nil` if the process ended first.
  func answer(to request: PictureRequest) -> String? {
    var request = request
    request.released = released.withLock { slots in
      defer { slots = [] }
      return slots
    }
    return process.answer(to: request.text)
  }

  /// The frame of an answer: in its slot, or a copy.
  ///
  /// - Returns: `nil` if the picture is not inside the memory.
  func frame(
    _ picture: SharedPicture, slot: Int?, or copies: ImageMemory
  ) throws -> Frame? {
    guard let slot else { return try copy(picture, in: copies) }
    let (memory, released) = (memory, released)
    let frame = picture.frame(at: memory.address, byteCount: memory.byteCount) {
      released.withLock { $0.append(slot) }
      withExtendedLifetime(memory.owner) {}
    }
    if let frame { return frame }
    defer { released.withLock { $0.append(slot) } }
    return try copy(picture, in: copies)
  }

  private func copy(_ picture: SharedPicture, in copies: ImageMemory) throws -> Frame? {
    try copies.frame(copying: picture, at: memory.address, byteCount: memory.byteCount)
  }
}
