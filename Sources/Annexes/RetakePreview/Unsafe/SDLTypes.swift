// SAFETY: these are C structs of SDL 2's headers, field by field in the same order and with the
// same types. An event is read only from bytes that SDL filled, at the offsets of its own union.

/// `SDL_Rect`.
struct SDLRect: Hashable, Sendable {
  var x: Int32
  var y: Int32
  var width: Int32
  var height: Int32

  init(_ rect: CanvasRect) {
    x = Int32(clamping: rect.x)
    y = Int32(clamping: rect.y)
    width = Int32(clamping: rect.width)
    height = Int32(clamping: rect.height)
  }
}

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

/// Constants from SDL 2's headers.
enum SDLNumber {
  /// Applied to the texture, before it is rotated.
  static let flipHorizontal: Int32 = 1
  static let initVideo: UInt32 = 0x20
  static let windowCentered: Int32 = 0x2FFF_0000
  static let windowOpenGL: UInt32 = 0x2
  static let windowResizable: UInt32 = 0x20
  static let windowAllowHighDPI: UInt32 = 0x2000
  static let fullscreenDesktop: UInt32 = 0x1001
  static let rendererSoftware: UInt32 = 0x1
  static let rendererVsync: UInt32 = 0x4
  static let streaming: Int32 = 1
  static let scaleNearest: Int32 = 0
  static let scaleLinear: Int32 = 1
  static let blendNone: Int32 = 0
  static let blendAlpha: Int32 = 1
  static let modeJPEG: Int32 = 0
  static let modeBT601: Int32 = 1
  static let modeBT709: Int32 = 2
  static let glDoubleBuffer: Int32 = 5
  static let glDepth: Int32 = 6
  static let glMajor: Int32 = 17
  static let glMinor: Int32 = 18
  static let glProfile: Int32 = 21
  static let glProfileES: Int32 = 4
  // Four characters, lowest byte first.
  static let formatIYUV: UInt32 = 0x5655_5949
  static let formatNV12: UInt32 = 0x3231_564E
  // Named after a native 32-bit word. On the little-endian machines that Retake runs on, the bytes
  // are in reverse order.
  static let formatRGB24: UInt32 = 0x1710_1803
  static let formatARGB8888: UInt32 = 0x1636_2004
  static let formatABGR8888: UInt32 = 0x1676_2004
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
