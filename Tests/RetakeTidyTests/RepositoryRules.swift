import Foundation

/// Limits on the size and the words of the repository.
enum RepositoryRules {
  static let fileMegabytesMax = 8
  static let recordingsMegabytesMax = 40
  static let readmeLinesMax = 150

  /// - Parameter sizes: Bytes by path.
  static func findings(sizes: [String: Int]) -> [Finding] {
    let large = sizes.filter { $0.value > fileMegabytesMax << 20 }.keys.map {
      Finding(path: $0, line: 0, rule: "a file has at most \(fileMegabytesMax) MB")
    }
    let recordings = sizes.filter { $0.key.hasPrefix("Recordings/") }.values.reduce(0, +)
    let heavy = Finding(
      path: "Recordings", line: 0,
      rule: "the recordings have at most \(recordingsMegabytesMax) MB together")
    return (large + (recordings > recordingsMegabytesMax << 20 ? [heavy] : [])).sorted()
  }

  static func findings(readme text: String) -> [Finding] {
    guard text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 > readmeLinesMax
    else { return [] }
    return [
      Finding(path: "README.md", line: 0, rule: "the README has at most \(readmeLinesMax) lines")
    ]
  }

  /// Paths of a machine and numbers of a tracker are useless to a reader. The pattern is assembled
  /// from pieces so that this file does not match it.
  static let machinePaths =
    #"(?<![\w.~)}\]/-])/(wo"# + "rk|ro" + "ot|fa" + "rm|tm" + #"p)(?![\w-])|/op"# + #"t/swift"#
  static let trackerNumbers = "(?i)iss" + #"ues? #\d"#

  /// Only the lab answers published texts. The old name of the command, and its name in the lab,
  /// are permitted.
  static let publishedTexts = "(?i)(?<!bench |lab )artic" + "les?"

  static func findings(in file: SourceFile) throws -> [Finding] {
    try LinePattern(machinePaths).lines(in: file.text).map {
      Finding(path: file.path, line: $0, rule: "the path of a machine")
    }
      + LinePattern(trackerNumbers).lines(in: file.text).map {
        Finding(path: file.path, line: $0, rule: "the number of a tracker")
      }
      + (mayNamePublishedTexts(file)
        ? []
        : LinePattern(publishedTexts).lines(in: file.text).map {
          Finding(path: file.path, line: $0, rule: "only Sources/Lab names a published text")
        })
  }

  /// An HTML element of the report's page has this name, too.
  private static func mayNamePublishedTexts(_ file: SourceFile) -> Bool {
    ["Sources/Lab/", "Tests/RetakeLabTests/", "Sources/Judge/RetakeReport/"].contains {
      file.path.hasPrefix($0)
    }
  }
}
