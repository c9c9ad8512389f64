import Foundation
import RetakeTestSupport
import Testing

/// `retake store`, and commands that take the name of a session that is in a store.
@Suite struct StoreCommandTests {
  private func workplace() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12)
    try FileManager.default.createDirectory(
      at: workplace.folder.file("disk"), withIntermediateDirectories: false)
    return workplace
  }

  private func remove(_ path: String, in workplace: Workplace) throws {
    try FileManager.default.removeItem(at: workplace.folder.file(path))
  }

  @Test func `push, replay, verify and gc speak of the same session`() throws {
    let workplace = try workplace()
    let replay = { try workplace.retake("replay", "yard", "-p", "example:motion-boxes", "--json") }
    let before = try replay().json()
    let push = try workplace.retake("store", "push", "yard", "--remote", "disk", "--json").json()
    #expect(push[0].session.text == "yard" && push[0].sentBytes.int == push[0].bytes.int)
    let again = try workplace.retake("store", "push", "yard", "--remote", "disk")
    #expect(again.status == 0 && again.stdout.contains(", 0 bytes sent  "), "\(again.stdout)")
    try remove("Recordings/yard", in: workplace)
    let list = try workplace.retake("session", "list")
    #expect(list.stdout == "yard  in a store: retake store pull yard\n")
    #expect(
      try workplace.retake("session", "list", "--json").json()[0].isStored.value as? Bool == true)

    let offline = try workplace.retake(
      "replay", "yard", "-p", "example:motion-boxes", "--offline")
    #expect(offline.status == 2)
    #expect(offline.stderr.contains("[suite.store.offline]\n  Leave out --offline, or fetch it"))
    let pull = try workplace.retake("store", "pull", "--json").json()
    #expect(pull[0].fetchedBytes.int == push[0].bytes.int)
    #expect(try workplace.retake("store", "pull").stdout.contains(", 0 bytes fetched  "))
    #expect(try replay().json().resultDigest.text == before.resultDigest.text)
    #expect(try workplace.retake("session", "check", "yard", "--deep").status == 0)
    let note = try workplace.retake("session", "note", "yard", "gate 3")
    #expect(note.status == 2 && note.stderr.contains("[suite.store.copy]"), "\(note.stderr)")
    #expect(note.stderr.contains("Copy it first: cp -r "), "\(note.stderr)")

    let verify = try workplace.retake("store", "verify")
    #expect(verify.status == 0 && verify.stdout.contains(" objects are as named, "))
    let swept = try workplace.retake("store", "gc", "--remote", "disk", "--json").json()
    #expect((swept.named.int ?? 0) > 1 && swept.unnamed.count == 0 && swept.young.int == 0)
    try FileManager.default.removeItem(at: workplace.folder.file("disk/objects"))
    let damaged = try workplace.retake("store", "verify")
    #expect(damaged.status == 1)
    #expect(damaged.stdout.hasPrefix("yard: missing in disk: objects/"), "\(damaged.stdout)")
  }

  @Test func `errors say what to type next`() throws {
    let workplace = try workplace()
    let none = try workplace.retake("store", "push", "yard")
    #expect(none.status == 64 && none.stderr.contains("store: {remote: DIR}"), "\(none.stderr)")
    let gone = try workplace.retake("store", "push", "yard", "--remote", "/nonexistent/disk")
    #expect(gone.status == 2 && gone.stderr.contains("mkdir -p /nonexistent/disk"))
    _ = try workplace.retake("store", "push", "yard", "--remote", "disk")
    let misspelt = try workplace.retake("store", "pull", "yar")
    #expect(misspelt.status == 2 && misspelt.stderr.contains("Did you mean 'yard'?"))
    let unknown = try workplace.retake("store", "pull", "gate")
    #expect(unknown.stderr.contains("the session 'gate' has no pointer"), "\(unknown.stderr)")
    let bucket = try workplace.retake("store", "gc", "--remote", "s3://footage")
    #expect(bucket.status == 64 && bucket.stderr.contains("lifecycle"), "\(bucket.stderr)")
  }

  private static let hasServer =
    (try? runCommand("rclone", arguments: ["version"]).status) == 0
    && Judges.has("moto.server, boto3, flask")

  /// A server of Amazon's protocol in this machine, with a bucket; then the commands of the lines.
  private static let server = """
    import os, subprocess, sys
    from moto.server import ThreadedMotoServer
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(AWS_ENDPOINT_URL=f"http://{host}:{port}", AWS_ACCESS_KEY_ID="a",
        AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-east-1", AWS_REGION="us-east-1")
    import boto3
    s3 = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    s3.create_bucket(Bucket="footage")
    def retake(*words):
        result = subprocess.run([sys.argv[1], *words], capture_output=True, text=True)
        print(result.returncode, result.stdout, result.stderr)
    retake("store", "push", "yard", "--remote", "s3://footage/sessions")
    os.rename("Recordings/yard", "yard")
    keys = [o["Key"] for o in s3.list_objects_v2(Bucket="footage")["Contents"]]
    retake("store", "verify")
    for key in keys:
        data = s3.get_object(Bucket="footage", Key=key)["Body"].read()
        s3.put_object(Bucket="footage", Key=key, Body=bytes([data[0] ^ 1]) + data[1:])
    retake("store", "pull")
    os.rename("yard", "Recordings/yard")
    for key in keys:
        s3.delete_object(Bucket="footage", Key=key)
    retake("store", "push", "yard", "--remote", "s3://footage/sessions")
    os.rename("Recordings/yard", "yard")
    retake("session", "check", "yard")
    """

  @Test(.enabled(if: hasServer, "rclone, or moto of PyPI, is not installed"))
  func `a bucket keeps a session, and a damaged object is refused`() throws {
    let workplace = try workplace()
    let result = try runCommand(
      Judges.python, arguments: ["-c", Self.server, Workplace.binary],
      environment: ["CI": nil, "RETAKE_CACHE_KEY": Workplace.cacheKey],
      folder: workplace.folder.url)
    #expect(result.status == 0, "\(result.stderr)")
    let lines = result.stdout.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("0 ") }.count == 4, "\(result.stdout)")
    #expect(result.stdout.contains("[suite.store.damaged]"), "\(result.stdout)")
    #expect(result.stdout.contains("0 intact: "), "\(result.stdout)")
  }
}
