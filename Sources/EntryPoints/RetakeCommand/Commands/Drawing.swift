import ArgumentParser
import Retake

/// The files that drawings are written to.
enum Drawing {
  /// A drawing has the ending of its format, so that a wrong word replaces no file of another kind.
  ///
  /// - Throws: `ValidationError`.
  static func check(_ path: String, isDOT: Bool = false) throws {
    try check(path, endings: isDOT ? [".dot", ".gv"] : [".svg"])
  }

  /// - Throws: `ValidationError`.
  static func check(_ path: String, endings: [String]) throws {
    guard !path.isEmpty else {
      throw ValidationError("'' names no file; write for example figures\(endings[0])")
    }
    let isFile = RunOutputs.isFile(path) && [nil, .typeRegular].contains(WholeFile.type(of: path))
    guard !isFile || endings.contains(where: path.hasSuffix) else {
      throw ValidationError("'\(path)' does not end in \(endings.joined(separator: " or "))")
    }
  }
}
