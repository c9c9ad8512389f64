import RetakeBuffers
import RetakeCore
import RetakeMedia

/// Decodes pictures of one session on request, in a restricted process.
///
/// The decoder writes into the shared memory, so that the pictures are not copied here. A picture
/// outside of the arena, for example because decoders of other sizes have filled it, is copied to
/// the beginning of the memory.
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
  /// The picture of the last answer.
  private var shown: Frame?

  /// - Parameter owner: Keeps the memory, of `memoryBytes`.
  package init(
    session path: String, poisons: Bool, memory: PictureMemory, owner: any AnyObject & Sendable
  ) {
    precondition(memory.byteCount >= Self.memoryBytes, "the memory has the bytes of a server")
    (folder, self.poisons, self.memory) = (SessionFolder(path: path), poisons, memory)
    arena = FrameArena(
      address: memory.address + UInt(Self.copyBytes), sections: 1, sectionBytes: Self.arenaBytes,
      owner: owner)
  }

  /// From now on this process makes all frames in the memory, as far as they fit.
  package func beginUse() { arena.beginUse() }

  /// The answer to a line of the parent process.
  package func answer(to line: String) -> String {
    // The parent process has copied it.
    shown = nil
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
    shown = frame
    return .picture(try shared(frame), run.position)
  }

  private func open() throws -> SessionReader {
    // The parent process checks the rows and the pixels.
    try SessionReader(
      folder,
      options: ReadOptions(verifiesPixels: false, poisonsMemory: poisons, framesPerChain: nil),
      trust: .asTheyAre, processes: nil)
  }

  private func shared(_ frame: Frame) throws -> SharedPicture {
    if let (_, planes) = arena.places(of: frame) {
      // From the beginning of the memory instead of the arena.
      return SharedPicture(
        frame, planes: planes.map { .init(offset: $0.offset + Self.copyBytes, stride: $0.stride) })
    }
    guard
      let copy = SharedPicture(copying: frame, to: memory.address, byteCount: Self.copyBytes)
    else { throw MediaError.noMemory(step: "copy an image", file: nil) }
    return copy
  }
}
