import RetakeCore

extension SuiteError {
  /// A pointer or a file of a store that cannot be read.
  static func pointerUnreadable(_ path: String, cause: String) -> Self {
    Self(
      "suite.store.unreadable", "this file of a stored session cannot be read", cause: cause,
      at: path, advice: "Put a regular file with a name of letters and digits in its place")
  }

  /// Git LFS stores the pointer, too.
  static func pointerOfGit(_ path: String) -> Self {
    Self(
      "suite.store.lfs", "this is a pointer of Git LFS, not the file itself", at: path,
      advice: LargeFilePointer.advice)
  }

  /// A session has a file that closed sessions do not have.
  static func notStorable(_ session: String, file: String) -> Self {
    let isOpen = file.hasPrefix("session.sqlite-") || file == "recorder.lock"
    return Self(
      "suite.store.file",
      isOpen
        ? "the session is not closed: it has the file \(file)"
        : "the file '\(file)' is not a file of a session", at: session,
      advice: isOpen
        ? "Wait for its recorder, or close it: retake session recover \(session.shellWord)"
        : "Move it to another folder")
  }

  /// A session whose files no pointer can name.
  static func noPointer(of session: String, cause: String) -> Self {
    Self(
      "suite.store.file", "no pointer can be written for this session", cause: cause, at: session,
      advice: "Store it as one file: tar --zstd -cf FILE \(session.shellWord)")
  }

  static func noStore(_ folder: String) -> Self {
    Self(
      "suite.store.noFolder", "there is no folder of a store", at: folder,
      advice: "Mount its disk; or for a new store: mkdir -p \(folder.shellWord)")
  }

  static let noRemote = Self(
    "suite.store.noRemote", "no store is named",
    advice: "Write: --remote DIR, or --remote s3://BUCKET/PATH; or in retake.yml: "
      + "store: {remote: DIR}", kind: .usage)

  static func badRemote(_ text: String) -> Self {
    Self("suite.store.address", StoreAddress.rule(text), kind: .usage)
  }

  /// An object has another digest or size than its name and its pointer say.
  static func damagedObject(_ place: String) -> Self {
    Self(
      "suite.store.damaged", "the object does not have the digest in its name; it is not used",
      at: place,
      advice: "Push the session again from a machine that has it: retake store push NAME; on a "
        + "remote without hashes, remove this object first")
  }

  static func changedFile(_ path: String) -> Self {
    Self(
      "suite.store.changed", "the file changed while it was read", at: path,
      advice: "Push the session again when no program changes it: retake store push NAME")
  }

  /// No remote of a pointer has an object.
  static func missingObject(_ object: StoredObject, of pointer: SessionPointer) -> Self {
    let remotes = pointer.remotes.joined(separator: ", ")
    return Self(
      "suite.store.missing",
      pointer.remotes.isEmpty
        ? "the pointer of the session '\(pointer.name)' names no store"
        : "no store has all files of the session '\(pointer.name)'",
      cause: "\(object.sha256) is not in \(remotes.isEmpty ? "any store" : remotes)",
      advice: "On a machine with the session: retake store push \(pointer.name.shellWord) "
        + "--remote DIR")
  }

  static func offline(_ pointer: SessionPointer) -> Self {
    Self(
      "suite.store.offline",
      "the session '\(pointer.name)' is in a store and not in the local cache",
      advice: "Leave out --offline, or fetch it before: retake store pull "
        + pointer.name.shellWord)
  }

  /// The sessions in use leave too little of the cache.
  static func cacheFull(_ pointer: SessionPointer, limit: Int64) -> Self {
    Self(
      "suite.store.cacheFull",
      "the session '\(pointer.name)' does not fit into the local cache",
      cause: "it has \(ByteText.of(Int(pointer.bytes))); the cache may have "
        + "\(ByteText.of(Int(limit))), and sessions in use are not removed",
      advice: "Write in retake.yml: store: {cacheLimit: 64GiB}; or test fewer sessions at once")
  }

  static func noRoom(_ pointer: SessionPointer, disk: String, free: Int64) -> Self {
    Self(
      "suite.store.noRoom", "\(disk) has too little free space for the session '\(pointer.name)'",
      cause: "it has \(ByteText.of(Int(pointer.bytes))); \(ByteText.of(Int(free))) are free",
      advice: "Free space there, or write a smaller limit in retake.yml: store: {cacheLimit: 4GiB}")
  }

  static let noRclone = Self(
    "suite.store.noRclone", "the program rclone, which reads and writes buckets, is not installed",
    advice: "Install the package rclone: apt-get install rclone, or brew install rclone")

  static func rclone(_ remote: String, cause: String) -> Self {
    Self(
      "suite.store.rclone", "rclone could not read or write \(remote)", cause: cause,
      advice: "Set its access as environment variables, such as AWS_ACCESS_KEY_ID, and try: "
        + "rclone lsf \(remote.shellWord)")
  }

  /// - Parameter name: `nil` if no name was given, or only globs.
  static func noPointer(_ name: String?, in folder: String, known: [String]) -> Self {
    Self(
      "suite.store.noPointer",
      name.map { "the session '\($0)' has no pointer" } ?? "no pointer of a session is selected",
      at: folder,
      advice: name.flatMap { Suggestion.nearest(to: $0, among: known) }
        .map { "Did you mean '\($0)'?" }
        ?? "Make one where the session is: retake store push NAME --remote DIR")
  }

  /// Without its pointers the objects of the place would be removed.
  static func noPointers(_ place: String) -> Self {
    Self(
      "suite.store.noPointers",
      "no pointer of a session is in this place, so its sessions would lose their objects",
      at: place,
      advice: "Check its disk or worktree; or leave it out, and name the folders with the pointers "
        + "of every branch: retake store gc DIR…")
  }

  /// A folder of pointers or of objects that cannot be listed.
  static func placeUnreadable(_ folder: String, cause: String) -> Self {
    Self(
      "suite.store.place", "this folder cannot be read", cause: cause, at: folder,
      advice: "Correct its name, mount its disk, or permit this user to read it")
  }

  static let gcOfBucket = Self(
    "suite.store.gcBucket", "gc removes objects of a folder; this store is a bucket",
    advice: "Set a lifecycle rule of the bucket, or mount it as a folder: rclone mount",
    kind: .usage)

  /// Work on a copy that the next pull replaces.
  static func pulledCopy(_ name: String, at path: String, in folder: String) -> Self {
    Self(
      "suite.store.copy",
      "the session '\(name)' is a copy in the local cache; it cannot be changed",
      advice: "Copy it first: cp -r \(path.shellWord) \(folder.shellWord); then push it again: "
        + "retake store push \(name.shellWord)")
  }
}
