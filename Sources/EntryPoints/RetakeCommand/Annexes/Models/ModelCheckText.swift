#if Models
  import Retake

  /// The output of `retake model check`.
  struct ModelCheckText {
    /// The most results that are printed.
    private static let resultsMax = 20

    let report: ModelTrial.Report

    var lines: [String] {
      let (frame, input, placed) = (report.frame, report.input, report.placed)
      return [
        "frame    \(frame.width)x\(frame.height)",
        "input    \(input.width)x\(input.height), the frame in \(placed[2])x\(placed[3]) "
          + "at \(placed[0]),\(placed[1]); numbers \(report.smallest.short) to "
          + report.largest.short,
        "times    prepare \(Self.time(report.times.prepare)), compute "
          + "\(Self.time(report.times.compute)), decode \(Self.time(report.times.decode))",
        "decoder  \(report.decoder): "
          + (report.results.isEmpty ? "nothing" : counted(report.results.count, "result")),
      ] + report.results.prefix(Self.resultsMax).map(Self.line) + more
    }

    private var more: [String] {
      let count = report.results.count - Self.resultsMax
      return count > 0 ? ["  and \(count) more; --json has them"] : []
    }

    private static func line(_ result: ModelTrial.Report.Result) -> String {
      let text = "  \(visible(result.label))  \(result.value.short)"
      guard let box = result.box, box.count == 4 else { return text }
      // As in results: tenths of a pixel.
      let sides = box.map { FixedDecimal($0, decimals: 1).text }
      return text + "  \(sides[2])x\(sides[3]) at \(sides[0]),\(sides[1])"
    }

    private static func time(_ nanoseconds: Int64) -> String {
      "\(FixedDecimal(Double(nanoseconds) / 1e6, decimals: 2).text) ms"
    }
  }

  /// The same as JSON.
  struct ModelCheckDocument: Encodable {
    private struct Warning: Encodable {
      var code: String
      var message: String
      var advice: String?
    }

    private struct Times: Encodable {
      var prepareNanoseconds: Int64
      var computeNanoseconds: Int64
      var decodeNanoseconds: Int64
    }

    private let model: String
    private let input: String
    private let seen: String?
    private let frameSize: ModelTrial.Report.Size
    private let inputSize: ModelTrial.Report.Size
    private let placed: [Int]
    private let smallest: Double
    private let largest: Double
    private let decoder: String
    private let results: [ModelTrial.Report.Result]
    private let times: Times
    private let warnings: [Warning]

    init(model: String, input: String, seen: String?, _ report: ModelTrial.Report) {
      (self.model, self.input, self.seen) = (model, input, seen)
      (frameSize, inputSize, placed) = (report.frame, report.input, report.placed)
      (smallest, largest) = (report.smallest, report.largest)
      (decoder, results) = (report.decoder, report.results)
      times = Times(
        prepareNanoseconds: report.times.prepare, computeNanoseconds: report.times.compute,
        decodeNanoseconds: report.times.decode)
      warnings = report.suspicions.map {
        Warning(code: $0.code, message: $0.message, advice: $0.advice)
      }
    }
  }
#endif
