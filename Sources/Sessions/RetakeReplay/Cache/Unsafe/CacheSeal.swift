import RetakeCore
import RetakeMedia

/// Authenticates the packs of one kind in one folder. A pack that was written with another key, or
/// that comes from another folder, has another code.
struct CacheSeal: Sendable {
  private let key: [UInt8]
  private let kind: CachePack.Kind
  private let pixelSecret: DigestSecret

  init(secret: [UInt8], about: String, kind: CachePack.Kind) {
    func derived(_ use: String) -> [UInt8] {
      var code = HmacSha256(key: secret)
      code.append(Array("\(about)/\(use)".utf8))
      return code.finish()
    }
    key = derived("key")
    self.kind = kind
    pixelSecret = DigestSecret(
      (0..<DigestSecret.count / HmacSha256.count).flatMap { derived("pixels \($0)") })
  }

  /// The digest of a record. Values are small, and verdicts depend on them, so they have a full
  /// authentication code, truncated to 128 bits. Pixels are large, so they have a digest with a
  /// secret.
  func digest(of bytes: UnsafeRawBufferPointer) -> Digest128 {
    // SAFETY: the bytes are only read, and no pointer to them is kept.
    guard kind == .values else { return pixelSecret.digest(of: bytes) }
    var code = HmacSha256(key: key)
    // Records and tables share a key. This word, and `table` below, keep one from passing for the
    // other.
    code.append(Array("record".utf8))
    code.append(bytes)
    return Digest128(bytes: code.finish().prefix(16)) ?? .zero
  }

  /// The code of a pack's table and its offset.
  func code(ofTable bytes: UnsafeRawBufferPointer, at start: Int) -> [UInt8] {
    var code = HmacSha256(key: key)
    code.append(Array("table \(start)\n".utf8))
    code.append(bytes)
    return code.finish()
  }

  func digest(of bytes: [UInt8]) -> Digest128 { bytes.withUnsafeBytes { digest(of: $0) } }

  func code(ofTable bytes: [UInt8], at start: Int) -> [UInt8] {
    bytes.withUnsafeBytes { code(ofTable: $0, at: start) }
  }
}
