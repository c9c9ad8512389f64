// SAFETY: these are C structs of SDL 2's headers, field by field in the same order and with the
// same types. An event is read only from bytes that SDL filled, at the offsets of SDL's union.

/// `SDL_RendererInfo`.
struct SDLRendererInfo {
  var name: UnsafePointer<CChar>?
  var flags: UInt32 = 0
  var formatCount: UInt32 = 0
  var formats:
    (
      UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32,
      UInt32, UInt32, UInt32, UInt32, UInt32
    ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  var textureWidthMax: Int32 = 0
  var textureHeightMax: Int32 = 0
}

/// `SDL_Event`, a union of 56 bytes.
struct SDLEvent {
  static let byteCount = 56

  static func parse(_ bytes: UnsafeRawBufferPointer) -> WindowEvent? {
    func word(_ offset: Int) -> UInt32 {
      bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
    func signed(_ offset: Int) -> Int { Int(Int32(bitPattern: word(offset))) }
    // The type, then members at the offsets of SDL_events.h.
    switch word(0) {
    case 0x100: return .close
    case 0x200:
      switch bytes[12] {
      // SDL_WINDOWEVENT_EXPOSED, SIZE_CHANGED and, below, CLOSE.
      case 3, 6: return .exposed
      case 14: return .close
      default: return nil
      }
    case 0x300: return PreviewKey(keycode: word(20), modifiers: word(24) & 0xFFFF).map { .key($0) }
    case 0x400: return .pointer(x: signed(20), y: signed(24), isDown: word(16) & 1 != 0)
    // Button 1 is the left one.
    case 0x401 where bytes[16] == 1: return .press(x: signed(20), y: signed(24))
    case 0x402 where bytes[16] == 1: return .release
    default: return nil
    }
  }
}
