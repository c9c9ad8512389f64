/// Where the files are that a document names.
///
/// A golden, a cache and an error name such a file as the document does, wherever it is read.
package struct InputPlaces: Sendable {
  /// The path at which a model is read; its sidecar is next to it.
  package var model: @Sendable (_ path: String) throws -> String = { $0 }
  /// The path at which an image or a folder of images is read; asked when a run begins.
  package var images: @Sendable (_ path: String) throws -> String = { $0 }
  /// Refuses an image of such a folder, which may be a link.
  package var checkImage: @Sendable (_ path: String) throws -> Void = { _ in }
  /// The path at which stored detections are read, also the later results files of a golden, which
  /// need not exist.
  package var detections: @Sendable (_ path: String) throws -> String = { $0 }
  /// The path at which timings or a device profile of a case is read.
  package var costs: @Sendable (_ path: String) throws -> String = { $0 }
  /// The folder in which a program runs whose command may name these files; `nil` for the folder of
  /// the command.
  package var program: @Sendable (_ files: [String]) throws -> String? = { _ in nil }

  /// Each file is where the document says, relative to the folder in which the command runs.
  package static let asNamed = InputPlaces()

  private init() {}
}
