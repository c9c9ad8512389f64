import Foundation

/// Rules for the pages of the API's documentation that `docc` does not check.
enum CatalogRules {
  static let folder = "Sources/EntryPoints/Retake/Retake.docc/"
  static let landing = folder + "Retake.md"

  /// - Parameter exists: Whether the repository has a file or folder at a path.
  static func findings(in files: [SourceFile], exists: (String) -> Bool) -> [Finding] {
    let pages = files.filter { $0.path.hasPrefix(folder) && $0.path.hasSuffix(".md") }
    let listed = listed(on: pages.first { $0.path == landing }?.text ?? "")
    let unlisted = pages.filter { $0.path != landing && !listed.contains(name(of: $0)) }.map {
      Finding(path: $0.path, line: 0, rule: "the Topics of Retake.md do not list this page")
    }
    let dangling = pages.flatMap { page in
      page.text.matches(of: /`((?:docs|Examples)\/[^`]*)`/).filter { !exists(String($0.1)) }.map {
        Finding(path: page.path, line: 0, rule: "there is no \($0.1)")
      }
    }
    return unlisted + dangling
  }

  private static func name(of page: SourceFile) -> String { String(page.name.dropLast(3)) }

  private static func listed(on page: String) -> Set<String> {
    let topics = page.components(separatedBy: "\n## Topics\n").dropFirst().joined()
    return Set(topics.matches(of: /\n- <doc:(\w+)>/).map { String($0.1) })
  }
}
