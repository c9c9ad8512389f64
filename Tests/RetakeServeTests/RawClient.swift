import Foundation

/// Raw HTTP, so that a request can be as malformed as an attacker likes.
struct RawClient {
  struct Answer {
    var status: Int
    var headers: [String: String]
    var body: Data

    var text: String { String(decoding: body, as: UTF8.self) }
    /// The code of an error.
    var code: String? {
      ((try? JSONSerialization.jsonObject(with: body)) as? [String: Any])?["code"] as? String
    }
  }

  struct Failed: Error, CustomStringConvertible {
    var description: String
  }

  /// Seconds after which a silent server is a failure.
  static let secondsMax = 30

  let port: Int

  /// - Parameter headers: In addition to Host and Connection, or instead of them.
  func ask(
    _ method: String, _ path: String, _ headers: [String: String] = [:], body: String = ""
  ) throws -> Answer {
    var all = ["Host": "127.0.0.1:\(port)", "Connection": "close"]
    if method == "POST" || !body.isEmpty { all["Content-Length"] = "\(body.utf8.count)" }
    all.merge(headers) { $1 }
    let lines = all.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
    return try send(Data("\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body)".utf8))
  }

  /// Sends bytes and reads to the end.
  func send(_ bytes: Data) throws -> Answer {
    let connection = try Connection(port: port)
    connection.write(bytes)
    return try Self.parse(connection.readToEnd())
  }

  static func parse(_ data: Data) throws -> Answer {
    guard let end = data.range(of: Data("\r\n\r\n".utf8)) else {
      throw Failed(description: "no answer in \(data.count) bytes")
    }
    let head = String(decoding: data[..<end.lowerBound], as: UTF8.self)
    let lines = head.split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { throw Failed(description: "no status in: \(head)") }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    return Answer(status: status, headers: headers, body: Data(data[end.upperBound...]))
  }

  /// One connection, closed when the object is released.
  final class Connection {
    private let descriptor: Int32

    init(port: Int) throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var limit = timeval(tv_sec: RawClient.secondsMax, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(
          descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
      }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(UInt16(port)).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
      }
      guard result == 0 else { throw Failed(description: String(cString: strerror(errno))) }
    }

    deinit { close(descriptor) }

    /// Writes as much as the other end accepts.
    @discardableResult
    func write(_ data: Data) -> Int {
      var sent = 0
      let bytes = [UInt8](data)
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
          Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { break }
        sent += count
      }
      return sent
    }

    /// Reads everything until the other end closes.
    func readToEnd() throws -> Data {
      var data = Data()
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 {
          data.append(contentsOf: buffer[..<count])
        } else if count < 0, errno == EAGAIN {
          throw Failed(description: "the server says nothing and does not hang up")
        } else {
          return data
        }
      }
    }
  }
}
