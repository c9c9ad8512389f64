import Testing

@testable import RetakeReport

@Suite struct ColorTests {
  /// Text colors and their backgrounds, in both themes; WCAG 2.2 AA requires 4.5.
  @Test(arguments: [
    ("ink", ["page", "surface", "sunken"]), ("ink-2", ["page", "surface", "sunken"]),
    ("ink-3", ["page", "surface", "sunken"]), ("red", ["surface", "page", "red-soft"]),
    ("green", ["surface", "page", "green-soft"]), ("amber", ["surface", "page", "amber-soft"]),
    ("blue", ["surface", "page", "blue-soft"]), ("violet", ["surface", "page", "violet-soft"]),
  ])
  func `text is readable in both themes`(_ ink: String, _ grounds: [String]) throws {
    for theme in try themes() {
      for ground in grounds {
        let ratio = contrast(try #require(theme[ink]), try #require(theme[ground]))
        #expect(ratio >= 4.5, "\(ink) on \(ground): \(ratio)")
      }
    }
  }

  @Test func `contrast is the one of WCAG`() {
    #expect(contrast(0x000000, 0xFFFFFF) == 21)
    #expect((4.53...4.55).contains(contrast(0x767676, 0xFFFFFF)))
  }

  /// The colors of the light theme, of the system's dark theme, and of the dark theme by choice,
  /// which is the same.
  private func themes() throws -> [[String: Int]] {
    let blocks = HTMLReport.style.matches(of: /:root[^{}]*\{([^{}]*)\}/).map { block in
      var colors: [String: Int] = [:]
      for match in block.1.matches(of: /--([a-z0-9-]+): #([0-9a-f]{6});/) {
        colors[String(match.1)] = Int(match.2, radix: 16)
      }
      return colors
    }
    let themes = blocks.filter { !$0.isEmpty }
    try #require(themes.count == 3)
    #expect(themes[1] == themes[2])
    return themes
  }

  private func contrast(_ left: Int, _ right: Int) -> Double {
    let (low, high) = (
      min(luminance(left), luminance(right)), max(luminance(left), luminance(right))
    )
    return (high + 0.05) / (low + 0.05)
  }

  private func luminance(_ color: Int) -> Double {
    let parts = [color >> 16 & 255, color >> 8 & 255, color & 255].map { part in
      let value = Double(part) / 255
      return value <= 0.04045 ? value / 12.92 : power((value + 0.055) / 1.055)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }

  /// x^2.4 = x² · x^(2/5), the fifth root by Newton's steps.
  private func power(_ x: Double) -> Double {
    let square = x * x
    var root = 1.0
    for _ in 0..<60 {
      root -= (root * root * root * root * root - square) / (5 * root * root * root * root)
    }
    return square * root
  }
}
