/// This build of Retake.
public enum Tool {
  public static let name = "retake"
  public static let version = "0.1.0"
}
