import Foundation

/// `retake-benchmarks [--tiny] [--json] [--thresholds FILE] [SECTION…]`
struct BenchmarkCommand {
  private static let sections: [(name: String, run: @Sendable (Scale) throws -> SectionReport)] = [
    ("hop", { try HopSection(scale: $0).run() }),
    ("live", { try LiveSection(scale: $0).run() }),
    ("copies", { try CopiesSection(scale: $0).run() }),
    ("pool", { try PoolSection(scale: $0).run() }),
    ("stealing", { try StealingSection(scale: $0).run() }),
    ("detector", { try DetectorSection(scale: $0).run() }),
    ("models", { try ModelSection(scale: $0).run() }),
    ("programs", { try ProgramSection(scale: $0).run() }),
    ("pulse", { try PulseSection(scale: $0).run() }),
    ("timePlane", { try TimePlaneSection(scale: $0).run() }),
    ("document", { try DocumentSection(scale: $0).run() }),
    ("compare", { try CompareSection(scale: $0).run() }),
    ("replay", { try ReplaySection(scale: $0).run() }),
  ]

  private var isTiny = false
  private var isJSON = false
  private var thresholds: [Threshold] = []
  private var chosen: [String] = []

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--tiny": isTiny = true
      case "--json": isJSON = true
      case "--thresholds":
        let data = try Data(contentsOf: URL(fileURLWithPath: rest.popFirst() ?? ""))
        thresholds = try JSONDecoder().decode([Threshold].self, from: data)
      default:
        guard Self.sections.contains(where: { $0.name == word }) else {
          throw Misuse(word: word, known: Self.sections.map(\.name))
        }
        chosen.append(word)
      }
    }
  }

  /// - Returns: Whether all thresholds are met and every section computed the same result in each
  ///   round.
  func run() throws -> Bool {
    var report = BenchmarkReport(
      isTiny: isTiny, processors: ProcessInfo.processInfo.activeProcessorCount)
    for section in Self.sections where chosen.isEmpty || chosen.contains(section.name) {
      report.sections.append(try section.run(Scale(isTiny: isTiny)))
    }
    report.verdicts = thresholds.filter { threshold in
      report.sections.contains { threshold.figure.hasPrefix("\($0.name).") }
    }.map { ThresholdVerdict($0, in: report) }
    print(isJSON ? try report.json() : report.table)
    return report.verdicts.allSatisfy(\.isMet)
      && report.sections.allSatisfy { $0.hash.count == 32 }
  }

  struct Misuse: Error, CustomStringConvertible {
    var word: String
    var known: [String]
    var description: String {
      "'\(word)' is neither an option (--tiny, --json, --thresholds FILE) nor a section "
        + "(\(known.joined(separator: ", ")))"
    }
  }
}

do {
  exit(try BenchmarkCommand(Array(CommandLine.arguments.dropFirst())).run() ? 0 : 1)
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(2)
}
