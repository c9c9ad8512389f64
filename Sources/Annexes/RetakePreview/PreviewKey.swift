/// The keys that have a function.
enum PreviewKey: Hashable, Sendable {
  case space, period, comma, left, right, up, down, plus, minus, home, end, escape
  case letter(Character)

  /// - Parameters:
  ///   - keycode: SDL's key code: the character of the key, or a special number.
  ///   - modifiers: SDL's modifier bits.
  init?(keycode: UInt32, modifiers: UInt32) {
    switch keycode {
    case 0x20: self = .space
    case 0x2E: self = .period
    case 0x2C: self = .comma
    // A key of the keypad has no character; SDL sets bit 30 of its scan code instead.
    case 0x2B, 0x4000_0057: self = .plus
    // `=` is the key of `+` on a US keyboard, where `+` needs the shift key.
    case 0x3D: self = .plus
    case 0x2D, 0x4000_0056: self = .minus
    case 0x1B: self = .escape
    case 0x4000_004F: self = .right
    case 0x4000_0050: self = .left
    case 0x4000_0051: self = .down
    case 0x4000_0052: self = .up
    case 0x4000_004A: self = .home
    case 0x4000_004D: self = .end
    case 0x61...0x7A:
      // Key combinations of the window manager are ignored.
      let control: UInt32 = 0x00C0 | 0x0300 | 0x0C00
      guard modifiers & control == 0, let scalar = Unicode.Scalar(keycode) else { return nil }
      self = .letter(Character(scalar))
    default: return nil
    }
  }
}
