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
