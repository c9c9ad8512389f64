import RetakeBuffers
import RetakeCore
import RetakeMedia

/// Decodes pictures of one session on request, in a restricted process.
///
/// The decoder writes into an arena in the shared memory, where each picture has a slot until the
/// parent process releases it. A picture outside of the arena, for example because decoders of other
/// sizes have filled it, is copied to the beginning of the memory.
package final class PictureServer {
  /// Bytes of the memory that a server needs. Pages use no memory until they are written.
  package static var memoryBytes: Int { copyBytes + arenaBytes }
  /// Bytes for a copy of one picture: the images of one decoder have at most as many.
  private static var copyBytes: Int { PixelBudget.ofProcess.decoderBytesMax }
  /// A budget is a number of mebibytes, and so of pages.
  private static var arenaBytes: Int { PixelBudget.ofProcess.bytesMax }

  private let folder: SessionFolder
  private let poisons: Bool
  private let memory: PictureMemory
  private let arena: FrameArena
  private var reader: SessionReader?
  private var run: FrameRun?
  /// The pictures that the parent process uses, by slot.
  private var held: [Int: Frame] = [:]
  private var nextSlot = 0

  /// Number of pictures that the parent process uses.
  var heldCount: Int { held.count }

  /// - Parameter memory: Of `memoryBytes`.
  package init(session path: String, poisons: Bool, memory: PictureMemory) {
    precondition(memory.byteCount >= Self.memoryBytes, "the memory has the bytes of a server")
    (folder, self.poisons, self.memory) = (SessionFolder(path: path), poisons, memory)
    arena = FrameArena(
      address: memory.address + UInt(Self.copyBytes), sections: 1, sectionBytes: Self.arenaBytes,
      owner: memory.owner)
  }

  /// The answer to a line of the parent process.
  package func answer(to line: String) -> String {
    do {
      guard let request = PictureRequest(text: line) else {
        preconditionFailure("the parent process sends requests")
      }
      return try answer(to: request).line
    } catch {
      return PictureAnswer.failure(PictureFailure(error)).line
    }
  }

  private func answer(to request: PictureRequest) throws -> PictureAnswer {
    for slot in request.released { held[slot] = nil }
    let reader = try reader ?? open()
    self.reader = reader
    if let start = request.start {
      // Its memory is free before the next decoder needs memory.
      run = nil
      run = reader.ownRun(from: start, of: request.id.track, threads: request.threads)
    }
    guard let run else { preconditionFailure("the first request of a run begins it") }
    let frame = try reader.namingDamage { try run.decode(request.picture, id: request.id) }
    guard let frame else { return .noPicture(run.position) }
    let (picture, slot) = try shared(frame)
    return .picture(picture, slot: slot, run.position)
  }

  private func open() throws -> SessionReader {
    // The parent process checks the rows and the pixels.
    try SessionReader(
      folder,
      options: ReadOptions(verifiesPixels: false, poisonsMemory: poisons, framesPerChain: nil),
      trust: .asTheyAre, processes: nil, arena: arena)
  }

  private func shared(_ frame: Frame) throws -> (SharedPicture, slot: Int?) {
    if let (_, planes) = arena.places(of: frame) {
      let slot = nextSlot
      nextSlot += 1
      held[slot] = frame
      // From the beginning of the memory instead of the arena.
      let picture = SharedPicture(
        frame, planes: planes.map { .init(offset: $0.offset + Self.copyBytes, stride: $0.stride) })
      return (picture, slot)
    }
    guard
      let copy = SharedPicture(copying: frame, to: memory.address, byteCount: Self.copyBytes)
    else { throw MediaError.noMemory(step: "copy an image", file: nil) }
    return (copy, nil)
  }
}
