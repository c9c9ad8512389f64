import Foundation
import RetakeCore

/// The sentences that several forms of the report share.
package enum Wording {
  /// How to write a file after the system refused it.
  ///
  /// - Parameters:
  ///   - cause: The system's text.
  ///   - elsewhere: How to name another place.
  package static func wayToWrite(after cause: String, elsewhere: String) -> String {
    func isOne(of numbers: Int32...) -> Bool {
      numbers.contains { String(cString: strerror($0)) == cause }
    }
    if isOne(of: ENOSPC, EDQUOT) { return "Free space on the disk, or \(elsewhere)" }
    if isOne(of: EACCES, EPERM) { return "Make the folder writable, or \(elsewhere)" }
    if isOne(of: EEXIST, ENOTDIR) { return "A file has the folder's name; \(elsewhere)" }
    return elsewhere.prefix(1).uppercased() + elsewhere.dropFirst()
  }

  /// `"1,234,567"`.
  static func grouped(_ number: Int) -> String {
    // `magnitude`, because `abs` traps on the smallest Int. A formatter would follow the locale.
    let digits = String(number.magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result += "," }
      result.append(digit)
    }
    return number < 0 ? "-" + result : result
  }

  /// `"1 finding"`, `"1,200 findings"`.
  package static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
  }

  /// `"4.000 s"`: rounded to the nearest millisecond, half away from zero.
  static func seconds(_ nanoseconds: Int64) -> String {
    FixedPoint.seconds(nanoseconds, digits: 3) + " s"
  }

  /// At most `places` decimals, without trailing zeros. NaN, infinity and very large numbers are
  /// written as Swift describes them.
  static func number(_ value: Double, places: Int = 4) -> String {
    // Times 10,000 for four decimals this still fits into an Int64; the conversion below would
    // trap.
    guard value.isFinite, abs(value) < 1e12 else { return value.description }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = (value * scale).rounded(.toNearestOrEven)
    let text = FixedPoint.text(Int(scaled), digits: places)
    // An error that exists is never shown as 0.
    return text == "0" && value != 0 ? value.description : text
  }

  /// `"62 %"`, or a word if no error is allowed.
  static func used(_ headroom: Headroom) -> String {
    guard let used = headroom.used else { return headroom.largest == 0 ? "exact" : "over" }
    return "\(number(used * 100, places: used < 0.1 ? 1 : 0)) %"
  }

  /// How much of its tolerances a case used, in a cell of a table; `nil` if no measure says so. Also
  /// for a changed case whose measures are all within their tolerances: something else changed.
  static func tolerance(of item: ReportCase) -> String? {
    guard let tightest = item.tightest else { return nil }
    let isWithin = tightest.used.map { $0 <= 1 } ?? (tightest.largest == 0)
    return item.verdict == .changed && isWithin ? nil : used(tightest)
  }

  /// The words for frames that differ and do not fail: without any error, only the numbers or the
  /// order of their detections differ.
  static func within(_ cases: [ReportCase]) -> String {
    within(cases.filter { $0.counts.withinTolerance > 0 }.flatMap { $0.headroom.map(\.largest) })
  }

  /// - Parameter errors: The largest error of each measure; `nil` if the error is not a number.
  static func within(_ errors: [Double?]) -> String {
    !errors.isEmpty && errors.allSatisfy { $0 == 0 }
      ? "equal but for numbering or order" : "within tolerance"
  }

  /// `"over budget: latencyP99 93.4 ms, 3.4 ms above its limit of 90 ms"`.
  static func overBudget(_ budget: ReportBudget) -> String {
    let unit = budget.unit.map { " \($0)" } ?? ""
    let (word, side) = budget.isMinimum == true ? ("under", "below") : ("over", "above")
    return "\(word) budget: \(budget.name) \(number(budget.actual))\(unit), "
      + "\(number(abs(budget.actual - budget.limit)))\(unit) \(side) its limit of "
      + "\(number(budget.limit))\(unit)"
  }

  /// A speed in frames per second, without decimals from ten on.
  package static func speed(_ framesPerSecond: Double) -> String {
    // `Int` traps on infinity and NaN, and on numbers that do not fit.
    guard framesPerSecond.isFinite, framesPerSecond < 1e9 else { return "\(framesPerSecond)" }
    let whole = framesPerSecond >= 10
    return (whole ? grouped(Int(framesPerSecond.rounded())) : number(framesPerSecond, places: 1))
      + " frames/s"
  }
}

extension ReportRootCause {
  /// `"first divergence at frame 0:120 (t = 4.000 s), stage motion"`, or without a frame
  /// `"first divergence in stage camera (t = 1.500 s)"`. Labels in it are not escaped.
  package var place: String {
    var parts: [String] = []
    let time = timeNanoseconds.map { " (t = \(Wording.seconds($0)))" } ?? ""
    if let frame { parts.append("at frame \(frame)\(time)") }
    if let stage {
      parts.append(parts.isEmpty ? "in stage \(stage)\(time)" : "stage \(stage)")
    }
    return parts.isEmpty
      ? "the entire run" : "first divergence " + parts.joined(separator: ", ")
  }

  /// `"312 findings, boxes differ by at most 0.4 px (0.1 px allowed), 906 later differences that
  /// follow"`.
  package var weight: String {
    var parts = findings > 0 || downstream == 0 ? [Wording.count(findings, "finding")] : []
    if let extent { parts.append(extent) }
    if downstream > 0 {
      parts.append(
        Wording.count(downstream, "later difference")
          + (downstream == 1 ? " that follows" : " that follow")
      )
    }
    return parts.joined(separator: ", ")
  }

  /// The root cause in one sentence.
  package var headline: String { "\(place): \(why); \(weight)" }
}

extension ReportCase {
  /// The case in one line: the first root cause, the error, or the reason.
  package var headline: String {
    if let error { return "\(error.message) (\(error.code))" }
    guard let first = rootCauses.first else { return reason }
    guard rootCauses.count > 1 else { return first.headline }
    return first.headline + "; and \(Wording.count(rootCauses.count - 1, "other root cause"))"
  }

  /// The verdict that is shown: an expected change is not shown as changed.
  package var verdictWords: String { expected != nil ? "expected" : verdict.rawValue }

  /// The measure that came closest to its tolerance.
  package var tightest: Headroom? {
    headroom.max { left, right in Self.tightness(left) < Self.tightness(right) }
  }

  private static func tightness(_ row: Headroom) -> Double {
    // The tolerance is zero, or the error is not a number: exact is the least tight, any other
    // error is over.
    row.used ?? (row.largest == 0 ? -1 : .infinity)
  }

  /// Cases by importance: cases that need attention first, otherwise in the order of the run.
  package static func inReadingOrder(_ cases: [ReportCase]) -> [ReportCase] {
    readingOrder(cases).map { cases[$0] }
  }

  /// The indices of the cases in reading order.
  ///
  /// - Parameter isWorse: Orders cases of the same importance.
  static func readingOrder(
    _ cases: [ReportCase], _ isWorse: (Int, Int) -> Bool = { _, _ in false }
  ) -> [Int] {
    cases.indices.sorted { left, right in
      let weights = (cases[left].weight, cases[right].weight)
      if weights.0 != weights.1 { return weights.0 < weights.1 }
      return isWorse(left, right) || (!isWorse(right, left) && left < right)
    }
  }

  private var weight: Int {
    switch verdict {
    // A known change needs no attention.
    case .changed: expected == nil ? 0 : 5
    case .errored: 1
    case .notComparable: 2
    case .missing: 3
    case .stale: 4
    // The largest: `TerminalReport.table` depends on passed cases being last.
    case .passed: 6
    }
  }
}
