/// The name and the version of this build.
package enum Tool {
  package static let name = "retake"
  package static let version = "0.1.0"
}
