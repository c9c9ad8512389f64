import RetakeCore

/// Compares the images of a sink, and keeps the worst value of each measure.
struct ImageMeter {
  private struct Worst {
    var error = 0.0
    var frame: FrameID?

    mutating func note(_ error: Double, _ frame: FrameID) {
      guard error > self.error else { return }
      (self.error, self.frame) = (error, frame)
    }
  }

  private var structure = Worst()
  private var densest = Worst()
  private var noise = Worst()
  private(set) var measured = 0
  /// Images that differ by their digest, but whose pixels were not compared because of
  /// `pictureEvery`.
  private(set) var unmeasured = 0

  /// The difference of a frame's image that is not allowed, in words.
  mutating func difference(
    _ golden: FramePrint, _ actual: FramePrint, sink: String, _ rule: SinkRule,
    _ images: ImageDifference.Measure?, _ frames: (golden: FrameID, actual: FrameID)
  ) -> String? {
    guard golden != actual else { return nil }
    let forms = [golden, actual].map {
      "\($0.width)x\($0.height) \($0.format) \($0.range) \($0.matrix)"
    }
    guard forms[0] == forms[1] else {
      return "the image is \(forms[1]) instead of \(forms[0])"
    }
    // In the other modes no pixels are kept, and the digest decides.
    guard rule.mode == .pictures else { return "the image differs" }
    // By sequence, as the files are chosen when they are kept: both sides have the same frames.
    guard frames.golden.sequence % rule.pictureEvery == 0 else {
      unmeasured += 1
      return nil
    }
    guard let found = images?(sink, frames.golden, frames.actual) else {
      return "the image differs, and its pixels were not kept"
    }
    return judge(found, rule, frames.golden)
  }

  private mutating func judge(
    _ found: ImageDifference, _ rule: SinkRule, _ frame: FrameID
  ) -> String? {
    measured += 1
    // Recorded before the verdict: headroom shows how close the images within the limits came.
    structure.note(1 - found.ssim, frame)
    densest.note(found.densest, frame)
    noise.note(found.rms, frame)
    let isAllowed =
      found.psnr >= rule.psnrMin && found.ssim >= rule.ssimMin
      && found.densest <= rule.densestMax
    guard !isAllowed else { return nil }
    let pixels = counted(found.changedPixels, "pixel")
    return "the image differs in \(pixels) by up to \(found.levelsMax) levels: "
      + "PSNR \(FixedDecimal(found.psnr, decimals: 2).text) dB, "
      + "SSIM \(FixedDecimal(found.ssim, decimals: 4).text), "
      + "\(FixedDecimal(found.densest * 100, decimals: 1).text) % of the window at "
      + "\(found.densestX),\(found.densestY)"
  }

  func headroom(sink: String, _ rule: SinkRule) -> [ErrorHeadroom] {
    guard measured > 0 else { return [] }
    func row(_ quantity: String, _ worst: Worst, _ allowed: Double) -> ErrorHeadroom {
      ErrorHeadroom(
        sink: sink, quantity: quantity, largest: worst.error, allowed: allowed, frame: worst.frame)
    }
    var rows = [
      row("structure", structure, 1 - rule.ssimMin),
      row("densest window", densest, rule.densestMax),
    ]
    if rule.psnrMin > 0 {
      // As a root mean square: decibels fall when the error rises, and have no share of a limit.
      rows.append(row("noise", noise, ImageDifference.rms(psnr: rule.psnrMin)))
    }
    return rows
  }

  /// A note about images whose pixels were not compared.
  func note(sink: String) -> String? {
    guard unmeasured > 0 else { return nil }
    let count = counted(unmeasured, "image differs", "images differ")
    return "\(sink): \(count) by digest; the pixels were not compared, because of pictureEvery"
  }
}
