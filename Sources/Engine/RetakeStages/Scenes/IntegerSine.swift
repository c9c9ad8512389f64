/// A sine from a table, identical on every machine.
enum IntegerSine {
  /// 65,536 units are one full turn.
  static let turn = 65_536

  /// The sine of an angle in units of 1/65,536 turn, from -32,767 to 32,767.
  static func value(_ angle: Int) -> Int {
    // A turn is a power of two, so the mask also brings negative angles into it.
    let inTurn = angle & (turn - 1)
    let inHalf = inTurn & 0x7fff
    let folded = inHalf <= 0x4000 ? inHalf : 0x8000 - inHalf
    let (cell, part) = (folded >> 8, folded & 0xff)
    let low = quarter[cell]
    // The last cell is the peak itself, which no other follows.
    let high = cell + 1 < quarter.count ? quarter[cell + 1] : low
    let value = low + ((high - low) * part + 128) >> 8
    return inTurn < 0x8000 ? value : -value
  }

  /// round(32,767 · sin(π/2 · i/64)).
  private static let quarter = [
    0, 804, 1_608, 2_410, 3_212, 4_011, 4_808, 5_602, 6_393, 7_179, 7_962,
    8_739, 9_512, 10_278, 11_039, 11_793, 12_539, 13_279, 14_010, 14_732, 15_446, 16_151,
    16_846, 17_530, 18_204, 18_868, 19_519, 20_159, 20_787, 21_403, 22_005, 22_594, 23_170,
    23_731, 24_279, 24_811, 25_329, 25_832, 26_319, 26_790, 27_245, 27_683, 28_105, 28_510,
    28_898, 29_268, 29_621, 29_956, 30_273, 30_571, 30_852, 31_113, 31_356, 31_580, 31_785,
    31_971, 32_137, 32_285, 32_412, 32_521, 32_609, 32_678, 32_728, 32_757, 32_767,
  ]
}
