import Retake

/// Where the time stamps of a file do not simply rise, in lines for people.
enum TimeText {
  /// - Parameters:
  ///   - count: How many places there are; more than `places` of a badly broken file.
  ///   - max: Lines of places at most; one more says how many are left.
  static func lines(_ places: [TimePlace], of count: Int, max: Int) -> [String] {
    let told = places.prefix(max)
    let left = count - told.count
    let rest = left > 0 ? ["time does not simply rise at \(counted(left, "more place"))"] : []
    return told.map(\.text) + rest
  }
}
