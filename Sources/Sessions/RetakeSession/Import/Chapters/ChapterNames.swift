import Foundation
import RetakeCore

/// The order of files by their names.
struct ChapterNames {
  private let paths: [String]
  private let names: [ChapterName?]

  /// - Parameter paths: In the order in which they become one recording.
  init(_ paths: [String]) {
    self.paths = paths
    names = paths.map { ChapterName($0) }
  }

  /// Refuses names of a camera that are not in the order of its chapters.
  ///
  /// Other names are no proof, so `notes` has them.
  func requireOrder() throws {
    guard isOneRecording, names.allSatisfy({ $0?.isCamera == true }), let order = otherOrder else {
      return
    }
    throw ErrorFacts.chapterOrder(paths, ordered: order)
  }

  var notes: [String] {
    [order, otherRecordings].compactMap(\.self) + missing
  }

  private var isOneRecording: Bool {
    names.allSatisfy { $0 != nil } && Set(names.map { $0?.recording }).count == 1
  }

  /// The paths in the order of their numbers; nil if they have that order already.
  private var otherOrder: [String]? {
    let numbers = names.map { $0?.number ?? 0 }
    guard zip(numbers, numbers.dropFirst()).contains(where: { $0 > $1 }) else { return nil }
    return paths.indices.sorted { (numbers[$0], $0) < (numbers[$1], $1) }.map { paths[$0] }
  }

  private var order: String? {
    guard isOneRecording, let other = otherOrder else { return nil }
    return "the files are appended in the order of the arguments; the numbers in their names have "
      + "the order " + other.map(Self.name).joined(separator: ", ")
  }

  private var otherRecordings: String? {
    guard let first = names.first ?? nil, first.isCamera,
      let place = names.firstIndex(where: { $0?.recording != first.recording })
    else { return nil }
    return "\(Self.name(paths[place])) is not a chapter of the recording of "
      + "\(Self.name(paths[0])), by its name"
  }

  /// A note for each place at which numbers are missing.
  private var missing: [String] {
    guard isOneRecording, otherOrder == nil, let first = names.first ?? nil else { return [] }
    var notes: [String] = []
    if first.isCamera, first.number > first.first {
      notes.append(
        Self.missing(first.first..<first.number, of: first) + " before \(Self.name(paths[0]))")
    }
    for (before, after) in zip(paths.indices, paths.indices.dropFirst()) {
      guard let one = names[before], let two = names[after], two.number > one.number + 1 else {
        continue
      }
      notes.append(
        Self.missing(one.number + 1..<two.number, of: one)
          + " between \(Self.name(paths[before])) and \(Self.name(paths[after]))")
    }
    return notes
  }

  private static func missing(_ numbers: Range<Int>, of name: ChapterName) -> String {
    let first = name.name(of: numbers.lowerBound)
    return numbers.count == 1
      ? "the chapter \(first) is missing"
      : "the chapters \(first) to \(name.name(of: numbers.upperBound - 1)) are missing"
  }

  private static func name(_ path: String) -> String {
    URL(fileURLWithPath: path).lastPathComponent
  }
}
