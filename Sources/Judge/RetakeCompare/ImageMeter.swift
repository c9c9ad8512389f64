import RetakeCore

/// Compares the images of a sink, and keeps the worst value of each measure.
struct ImageMeter {
  typealias Places = (golden: StoredImages.Place, actual: StoredImages.Place)

  /// A file with other pixels than its line.
  struct Damage {
    var place: StoredImages.Place
    var isPicture: Bool
    var isGolden: Bool
  }

  /// Asked in long work: see `FrameComparator.isInterrupted`.
  private let isInterrupted: () -> Bool
  private var structure = WorstError()
  private var densest = WorstError()
  private var noise = WorstError()
  private var mapError = WorstError()
  private(set) var measured = 0
  /// The first such file.
  private(set) var damaged: Damage?
  private var measuredMaps = 0
  /// Images that differ by their digest, but whose pixels were not compared because of
  /// `pictureEvery`.
  private(set) var unmeasured = 0

  init(isInterrupted: @escaping () -> Bool) { self.isInterrupted = isInterrupted }

  /// The difference of a frame's image that is not allowed, in words.
  mutating func difference(
    _ golden: FramePrint, _ actual: FramePrint, _ rule: SinkRule, _ images: StoredImages?,
    _ places: Places
  ) -> String? {
    guard golden != actual else { return nil }
    let forms = [golden, actual].map {
      "\($0.width)x\($0.height) \($0.format) \($0.range) \($0.matrix)"
    }
    guard forms[0] == forms[1] else {
      return "the image is \(forms[1]) instead of \(forms[0])"
    }
    // Without a limit of images no pixels are kept, and the digest decides.
    guard rule.comparesPixels else { return "the image \(Self.byDigest(rule))" }
    guard isKept(places, rule) else { return nil }
    guard let found = images?.frames(places.golden, places.actual) else {
      return "the image differs, and its pixels were not kept"
    }
    return judge(found, rule, places.golden.frame).map { "the image \($0)" }
  }

  /// The difference of an image among the observations of a frame: in words without their subject,
  /// with its largest error if it is a map of numbers.
  ///
  /// - Parameter meter: Records this error like that of a number.
  mutating func difference(
    _ golden: PixelArray, _ actual: PixelArray, _ rule: SinkRule, _ images: StoredImages?,
    _ places: Places, _ meter: inout ErrorMeter
  ) -> (text: String, error: ErrorMeter.Measured?)? {
    guard golden.form == actual.form else {
      return ("is \(actual.form) instead of \(golden.form)", nil)
    }
    guard rule.comparesPixels else { return (Self.byDigest(rule), nil) }
    guard isKept(places, rule) else { return nil }
    guard let kept = images?.arrays(places.golden, places.actual) else {
      return ("differs, and its pixels were not kept", nil)
    }
    guard let own = array(kept.golden, golden, places.golden, isGolden: true),
      let other = array(kept.actual, actual, places.actual, isGolden: false)
    else { return ("differs, and there is no file of its pixels", nil) }
    if let left = ImagePixels(own), let right = ImagePixels(other),
      let found = ImageDifference(golden: left, actual: right, isInterrupted: isInterrupted)
    {
      return judge(found, rule, places.golden.frame).map { ($0, nil) }
    }
    // Both have numbers of one form, so only an interruption ends this without a difference.
    guard
      let found = MapDifference(golden: own, actual: other, rule, isInterrupted: isInterrupted)
    else { return nil }
    // Numbers that `densestMax` allows would exceed a tolerance that does not apply.
    if rule.densestMax == 0 {
      meter.noteExact(found.worst.golden, found.worst.actual, places.golden.frame)
    }
    return judge(found, rule, places.golden.frame)
  }

  private static func byDigest(_ rule: SinkRule) -> String {
    "differs by its digest (mode \(rule.mode.rawValue))"
  }

  /// The kept image if it is that of a line.
  private mutating func array(
    _ kept: StoredImages.Kept, _ line: PixelArray, _ place: StoredImages.Place, isGolden: Bool
  ) -> PixelArray? {
    switch kept {
    case .absent: return nil
    case .array(let array) where array == line: return array
    case .array, .unreadable:
      if damaged == nil {
        damaged = Damage(place: place, isPicture: line.isPicture, isGolden: isGolden)
      }
      return nil
    }
  }

  /// Whether files have the pixels of a frame, which is a question of its sequence: both sides have
  /// the same frames.
  private mutating func isKept(_ places: Places, _ rule: SinkRule) -> Bool {
    if places.golden.frame.sequence % rule.pictureEvery == 0 { return true }
    unmeasured += 1
    return false
  }

  private mutating func judge(
    _ found: MapDifference, _ rule: SinkRule, _ frame: FrameID
  ) -> (text: String, error: ErrorMeter.Measured?)? {
    measuredMaps += 1
    densest.note(found.densest, frame)
    mapError.note(found.rms, frame)
    let isAllowed =
      found.densest <= rule.densestMax
      && (rule.rmsMax == 0 || found.rms <= rule.rmsMax * (1 + 1e-9))
    guard !isAllowed else { return nil }
    let pixels = counted(found.exceeding, "pixel")
    let worst = found.worst
    let most = rule.rmsMax > 0 ? " (at most \(Self.short(rule.rmsMax)))" : ""
    let text =
      "differs by up to \(Self.short(worst.error)) at \(found.worstX),\(found.worstY) "
      + "(\(Self.short(worst.actual)) instead of \(Self.short(worst.golden)), "
      + "\(Self.short(worst.allowed)) allowed), "
      + "in \(pixels) by more than allowed: RMS \(Self.short(found.rms))\(most), "
      + Self.window(found.densest, found.densestX, found.densestY, rule)
    return (
      text,
      ErrorMeter.Measured(
        error: found.worst.error, allowed: found.worst.allowed, isAllowed: false)
    )
  }

  /// Four decimals; a large number is rounded to an integer, and a number that would be 0 is not
  /// rounded.
  private static func short(_ number: Double) -> String {
    if number != 0, number.magnitude < 0.000_05 { return "\(Float(number))" }
    return FixedDecimal(number, decimals: number.magnitude < 1_000 ? 4 : 0).text
  }

  /// `6.2 % of the window at 16,0 (at most 5.0 %)`.
  private static func window(_ share: Double, _ x: Int, _ y: Int, _ rule: SinkRule) -> String {
    let percents = [share, rule.densestMax].map { FixedDecimal($0 * 100, decimals: 1).text }
    return "\(percents[0]) % of the window at \(x),\(y) (at most \(percents[1]) %)"
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
    let least =
      rule.psnrMin > 0 ? " (at least \(FixedDecimal(rule.psnrMin, decimals: 2).text))" : ""
    return "differs in \(pixels) by up to \(found.levelsMax) levels: "
      + "PSNR \(FixedDecimal(found.psnr, decimals: 2).text) dB\(least), "
      + "SSIM \(FixedDecimal(found.ssim, decimals: 4).text) "
      + "(at least \(FixedDecimal(rule.ssimMin, decimals: 4).text)), "
      + Self.window(found.densest, found.densestX, found.densestY, rule)
  }

  func headroom(sink: String, _ rule: SinkRule) -> [ErrorHeadroom] {
    func row(_ quantity: String, _ worst: WorstError, _ allowed: Double) -> ErrorHeadroom {
      ErrorHeadroom(
        sink: sink, quantity: quantity, largest: worst.error, allowed: allowed, frame: worst.frame)
    }
    var rows: [ErrorHeadroom] = []
    if measured > 0 { rows.append(row("structure", structure, 1 - rule.ssimMin)) }
    if measured + measuredMaps > 0 { rows.append(row("densest window", densest, rule.densestMax)) }
    if measuredMaps > 0, rule.rmsMax > 0 { rows.append(row("map", mapError, rule.rmsMax)) }
    if measured > 0, rule.psnrMin > 0 {
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
