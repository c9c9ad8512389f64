import Retake

/// The content of a track's cache, in lines for people.
enum CacheText {
  /// The most files of each kind that are named; the others are counted.
  private static let namesMax = 5

  static func lines(of scope: CacheScope) -> [String] {
    [head(scope)] + named(scope.damaged, "damaged, its records are not used")
      + named(scope.foreign, "made elsewhere: not used")
      + named(
        scope.leftovers.filter(\.isBeingWritten).map(name), "a run writes it now, or holds it")
      + named(
        scope.leftovers.filter { !$0.isBeingWritten }.map(name), "unfinished, its run has ended")
  }

  private static func head(_ scope: CacheScope) -> String {
    let name =
      scope.session.map { "\($0):\(scope.track ?? 0)" } ?? "of an unknown session, \(scope.folder)"
    return "\(name)  \(ByteText.of(scope.pixelBytes)) pixels, "
      + "\(ByteText.of(scope.valueBytes)) values in "
      + "\(counted(scope.records, "record"))" + rate(scope)
  }

  private static func rate(_ scope: CacheScope) -> String {
    // 0: the length of the media is not known.
    guard scope.seconds > 0 else { return "" }
    let perMinute = { (bytes: Int) in ByteText.of(Int(Double(bytes) * 60 / scope.seconds)) }
    return "; a minute: \(perMinute(scope.pixelBytes)) pixels, "
      + "\(perMinute(scope.valueBytes)) values"
  }

  private static func name(_ file: CacheLeftover) -> String {
    "\(file.name), \(ByteText.of(file.bytes))"
  }

  private static func named(_ names: [String], _ words: String) -> [String] {
    let more = names.count - namesMax
    return names.prefix(namesMax).map { "  \($0): \(words)" }
      + (more > 0 ? ["  and \(more) more: \(words)"] : [])
  }
}
