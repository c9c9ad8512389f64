import Foundation
import RetakeProcess

/// A window of a headless Chromium that a test drives by the DevTools protocol. It has cookies,
/// storage and permissions of its own, as a private window has.
///
/// It must not be used from several threads. Everything has a time limit, and the window closes with
/// this object.
package final class Chromium {
  package struct Failed: Error, CustomStringConvertible {
    package var description: String
  }

  /// The command's name; `nil` if Chromium is not installed.
  package static let command = ["chromium", "chromium-browser", "google-chrome"].first {
    ChildProcess.path(of: $0) != nil
  }

  /// Addresses that pages requested, in order.
  package private(set) var requests: [String] = []
  /// Exceptions, console errors, and requests that a page's policy rejected.
  package private(set) var complaints: [String] = []

  private let browser: ChromiumProcess
  private var context: String?
  private var session: String?
  private var loads = 0

  package init() throws {
    browser = try ChromiumProcess.running()
    let context = try call("Target.createBrowserContext")["browserContextId"] as? String ?? ""
    self.context = context
    let target = try call(
      "Target.createTarget", ["url": "about:blank", "browserContextId": context])["targetId"]
    let attached = try call(
      "Target.attachToTarget", ["targetId": target as? String ?? "", "flatten": true])
    session = attached["sessionId"] as? String
    for domain in ["Page", "Runtime", "Log", "Network"] { try call("\(domain).enable") }
    try call("Emulation.setFocusEmulationEnabled", ["enabled": true])
    try call(
      "Browser.grantPermissions",
      [
        "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
        "browserContextId": context,
      ])
    try resize(1280, 1000)
  }

  deinit {
    do {
      try call("Target.disposeBrowserContext", ["browserContextId": context ?? ""])
    } catch {
      // The next window starts a new browser.
      browser.end()
    }
  }

  // MARK: - User actions

  /// Opens an address, and returns when it has loaded.
  package func open(_ address: String) throws {
    let before = loads
    let answer = try call("Page.navigate", ["url": address])
    if let error = answer["errorText"] as? String { throw Failed(description: error) }
    guard answer["loaderId"] != nil else { return }
    // Ends with the load, or with the time limit of a message.
    while loads == before { _ = try message() }
  }

  /// The value of an expression in the page. Promises are awaited.
  @discardableResult
  package func evaluate(_ expression: String) throws -> Any? {
    let answer = try call(
      "Runtime.evaluate",
      ["expression": expression, "returnByValue": true, "awaitPromise": true])
    if let details = answer["exceptionDetails"] as? [String: Any] {
      let exception = details["exception"] as? [String: Any]
      throw Failed(
        description: exception?["description"] as? String ?? "\(details["text"] ?? "exception")")
    }
    return (answer["result"] as? [String: Any])?["value"]
  }

  package func text(_ expression: String) throws -> String {
    let value = try evaluate(expression)
    return value as? String ?? value.map { "\($0)" } ?? "nothing"
  }

  /// Returns when an expression has become true in the page.
  package func wait(for expression: String) throws {
    let script = """
      new Promise((done) => {
        const end = performance.now() + 300000;
        const look = () => { if (\(expression)) done(true); else if (performance.now() > end) done(false); else setTimeout(look, 20); };
        look();
      })
      """
    var found: Any?
    // A page that is being left answers with an error. At most a few are left in a row.
    for _ in 0..<5 where found == nil {
      do {
        found = try evaluate(script)
      } catch let error as Failed where error.description.contains("Runtime.evaluate") {
        continue
      }
    }
    guard found as? Bool == true else { throw Failed(description: "never true: \(expression)") }
  }

  /// Presses a key at the focus, such as `n`, `ArrowRight` or `End`.
  package func press(_ key: String) throws {
    var event: [String: Any] = ["type": "keyDown", "key": key]
    if key.count == 1 { event["text"] = key }
    if let code = Self.keyCodes[key] {
      event["windowsVirtualKeyCode"] = code
      event["code"] = key
    }
    try call("Input.dispatchKeyEvent", event)
    event["type"] = "keyUp"
    event["text"] = nil
    try call("Input.dispatchKeyEvent", event)
  }

  private static let keyCodes = [
    "Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
    "ArrowRight": 39, "ArrowDown": 40, "PageUp": 33, "PageDown": 34,
  ]

  package func type(_ text: String) throws { try call("Input.insertText", ["text": text]) }

  /// Clicks the middle of the first matching element, or another position in it.
  ///
  /// - Parameter across: The position in its width, 0 to 1.
  package func click(_ selector: String, across: Double = 0.5) throws {
    let place = try place(selector, across, 0.5)
    try mouse("mousePressed", place)
    try mouse("mouseReleased", place)
  }

  /// Drags from one position in the first matching element to another.
  ///
  /// - Parameter start: The position in its width and in its height, 0 to 1.
  package func drag(
    _ selector: String, from start: (Double, Double), to end: (Double, Double)
  ) throws {
    try mouse("mousePressed", try place(selector, start.0, start.1))
    try mouse("mouseMoved", try place(selector, end.0, end.1))
    try mouse("mouseReleased", try place(selector, end.0, end.1))
  }

  private func place(
    _ selector: String, _ across: Double, _ down: Double
  ) throws -> (x: Double, y: Double) {
    let script = """
      (() => { const one = document.querySelector(\(Self.quoted(selector))); one.scrollIntoView({ block: "center" });
        const area = one.getBoundingClientRect(); return [area.left, area.top, area.width, area.height]; })()
      """
    guard let area = try evaluate(script) as? [NSNumber], area.count == 4 else {
      throw Failed(description: "there is no \(selector)")
    }
    let numbers = area.map(\.doubleValue)
    return (numbers[0] + numbers[2] * across, numbers[1] + numbers[3] * down)
  }

  private func mouse(_ kind: String, _ place: (x: Double, y: Double)) throws {
    try call(
      "Input.dispatchMouseEvent",
      [
        "type": kind, "x": place.x, "y": place.y, "button": "left", "buttons": 1, "clickCount": 1,
      ])
  }

  package func resize(_ width: Int, _ height: Int) throws {
    try call(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
  }

  package func prefer(dark: Bool) throws {
    try call(
      "Emulation.setEmulatedMedia",
      ["features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]]])
  }

  /// The window as a PNG.
  package func screenshot() throws -> Data {
    let answer = try call("Page.captureScreenshot", ["format": "png"])
    guard let data = (answer["data"] as? String).flatMap({ Data(base64Encoded: $0) }) else {
      throw Failed(description: "no screenshot")
    }
    return data
  }

  /// Keeps a screenshot for people in the folder named by RETAKE_SCREENSHOTS, if it is set.
  package func keepScreenshot(_ name: String) throws {
    guard let path = ProcessInfo.processInfo.environment["RETAKE_SCREENSHOTS"] else { return }
    let folder = URL(filePath: path)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try screenshot().write(to: folder.appending(path: "\(name).png"))
  }

  /// A string as a JavaScript literal.
  package static func quoted(_ text: String) -> String {
    let data = try? JSONEncoder().encode(text)
    return data.map { String(decoding: $0, as: UTF8.self) } ?? "''"
  }

  // MARK: - The protocol

  @discardableResult
  private func call(
    _ method: String, _ parameters: [String: Any] = [:]
  ) throws -> [String: Any] {
    let isOfBrowser = method.hasPrefix("Browser.") || method.hasPrefix("Target.")
    let id = try browser.send(method, parameters, session: isOfBrowser ? nil : session)
    // Ends with the answer, or with the time limit of a message.
    while true {
      let message = try message()
      guard message["id"] as? Int == id else { continue }
      if let error = message["error"] as? [String: Any] {
        throw Failed(description: "\(method): \(error["message"] ?? "refused")")
      }
      return message["result"] as? [String: Any] ?? [:]
    }
  }

  private func message() throws -> [String: Any] {
    let message = try browser.message()
    // A window that was closed may have left events.
    if message["sessionId"] as? String == session { note(message) }
    return message
  }

  private func note(_ message: [String: Any]) {
    guard let method = message["method"] as? String else { return }
    let details = message["params"] as? [String: Any] ?? [:]
    switch method {
    case "Page.loadEventFired": loads += 1
    case "Network.requestWillBeSent":
      let request = details["request"] as? [String: Any]
      requests.append(request?["url"] as? String ?? "")
    case "Runtime.exceptionThrown":
      complaints.append("exception: \(details["exceptionDetails"] ?? "")")
    case "Log.entryAdded":
      let entry = details["entry"] as? [String: Any]
      if entry?["level"] as? String == "error" { complaints.append("\(entry?["text"] ?? "")") }
    default: break
    }
  }
}
