import RetakeBuffers
import RetakeCore
import RetakeStages

/// Regressions of numbers, waveforms, labels, texts and images.
enum PlantedSignals {
  private static let means = Recipe(.means, "pulse")
  private static let waves = Recipe(.waves, "pulse")
  private static let labels = Recipe(.labels, "pulse")
  private static let preview = Recipe(.preview, "figures")

  static let all = numbers + tolerances + waveforms + words + pictures

  private static func flip(_ frame: Frame) -> Frame {
    var frame = frame
    frame.range = frame.range == .full ? .limited : .full
    return frame
  }

  private static let numbers = [
    Planted("colour range", means, .numberChanged, at: .frame(0), "tint") {
      $0.picture = { frame, _ in flip(frame) }
    },
    Planted("colour range from a frame on", means, .numberChanged, at: .frame(40), "tint") {
      $0.picture = { frame, number in number < 40 ? frame : flip(frame) }
    },
    Planted("colour matrix", means, .numberChanged, at: .frame(0), "tint") {
      $0.picture = { frame, _ in
        var frame = frame
        frame.matrix = frame.matrix == .bt709 ? .bt601 : .bt709
        return frame
      }
    },
    Planted("a smaller region", means, .numberChanged, at: .firstDifference, "fingertip") {
      $0.percent = 40
    },
    Planted("a longer mean", means, .numberChanged, at: .firstDifference, "smooth") {
      $0.smoothing = 5
    },
    Planted(
      "late by two frames", means, .numberChanged, at: .firstDifference, "late",
      words: "red is the golden's, 2 frames later"
    ) { $0.late = 2 },
    Planted("a value that is no number", means, .numberChanged, at: .frame(40), "filter") {
      $0.changeScalars(to: 40) { $0[0].value = .nan }
    },
    Planted("an infinite value", means, .numberChanged, at: .frame(40), "filter") {
      $0.changeScalars(to: 40) { $0[1].value = -.infinity }
    },
    Planted("a value is missing", means, .factDisappeared, at: .frame(40), "filter") {
      $0.changeScalars(to: 40) { $0.removeLast() }
    },
    Planted("a value is new", means, .factAppeared, at: .frame(40), "filter") {
      $0.changeScalars(to: 40) { $0.insert(.init("alpha", 0), at: 0) }
    },
    Planted("another name", means, .factDisappeared, at: .frame(40), "filter") {
      $0.changeScalars { $0[0].name = "crimson" }
    },
    Planted("swapped channels", means, .numberChanged, at: .frame(0), "filter") {
      $0.changeScalars(from: 0) { entries in
        (entries[0].value, entries[2].value) = (entries[2].value, entries[0].value)
      }
    },
    Planted("a frozen value", means, .numberChanged, at: .frame(41), "filter") {
      $0.changeScalars(from: 41) { $0[0].value = 180 }
    },
    .allowed("a zero with a sign", means.zeroed(0)) { $0 = means.zeroed(-0.0) },
    Planted(
      "something instead of nothing", means.zeroed(0), .numberChanged, at: .frame(0), "filter"
    ) {
      $0 = means.zeroed(5)
    },
  ]

  private static let tolerances = [
    .allowed("half a percent of one", means.ruled(.numeric) { $0.relative = 0.01 }) {
      $0.changeScalars { $0[0].value *= 1.005 }
    },
    Planted(
      "two percent of one", means.ruled(.numeric) { $0.relative = 0.01 }, .numberChanged,
      at: .frame(40), "filter"
    ) {
      $0.changeScalars { $0[0].value *= 1.02 }
    },
    Planted(
      "drift of a number", means.ruled(.numeric) { $0.scalar = 1 }, .drift,
      at: .firstDifference, "filter"
    ) {
      $0.scalars = { value, frame in
        Scalars(value.entries.map { .init($0.name, $0.value + Double(frame) * 0.004) })
      }
    },
    Planted(
      "one outlier", means.ruled(.numeric) { $0.scalar = 0.5 }, .numberChanged, at: .frame(40),
      "filter"
    ) {
      $0.changeScalars(to: 40) { $0[2].value += 0.6 }
    },
  ]

  private static let waveforms = [
    Planted("a shorter waveform", waves, .waveformChanged, at: .frame(0), "window") {
      $0.window = 31
    },
    Planted(
      "a shifted waveform", waves, .waveformChanged, at: .frame(60), "filter",
      words: "2 samples (66.7 ms) later"
    ) {
      $0.wave = { wave, frame in
        guard frame == 60 else { return wave }
        let first = wave.samples[0]
        return Waveform(
          name: wave.name, rate: wave.rate, samples: [first, first] + wave.samples.dropLast(2))
      }
    },
    Planted("another rate", waves, .waveformChanged, at: .frame(40), "filter") {
      $0.wave = { wave, frame in
        frame < 40 ? wave : Waveform(name: wave.name, rate: 25, samples: wave.samples)
      }
    },
    Planted("a sample that is no number", waves, .waveformChanged, at: .frame(40), "filter") {
      $0.wave = { wave, frame in
        guard frame == 40 else { return wave }
        var wave = wave
        wave.samples[3] = .nan
        return wave
      }
    },
    .allowed("the same shape, louder", waves.ruled(.numeric) { $0.correlationMin = 0.999 }) {
      $0.wave = { wave, _ in
        Waveform(name: wave.name, rate: wave.rate, samples: wave.samples.map { $0 * 1.1 })
      }
    },
    Planted(
      "upside down", waves.ruled(.numeric) { $0.correlationMin = 0.999 }, .waveformChanged,
      at: .frame(40), "filter"
    ) {
      $0.wave = { wave, frame in
        frame < 40
          ? wave
          : Waveform(name: wave.name, rate: wave.rate, samples: wave.samples.map { 360 - $0 })
      }
    },
  ]

  private static let words = [
    Planted("swapped model", labels, .labelChanged, at: .frame(0), "colour") { recipe in
      recipe.palette = MeanColor.cube.map {
        NamedColor($0.label, red: $0.blue, green: $0.green, blue: $0.red)
      }
    },
    Planted("fewer labels", labels, .factDisappeared, at: .frame(0), "colour") { $0.top = 2 },
    Planted("the best label flips", labels, .labelChanged, at: .frame(40), "filter") {
      $0.classes = { classes, frame in
        guard frame == 40 else { return classes }
        var items = classes.items
        (items[0].label, items[1].label) = (items[1].label, items[0].label)
        return Classes(items)
      }
    },
    Planted(
      "another letter", Recipe(.plates, "pulse"), .textChanged, at: .frame(40), "reader",
      words: "the text plate differs at character 7: 'LE' instead of 'KE'"
    ) {
      $0.plate = { $0 == 40 ? "RT 4 ALE" : "RT \($0 / 10) AKE" }
    },
  ]

  private static let tolerant = preview.ruled(.pictures) {
    $0.psnrMin = 40
    $0.ssimMin = 0.98
    $0.densestMax = 0.05
    $0.pictureEvery = 8
  }

  private static func dot(_ frame: Frame, side: Int = 1, by levels: UInt8 = 50) -> Frame {
    frame.changing { bytes in
      for y in 100..<100 + side {
        for x in 60..<60 + side { bytes[y * frame.width + x] &+= levels }
      }
    }
  }

  private static let pictures = [
    Planted(
      "one-pixel image change", preview, .pictureChanged, at: .frame(40), "tint",
      words: "the image differs"
    ) { $0.picture = { frame, number in number == 40 ? dot(frame) : frame } },
    Planted(
      "one-pixel image change, looked at", preview.ruled(.pictures) { $0.pictureEvery = 8 },
      .pictureChanged,
      at: .frame(40), "tint", words: "of the window at"
    ) { $0.picture = { frame, number in number == 40 ? dot(frame) : frame } },
    .allowed("one pixel of noise", tolerant) {
      $0.picture = { frame, number in number == 40 ? dot(frame) : frame }
    },
    Planted(
      "a small square", tolerant, .pictureChanged, at: .frame(40), "tint",
      words: "of the window at"
    ) { $0.picture = { frame, number in number == 40 ? dot(frame, side: 8) : frame } },
    Planted("all of it brighter", tolerant, .pictureChanged, at: .frame(40), "tint") {
      $0.picture = { frame, number in
        guard number == 40 else { return frame }
        return frame.changing { bytes in
          for index in bytes.indices { bytes[index] = min(bytes[index], 245) + 10 }
        }
      }
    },
    Planted(
      "another size", preview, .pictureChanged, at: .frame(0), "crop",
      words: "the image is 298x220"
    ) { $0.crop.width = 298 },
    Planted(
      "one pixel in a digest", Recipe(.digest, "figures"), .factChanged, at: .frame(40), "tint"
    ) { $0.picture = { frame, number in number == 40 ? dot(frame) : frame } },
  ]
}

extension Recipe {
  /// With a fourth value that is always the same.
  fileprivate func zeroed(_ value: Double) -> Recipe {
    var recipe = self
    recipe.changeScalars(from: 0) { $0.append(.init("offset", value)) }
    return recipe
  }
}
