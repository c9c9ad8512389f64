import ArgumentParser
import Foundation
import Retake

/// For commands that may use results stored by earlier runs.
struct CacheOptions: ParsableArguments {
  /// The default if the option is not given.
  enum Standard {
    case none
    case automatic
  }

  @Option(
    help: ArgumentHelp(
      "Reuse stored results of earlier runs, and store new results: auto, none, or a folder.",
      discussion: "auto is .retake/cache in the project. A cache affects speed only.",
      valueName: "dir"))
  var cache: String?

  func validate() throws {
    // An empty name, such as the name in an unset variable, would be the project's folder.
    guard cache != "" else {
      throw ValidationError("'--cache' is empty: write auto, none, or a folder")
    }
    if let cache, Self.isOtherWord(cache) {
      throw ValidationError(
        "'--cache \(cache)' is not accepted: write none for no cache, auto for the cache of the "
          + "project, or ./\(cache) for a folder")
    }
  }

  /// Whether this is a word of other programs, or in another case, for `auto` or no cache. A folder
  /// with this name would be made unnoticed.
  static func isOtherWord(_ cache: String) -> Bool {
    cache != "none" && cache != "auto" && words.contains(cache.lowercased())
  }

  private static let words: Set = [
    "0", "1", "auto", "automatic", "default", "disable", "disabled", "enable", "enabled", "false",
    "never", "no", "none", "off", "on", "true", "yes",
  ]

  /// - Parameter note: Called with the reason why the default cache cannot be used.
  func folder(
    in project: Project, standard: Standard, note: (String) -> Void = { _ in }
  ) throws -> CacheFolder? {
    switch cache {
    case nil:
      guard standard == .automatic else { return nil }
      // No one asked for this cache, so the run continues without it.
      return project.openCache(note: note)
    case "none": return nil
    case "auto": return try CacheFolder(ofUser: project.cache, in: project)
    case let path?: return try CacheFolder(ofUser: project.path(path), in: project)
    }
  }
}
