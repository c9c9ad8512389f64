import Foundation
import RetakeSession

/// Reports the number of frames done, and stops the operation on request.
struct TrimProgress {
  let total: Int
  let report: @Sendable (SessionCheck.Progress) -> Bool
  private var done = 0

  init(total: Int, report: @escaping @Sendable (SessionCheck.Progress) -> Bool) {
    (self.total, self.report) = (total, report)
  }

  mutating func advance(_ count: Int = 1) throws {
    done += count
    guard report(SessionCheck.Progress(done: done, total: total)) else {
      throw SessionError.interrupted
    }
  }
}
