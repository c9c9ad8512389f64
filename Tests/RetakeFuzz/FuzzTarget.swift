import Foundation
import RetakeCore

/// A parser that reads bytes of unknown origin, for libFuzzer and for the replay of the corpus.
///
/// The folder `Tests/Fuzz/corpus/NAME` has its inputs. An error is a permitted answer; a crash, a
/// hang or an access outside of memory is a finding.
package struct FuzzTarget: Sendable {
  /// Reads the bytes. The folder is empty or has the files of an earlier input.
  typealias Body = @Sendable (_ bytes: [UInt8], _ folder: URL) throws -> Void

  package var name: String
  var body: Body

  init(_ name: String, _ body: @escaping Body) { (self.name, self.body) = (name, body) }

  /// The longest input of a target, in bytes.
  package static let bytesMax = 256 << 10

  package static let all = documents + sessions + telemetry

  package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

  /// Reads the bytes, and writes out the error if there is one, because messages quote the input.
  ///
  /// - Returns: The error's text; `nil` if the parser accepts the input.
  @discardableResult
  package func run(_ bytes: [UInt8], in folder: URL) -> String? {
    do {
      try body(bytes, folder)
      return nil
    } catch let error as any RetakeError {
      let facts = error.facts
      return "\(facts.code): \(facts.message) \(facts.cause ?? "") \(facts.advice ?? "")"
    } catch {
      return "\(error)"
    }
  }

  /// A target whose parser opens a file.
  static func file(
    _ name: String, _ path: String, _ read: @escaping @Sendable (_ file: URL) throws -> Void
  ) -> FuzzTarget {
    FuzzTarget(name) { bytes, folder in
      let file = folder.appending(path: path)
      try Data(bytes).write(to: file)
      try read(file)
    }
  }
}
