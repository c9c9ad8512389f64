import RetakeCompare
import RetakeGolden
import RetakeReport

extension ReportCase {
  /// Adds the tolerances of golden.yml, and the date and reason of the latest acceptance.
  mutating func describe(_ manifest: GoldenManifest) {
    tolerances = manifest.compare.bySink.keys.sorted().map { sink in
      ReportTolerance(sink: sink, rule: manifest.compare.rule(for: sink).reportText)
    }
    accepted = manifest.accepted.last.map { ReportAcceptance(at: $0.at, reason: $0.reason) }
  }
}

extension SinkRule {
  /// The rule in words, without the values that are already as strict as possible.
  fileprivate var reportText: String {
    var parts = [mode.rawValue]
    if mode == .boxes { parts.append("overlap at least \(iou)") }
    let amounts: [(String, Double, String)] = [
      ("position", position, " px"), ("score", score, ""), ("scalar", scalar, ""),
      ("share of a number", relative, ""), ("RMS", rmsMax, ""),
      ("drift in 1,000 frames", driftPer1000, ""), ("cosine distance", cosineMax, ""),
    ]
    if maskIoUMin < 1 { parts.append("IoU of masks at least \(maskIoUMin)") }
    parts += amounts.filter { $0.1 > 0 }.map { "\($0.0) within \($0.1)\($0.2)" }
    if psnrMin > 0 { parts.append("PSNR at least \(psnrMin) dB") }
    if comparesPixels, ssimMin < 1 { parts.append("SSIM at least \(ssimMin)") }
    if densestMax > 0 { parts.append("at most \(densestMax) of a window changed") }
    if unmatchedMax > 0 { parts.append("at most \(unmatchedMax) boxes without a partner") }
    if order == .significant { parts.append("in the order given") }
    return parts.joined(separator: ", ")
  }
}
