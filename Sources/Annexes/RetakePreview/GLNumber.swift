import Foundation

/// Constants from Khronos' headers.
enum GLNumber {
  static let triangles: UInt32 = 0x0004
  static let sourceAlpha: UInt32 = 0x0302
  static let oneMinusSourceAlpha: UInt32 = 0x0303
  static let blend: UInt32 = 0x0BE2
  static let scissorTest: UInt32 = 0x0C11
  static let unpackRowLength: UInt32 = 0x0CF2
  static let unpackAlignment: UInt32 = 0x0CF5
  static let packAlignment: UInt32 = 0x0D05
  static let textureSizeMax: UInt32 = 0x0D33
  static let texture2D: UInt32 = 0x0DE1
  static let unsignedByte: UInt32 = 0x1401
  static let float: UInt32 = 0x1406
  static let rgb: UInt32 = 0x1907
  static let rgba: UInt32 = 0x1908
  static let luminance: UInt32 = 0x1909
  static let luminanceAlpha: UInt32 = 0x190A
  static let renderer: UInt32 = 0x1F01
  static let version: UInt32 = 0x1F02
  static let extensions: UInt32 = 0x1F03
  static let nearest: Int32 = 0x2600
  static let linear: Int32 = 0x2601
  static let magFilter: UInt32 = 0x2800
  static let minFilter: UInt32 = 0x2801
  static let wrapS: UInt32 = 0x2802
  static let wrapT: UInt32 = 0x2803
  static let colorBufferBit: UInt32 = 0x4000
  static let clampToEdge: Int32 = 0x812F
  static let texture0: UInt32 = 0x84C0
  static let queryResult: UInt32 = 0x8866
  static let queryResultAvailable: UInt32 = 0x8867
  static let timeElapsed: UInt32 = 0x88BF
  static let fragmentShader: UInt32 = 0x8B30
  static let vertexShader: UInt32 = 0x8B31
  static let compileStatus: UInt32 = 0x8B81
  static let linkStatus: UInt32 = 0x8B82
}
