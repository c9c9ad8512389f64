import RetakeCore

/// The frames of a golden in order.
final class ResultStream {
  private let folder: GoldenFolder
  private let chunks: Int
  private var nextChunk = 0
  private var blocks: ArraySlice<ResultChunk.Block> = []
  private var chunk: ResultChunk?
  private var frames: ArraySlice<ResultFrame> = []

  init(_ folder: GoldenFolder) throws {
    self.folder = folder
    chunks = GoldenFolder.chunkCount(frames: try folder.manifest().summary.captured)
  }

  func header() throws -> ResultHeader { try folder.chunk(0).header }

  /// The class names in the file that the last frame came from.
  var classes: [[String]] { chunk?.header.classes ?? [] }

  /// The platform that the current file is valid for; `nil` if it is valid for all platforms.
  var platform: String? { chunk?.header.platform }

  func next() throws -> ResultFrame? {
    while frames.isEmpty {
      if let block = blocks.popFirst(), let chunk {
        do {
          frames = try chunk.frames(of: block)[...]
        } catch let error as ResultTextError {
          throw GoldenError.results(error)
        }
      } else {
        guard nextChunk < chunks else { return nil }
        let next = try folder.chunk(nextChunk)
        nextChunk += 1
        chunk = next
        blocks = next.blocks[...]
      }
    }
    return frames.popFirst()
  }
}
