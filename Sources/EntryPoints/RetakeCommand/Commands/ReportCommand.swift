import ArgumentParser
import Foundation
import Retake
import RetakeProcess

/// The default browser of the desktop.
enum DesktopBrowser {
  #if os(macOS)
    private static let opener = "open"
  #else
    private static let opener = "xdg-open"
  #endif

  /// Opens the page and does not wait; `false` if no browser was found.
  static func open(_ page: URL) -> Bool {
    guard let found = ChildProcess.path(of: opener) else { return false }
    // A desktop that does not start the browser is not an error: the path is printed.
    return (try? ChildProcess(ChildProcess.Request(found, [page.path]))) != nil
  }
}
