/// The name and the version of this build.
public enum Tool {
  public static let name = "retake"
  public static let version = "0.1.0"
}
