import Retake

/// Where the time stamps of a file do not increase regularly, in lines for people.
enum TimeText {
  /// The most lines of an import; `session info` lists all of them.
  static let importMax = 10

  /// - Parameters:
  ///   - count: The number of all places. For a badly damaged file it is more than `places`
  ///     contains.
  ///   - max: The most lines of places. A further line contains the number of omitted places.
  static func lines(_ places: [TimePlace], of count: Int, max: Int) -> [String] {
    let told = places.prefix(max)
    let left = count - told.count
    let rest = left > 0 ? ["time does not simply rise at \(counted(left, "more place"))"] : []
    return told.map(\.text) + rest
  }
}
