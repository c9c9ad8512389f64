import Foundation
import RetakeFuzz
import RetakeTestSupport
import Testing

/// The inputs in `Tests/Fuzz/corpus`, which also has each input that ended the process once.
@Suite struct CorpusTests {
  private static let corpus = packageRoot.appending(path: "Tests/Fuzz/corpus")

  private static func files(_ name: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: corpus.appending(path: name), includingPropertiesForKeys: nil
    ).sorted { $0.path < $1.path }
  }

  @Test(arguments: FuzzTarget.all.map(\.name))
  func `no input of the corpus ends the process`(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    let folder = try TemporaryFolder()
    let files = try Self.files(name)
    #expect(files.count > 1, "\(name) has too few inputs")
    var accepted = 0
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      #expect(bytes.count <= FuzzTarget.bytesMax, "\(file.path) is longer than inputs may be")
      let (first, second) = (target.run(bytes, in: folder.url), target.run(bytes, in: folder.url))
      #expect(first == second, "\(file.path) has two answers")
      accepted += first == nil ? 1 : 0
    }
    #expect(accepted > 0, "\(name) accepts no input of its corpus, so little of it is tested")
  }

  @Test func `each folder of the corpus belongs to a target, and all are small`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path).sorted()
    #expect(folders == FuzzTarget.all.map(\.name).sorted())
    let bytes = try folders.flatMap { folder in try Self.files(folder) }.map { file in
      try Data(contentsOf: file).count
    }
    #expect(bytes.reduce(0, +) <= 300 << 10)
  }
}
