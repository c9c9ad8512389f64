import Foundation
import RetakeTestSupport
import Testing

/// A fenced block of a page.
struct Fence: Sendable, CustomTestStringConvertible {
  /// Relative to the repository.
  var page: String
  /// The number of its first line, from 1.
  var line: Int
  /// `swift`, `json`, `yaml`, `sh`; empty for the output of programs.
  var language: String
  var text: String

  var testDescription: String { "\(page):\(line)" }
}

/// The pages for users.
enum Pages {
  static let fences: [Fence] = {
    do {
      return try names().flatMap { name in
        fences(of: name, in: try text(of: name))
      }
    } catch {
      fatalError("the pages cannot be read: \(error)")
    }
  }()

  static func fences(_ language: String) -> [Fence] {
    fences.filter { $0.language == language }
  }

  /// The pages of the API's documentation.
  static let catalog = "Sources/EntryPoints/Retake/Retake.docc/"

  /// Whether a page's Swift blocks are regions of `sampleFiles`.
  static func hasSamples(_ name: String) -> Bool {
    name.hasSuffix(".md") && (name.hasPrefix("docs/") || name.hasPrefix(catalog))
  }

  /// The samples of an example are compiled and run with it, by Scripts/test-example.
  static let sampleFiles =
    ["Samples.swift", "CatalogSamples.swift"].map { "Tests/RetakeDocsTests/\($0)" }
    + ["ReplayTests.swift", "ReplayXCTests.swift"]
    .map { "Examples/SwiftTesting/Tests/VisionTests/\($0)" }

  static func text(of name: String) throws -> String {
    try String(contentsOf: packageRoot.appending(path: name), encoding: .utf8)
  }

  /// Pages whose pipelines have a file that the page itself makes. Their own tests run them:
  /// `OwnModelPageTests`, `StoredPageTests`.
  static let needsFile = ["docs/own-model.md", "docs/stored-detections.md"]

  /// Relative to the repository, with the pages in folders of docs.
  private static func names() throws -> [String] {
    try ["README.md", "CONTRIBUTING.md", "Examples/FirstReplay/README.md"]
      + names(under: "docs/") + names(under: catalog)
  }

  private static func names(under folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: packageRoot.appending(path: folder).path)
      .filter { $0.hasSuffix(".md") }.sorted().map { folder + $0 }
  }

  static func fences(of page: String, in text: String) -> [Fence] {
    var found: [Fence] = []
    var open: Fence?
    for (number, line) in text.components(separatedBy: "\n").enumerated() {
      let mark = line.trimmingCharacters(in: .whitespaces)
      if var fence = open {
        if mark == "```" {
          fence.text = String(fence.text.dropLast())
          found.append(fence)
          open = nil
        } else {
          fence.text += line + "\n"
          open = fence
        }
      } else if mark.hasPrefix("```") {
        open = Fence(page: page, line: number + 2, language: String(mark.dropFirst(3)), text: "")
      }
    }
    if let open { found.append(open) }
    return found
  }
}
