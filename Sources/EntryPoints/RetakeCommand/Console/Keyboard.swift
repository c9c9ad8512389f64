import Foundation
import Retake

/// Reads single keys and lines from the terminal on standard input, and restores its settings at
/// the end.
final class Keyboard {
  private let settings: termios

  /// - Throws: `SuiteError.noTerminal`.
  init() throws {
    var settings = termios()
    guard ProcessContext.current.ownsProcess, isatty(STDIN_FILENO) == 1,
      tcgetattr(STDIN_FILENO, &settings) == 0
    else { throw SuiteError.noTerminal }
    self.settings = settings
  }

  /// Waits for one key, which is not echoed. Ctrl-C and the end of input return the character
  /// U+0003.
  ///
  /// - Parameter question: Called when the terminal accepts keys, before waiting for the first one.
  func key(after question: () -> Void) throws -> Character {
    var raw = settings
    // Without ISIG Ctrl-C is a key like others: the command ends by itself and restores the
    // terminal.
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
    // VMIN and VTIME: wait for one byte, without a limit. Another program may have left a VMIN of
    // 0, and a read without a key would then look like the end of input.
    #if canImport(Darwin)
      (raw.c_cc.16, raw.c_cc.17) = (1, 0)
    #else
      (raw.c_cc.6, raw.c_cc.5) = (1, 0)
    #endif
    // TCSADRAIN keeps keys that were typed already; TCSAFLUSH would discard them (man 3 termios).
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0 else { throw SuiteError.noTerminal }
    defer { giveBack() }
    question()
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 1 { return Character(UnicodeScalar(byte)) }
      // Without input no key will ever come, so the question ends as with Ctrl-C, without a change.
      if count == 0 || errno != EINTR { return "\u{3}" }
    }
  }

  /// Asks for a line; `nil` is the end of input.
  func line(_ question: String) -> String? {
    // On standard error, because the results on standard output may go to a file.
    FileHandle.standardError.write(Data(visibleLines(question, keepsColors: false).utf8))
    return readLine()
  }

  private func giveBack() {
    var settings = settings
    tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
  }
}
