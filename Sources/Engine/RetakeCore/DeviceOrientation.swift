/// How the device is held.
public enum DeviceOrientation: String, Hashable, Sendable, Codable, CaseIterable {
  case portrait
  case portraitUpsideDown
  case landscapeLeft
  case landscapeRight
}
