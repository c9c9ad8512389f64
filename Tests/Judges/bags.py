"""Judge of RetakeBags, for Tests/RetakeCommandTests/BagJudgeTests.swift.

  bags.py import RETAKE FOLDER N   bags written by the package rosbags, imported, and compared with
                                   what was written: both storages, compressed, split, and cut at N
                                   places each
  bags.py fixtures FOLDER          the small bags of Tests/RetakeBagsTests/Fixtures
  bags.py mcap FILE                what the package mcap reads in an exported file, as JSON

The comparison reads the session's database and media files, and no code of Retake.
"""
import base64
import hashlib
import json
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

BASE = 1_700_000_000_000_000_000
WIDTH, HEIGHT, FRAMES = 32, 24, 20
# Nine baseline JPEGs of one size, made once with: ffmpeg -f lavfi -i testsrc2=size=32x24 -q:v 9
JPEG_FOLDER = Path(__file__).parent / "bags"


def messages(frames, first=0, is_ros1=False):
    """The messages of a robot with five cameras, in the order of their recording."""
    import numpy as np
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC if is_ros1 else Stores.ROS2_HUMBLE)
    types = store.types
    time, header = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]
    image, coded = types["sensor_msgs/msg/Image"], types["sensor_msgs/msg/CompressedImage"]
    imu, vector = types["sensor_msgs/msg/Imu"], types["geometry_msgs/msg/Vector3"]
    turn = types["geometry_msgs/msg/Quaternion"]
    fix, status = types["sensor_msgs/msg/NavSatFix"], types["sensor_msgs/msg/NavSatStatus"]
    pictures = [path.read_bytes() for path in sorted(JPEG_FOLDER.glob("*.jpg"))]

    def stamped(ns):
        # A header of ROS 1 counts its messages.
        count = {"seq": ns % 1_000} if is_ros1 else {}
        return header(**count, stamp=time(sec=ns // 10**9, nanosec=ns % 10**9), frame_id="cam")

    def raw(ns, encoding, row, seed, padding=0):
        noise = np.random.default_rng(seed)
        step = row + padding
        data = noise.integers(0, 256, size=HEIGHT * step, dtype=np.uint8)
        return image(header=stamped(ns), height=HEIGHT, width=WIDTH, encoding=encoding,
                     is_bigendian=0, step=step, data=data)

    zeros = np.zeros(9)
    for index in range(first, first + frames):
        ns = BASE + index * 33_333_333
        batch = [
            ("/cam/mono", raw(ns, "mono8", WIDTH, index, padding=5), 2_000_000),
            ("/cam/bgr", raw(ns + 1_000, "bgr8", 3 * WIDTH, 1_000 + index), 3_000_000),
            ("/cam/yuv", raw(ns + 1_500, "yuv422", 2 * WIDTH, 3_000 + index), 3_500_000),
            ("/cam/depth", raw(ns + 2_000, "32FC1", 4 * WIDTH, 2_000 + index), 4_000_000),
            ("/cam/range", raw(ns + 2_500, "16UC1", 2 * WIDTH, 4_000 + index, padding=6), 4_500_000),
            ("/cam/jpeg", coded(header=stamped(ns + 3_000), format="jpeg", data=np.frombuffer(
                pictures[index % len(pictures)], dtype=np.uint8)), 5_000_000),
        ]
        for part in range(7):
            batch.append(("/imu", imu(
                header=stamped(ns + part * 4_761_904), orientation=turn(x=0.0, y=0.0, z=0.0, w=1.0),
                orientation_covariance=zeros, angular_velocity=vector(x=index * 0.1, y=part * 0.2, z=-1.0),
                angular_velocity_covariance=zeros, linear_acceleration=vector(x=0.0, y=0.0, z=9.81),
                linear_acceleration_covariance=zeros), 100_000 + part * 4_761_904))
        if index % 5 == 0:
            batch.append(("/gps", fix(
                header=stamped(ns), status=status(status=0, service=1), latitude=52.5 + index * 1e-5,
                longitude=13.4, altitude=34.0, position_covariance=zeros,
                position_covariance_type=0), 6_000_000))
        for topic, message, delay in sorted(batch, key=lambda entry: entry[2]):
            yield store, topic, message, ns + delay


def stored(topic, message):
    """The bytes that a session has for an image."""
    import numpy as np

    data = np.frombuffer(bytes(message.data), np.uint8)
    if topic == "/cam/mono":
        return data.reshape(HEIGHT, -1)[:, :WIDTH].tobytes()
    if topic == "/cam/range":
        return data.reshape(HEIGHT, -1)[:, :2 * WIDTH].tobytes()
    if topic == "/cam/bgr":
        return data.reshape(HEIGHT, WIDTH, 3)[:, :, ::-1].tobytes()
    if topic == "/cam/yuv":
        pairs = data.reshape(HEIGHT, WIDTH // 2, 4)
        return pairs[:, :, [1, 3]].tobytes() + pairs[:, :, 0].tobytes() + pairs[:, :, 2].tobytes()
    return data.tobytes()


IMAGES = ["/cam/bgr", "/cam/jpeg", "/cam/mono", "/cam/range", "/cam/yuv"]
TAKEN = IMAGES + ["/gps", "/imu"]


def sampled(topic, message):
    """The bytes of the values that a session has for a message with numbers, sensor by sensor."""
    def parts(value, names):
        return [float(getattr(value, name)) for name in names]

    if topic == "/imu":
        values = parts(message.orientation, "xyzw")
        for name in ["orientation", "angular_velocity", "linear_acceleration"]:
            values += [float(value) for value in getattr(message, name + "_covariance")]
        values += parts(message.angular_velocity, "xyz") + parts(message.linear_acceleration, "xyz")
    else:
        values = parts(message.status, ["status", "service"])
        values += parts(message, ["latitude", "longitude", "altitude", "position_covariance_type"])
        values += [float(value) for value in message.position_covariance]
    return struct.pack(f"<{len(values)}d", *values)


def fill(writer, source, serializer, only):
    """Writes messages; returns, for each topic with images or numbers, stamps, times and bytes."""
    truth, connections = {}, {}
    with writer:
        for store, topic, message, log in source:
            kind = message.__msgtype__
            if only and topic not in only:
                continue
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(connections[topic], log, getattr(store, serializer)(message, kind))
            if topic in TAKEN:
                stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
                bytes_of = stored if topic in IMAGES else sampled
                truth.setdefault(topic, []).append((stamp, log, bytes_of(topic, message)))
    return truth


def write(path, storage, mode=None, frames=FRAMES, first=0, only=None):
    """Writes a bag of ROS 2."""
    from rosbags.rosbag2 import CompressionFormat, Writer

    writer = Writer(path, version=9, storage_plugin=storage)
    if mode:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    return fill(writer, messages(frames, first), "serialize_cdr", only)


def write_ros1(path, compression=None, frames=FRAMES, only=None):
    """The same as a bag of ROS 1, with small chunks."""
    from rosbags.rosbag1 import Writer

    writer = Writer(path)
    writer.chunk_threshold = 1 << 14
    if compression:
        writer.set_compression(Writer.CompressionFormat[compression])
    return fill(writer, messages(frames, is_ros1=True), "serialize_ros1", only)


def imported(retake, bag, into):
    """Imports a bag; returns the exit status, what was printed, and the frames of each topic."""
    shutil.rmtree(into, ignore_errors=True)
    result = subprocess.run(
        [retake, "import", str(bag), "--into", str(into), "--name", "s", "--json"],
        capture_output=True, text=True)
    if result.returncode != 0:
        left = list(into.iterdir()) if into.exists() else []
        assert not left, f"{bag}: {left} was left behind"
        return result.returncode, result.stderr, {}
    folder = into / "s"
    database = sqlite3.connect(f"file:{folder}/session.sqlite?mode=ro&immutable=1", uri=True)
    facts = dict(database.execute("SELECT key, value FROM meta"))
    origin = int(facts["startedUnixNanoseconds"])
    frames = {}
    for track in json.loads(facts["bag"])["tracks"]:
        rows = database.execute(
            'SELECT f.pts_ns, f.arrival_ns, s.file, p."offset", p.size, f.cause FROM frame f '
            'JOIN packet p ON p.track = f.track AND p."index" = f.packet '
            'JOIN segment s ON s."index" = p.segment WHERE f.track = ? ORDER BY f.sequence',
            (track["track"],))
        found = []
        for pts, arrival, file, offset, size, cause in rows:
            if cause is None:
                with open(folder / file, "rb") as media:
                    media.seek(offset)
                    found.append((pts + origin, arrival + origin, media.read(size)))
        frames[track["topic"]] = found
    for sensor, topic in database.execute("SELECT sensor, source FROM sensor ORDER BY sensor"):
        rows = database.execute(
            'SELECT time_ns, arrival_ns, "values" FROM sample WHERE sensor = ? ORDER BY "index"',
            (sensor,)).fetchall()
        before = frames.get(topic, [(time + origin, arrival + origin, b"")
                                    for time, arrival, _ in rows])
        assert len(before) == len(rows), f"the sensors of {topic} have not the same samples"
        frames[topic] = [(time, arrival, known + values)
                         for (time, arrival, known), (_, _, values) in zip(before, rows)]
    return 0, json.loads(result.stdout), frames


def readable_sqlite(path):
    """Rows of a damaged file that SQLite can reach by their ids, with the names of their topics.

    SQLite reads zeros for what is missing of the last page, so that page is removed first.
    """
    content = path.read_bytes()
    page = int.from_bytes(content[16:18], "big")
    page = 65_536 if page == 1 else page
    if page >= 512:
        path = path.with_name("whole-pages.sqlite")
        path.write_bytes(content[: len(content) // page * page])
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    found = []
    try:
        database.execute("PRAGMA writable_schema = ON")
        topics = dict(database.execute("SELECT id, name FROM topics"))
    except sqlite3.DatabaseError:
        return found
    for number in range(1, 2_000):
        try:
            row = database.execute(
                "SELECT topic_id, timestamp, data FROM messages WHERE id = ?", (number,)).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row:
            found.append((topics[row[0]], row[1]))
    return found


def readable_mcap(path):
    """Messages before the first damage, as the reader of the package mcap gives them."""
    from mcap.records import Channel, Message
    from mcap.stream_reader import StreamReader

    found, channels = [], {}
    try:
        with open(path, "rb") as stream:
            for record in StreamReader(stream).records:
                if isinstance(record, Channel):
                    channels[record.id] = record.topic
                elif isinstance(record, Message):
                    found.append((channels[record.channel_id], record.log_time))
    except Exception:  # The package has no common type for damage.
        pass
    return found


def readable_ros1(path):
    """Messages of the complete records of a bag of ROS 1 without compression, by the format's page."""
    def fields(header):
        found, place = {}, 0
        while place < len(header):
            size = int.from_bytes(header[place : place + 4], "little")
            name, _, value = header[place + 4 : place + 4 + size].partition(b"=")
            found[name] = value
            place += 4 + size
        return found

    def records(content, place=0):
        while place + 4 <= len(content):
            size = int.from_bytes(content[place : place + 4], "little")
            data = place + 8 + size
            if data > len(content):
                return
            count = int.from_bytes(content[data - 4 : data], "little")
            yield fields(content[place + 4 : place + 4 + size]), content[data : data + count], count
            place = data + count

    found, topics = [], {}
    for header, data, _ in records(path.read_bytes(), 13):
        if header.get(b"op") != b"\x05":
            continue
        for inner, part, count in records(data):
            if len(part) < count:
                continue
            if inner[b"op"] == b"\x07":
                topics[inner[b"conn"]] = inner[b"topic"].decode()
            elif inner[b"op"] == b"\x02":
                seconds, rest = struct.unpack("<II", inner[b"time"])
                found.append((topics[inner[b"conn"]], seconds * 10**9 + rest))
    return found


def compare(name, frames, truth):
    assert set(frames) == set(truth), f"{name}: {sorted(frames)}"
    for topic, rows in truth.items():
        assert frames[topic] == rows, f"{name}: {topic} has other frames than were written"


def cut(retake, folder, bag, truth, readable, count, results):
    """Cuts a file at some places, always the same ones."""
    content = bag.read_bytes()
    places = random.Random(20_26).sample(range(1, len(content)), count)
    known = {topic: {row[1]: row for row in rows} for topic, rows in truth.items()}
    name = bag.suffix
    piece = folder / ("cut" + name)
    counts = {"cuts": 0, "refused": 0, "frames": 0, "reference": 0}
    for place in sorted(places):
        piece.write_bytes(content[:place])
        wanted = [entry for entry in readable(piece) if entry[0] in TAKEN]
        status, output, frames = imported(retake, piece, folder / "cut-out")
        counts["cuts"] += 1
        if status != 0:
            assert status == 2, f"{name} cut at {place}: status {status}: {output}"
            lost = [entry for entry in wanted if entry[0] in IMAGES]
            assert not lost, f"{name} cut at {place}: {len(lost)} frames are refused: {output}"
            assert "error" in output, output
            counts["refused"] += 1
            continue
        counts["reference"] += len(wanted)
        found = {(topic, row[1]) for topic, rows in frames.items() for row in rows}
        assert found >= set(wanted), f"{name} cut at {place}: {len(set(wanted) - found)} are missing"
        for topic, rows in frames.items():
            assert [row[1] for row in rows] == sorted(row[1] for row in rows)
            for row in rows:
                assert known[topic][row[1]] == row, f"{name} cut at {place}: {topic} differs"
        whole = sum(len(rows) for rows in truth.values())
        # Behind the messages an MCAP file has only what can be made again from them.
        assert output["status"] == "lossy" or len(found) == whole, f"{name} cut at {place}: clean"
        assert output["status"] == "clean" or output["losses"], f"{name} cut at {place}: no losses"
        counts["frames"] += len(found)
    results["cut" + name] = counts


def check_import(retake, folder, cuts):
    from rosbags.rosbag2 import CompressionMode, StoragePlugin

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    results = {"bags": {}}
    truth = None
    for storage in [StoragePlugin.SQLITE3, StoragePlugin.MCAP]:
        ending = "db3" if storage == StoragePlugin.SQLITE3 else "mcap"
        modes = [None, CompressionMode.FILE, CompressionMode.MESSAGE]
        if storage == StoragePlugin.MCAP:
            modes.append(CompressionMode.STORAGE)
        for mode in modes:
            name = ending + ("-" + mode.name.lower() if mode else "")
            truth = write(folder / name, storage, mode)
            status, output, frames = imported(retake, folder / name, folder / "out")
            assert status == 0, output
            compare(name, frames, truth)
            assert output["status"] == "clean", f"{name}: {output}"
            left = {topic["topic"]: topic["reason"] for topic in output["leftOut"]}
            assert "32FC1" in left["/cam/depth"], left
            results["bags"][name] = sum(len(rows) for rows in frames.values())
            (folder / name / "metadata.yaml").unlink()
            status, output, again = imported(retake, folder / name, folder / "out")
            assert status == 0 and again == frames, f"{name} without metadata.yaml: {output}"
        split(retake, folder, storage, ending, truth, results)
    for compression in [None, "BZ2", "LZ4"]:
        name = "ros1" + ("-" + compression.lower() if compression else "")
        assert truth == write_ros1(folder / f"{name}.bag", compression)
        status, output, frames = imported(retake, folder / f"{name}.bag", folder / "out")
        assert status == 0 and output["status"] == "clean", output
        compare(name, frames, truth)
        results["bags"][name] = sum(len(rows) for rows in frames.values())
    cut(retake, folder, folder / "ros1.bag", truth, readable_ros1, cuts, results)
    cut(retake, folder, next((folder / "db3").glob("*.db3")), truth, readable_sqlite, cuts, results)
    for name in ["mcap", "mcap-storage"]:
        file = next((folder / name).glob("*.mcap"))
        shutil.copy(file, folder / f"whole.{name}")
        cut(retake, folder, folder / f"whole.{name}", truth, readable_mcap, cuts, results)
    return results


def write_fixtures(folder):
    """Bags of four frames of 8x6 pixels, and what is in them."""
    from rosbags.rosbag2 import CompressionMode, StoragePlugin

    global WIDTH, HEIGHT
    WIDTH, HEIGHT = 8, 6
    folder = Path(folder)
    sqlite, mcap = StoragePlugin.SQLITE3, StoragePlugin.MCAP
    for name, storage, mode in [
        ("plain", sqlite, None), ("file", sqlite, CompressionMode.FILE),
        ("message", sqlite, CompressionMode.MESSAGE), ("plain-mcap", mcap, None),
        ("storage-mcap", mcap, CompressionMode.STORAGE),
    ]:
        scratch = folder / "scratch"
        truth = write(scratch, storage, mode, frames=4, only=["/cam/mono", "/cam/bgr", "/imu"])
        for file in scratch.iterdir():
            if file.name != "metadata.yaml":
                shutil.move(file, folder / file.name.replace("scratch", name))
        shutil.rmtree(scratch)
    for name, compression in [("ros1-bz2", "BZ2"), ("ros1-lz4", "LZ4")]:
        write_ros1(folder / f"{name}.bag", compression, 4, ["/cam/mono", "/cam/bgr", "/imu"])
    (folder / "truth.json").write_text(json.dumps({
        topic: [{"stamp": stamp, "log": log, "bytes": base64.b64encode(data).decode()}
                for stamp, log, data in rows]
        for topic, rows in truth.items() if topic in IMAGES}, indent=1) + "\n")


def split(retake, folder, storage, ending, truth, results):
    """Three files of one bag; the third is listed as _10, which sorts by its number."""
    target = folder / f"split-{ending}"
    target.mkdir()
    whole = {}
    for place, (number, count) in enumerate([(0, 7), (2, 7), (10, 6)]):
        part = folder / f"part-{ending}-{place}"
        for topic, rows in write(part, storage, frames=count, first=7 * place).items():
            whole.setdefault(topic, []).extend(rows)
        shutil.move(next(part.glob("*." + ending)), target / f"run_{number}.{ending}")
    assert whole == truth
    status, output, frames = imported(retake, target, folder / "out")
    assert status == 0, output
    compare(target.name, frames, truth)
    results["bags"][target.name] = sum(len(rows) for rows in frames.values())


def read_mcap(path):
    """Counts and digests of an exported file, and what breaks Foxglove's rules."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    topics, problems = {}, []
    with open(path, "rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        last = {}
        for schema, channel, message in reader.iter_messages(log_time_order=False):
            entry = topics.setdefault(channel.topic, {
                "schema": schema.name, "encoding": channel.message_encoding, "count": 0, "log": [],
                "stamp": [], "md5": []})
            entry["count"] += 1
            entry["log"].append(message.log_time)
            if message.log_time < last.get(channel.topic, 0):
                problems.append(f"{channel.topic}: log times go back")
            last[channel.topic] = message.log_time
            if channel.message_encoding == "json":
                json.loads(message.data)
            elif channel.message_encoding == "cdr":
                decoder = DecoderFactory().decoder_for("cdr", schema)
                value = decoder(message.data)
                stamp = getattr(value, "timestamp", None) or value.header.stamp
                entry["stamp"].append(stamp.sec * 10**9 + stamp.nanosec)
                data = bytes(value.data)
                entry["md5"].append(hashlib.md5(data).hexdigest())
                if value.format == "h264":
                    problems += h264_problems(channel.topic, entry["count"], data)
                elif value.format == "jpeg" and not data.startswith(b"\xff\xd8\xff"):
                    problems.append(f"{channel.topic}: message {entry['count']} is not a JPEG")
        claimed = summary.statistics.message_count
    total = sum(entry["count"] for entry in topics.values())
    if claimed != total:
        problems.append(f"the summary claims {claimed} messages, and {total} can be read")
    return {"topics": topics, "problems": problems}


def h264_problems(topic, number, data):
    """Annex B, one frame in a message, a parameter set with each key frame, and no B frames."""
    units, position = [], data.find(b"\x00\x00\x01")
    while position >= 0:
        following = data.find(b"\x00\x00\x01", position + 3)
        units.append(data[position + 3 : following if following >= 0 else len(data)])
        position = following
    types = [unit[0] & 31 for unit in units]
    slices = [unit for unit in units if unit[0] & 31 in (1, 5)]
    problems = []
    # A slice that begins a frame has first_mb_in_slice 0, which is the bit 1.
    if sum(1 for unit in slices if unit[1] & 0x80) != 1:
        problems.append(f"{topic}: message {number} has not one frame")
    if 5 in types and not (7 in types and 8 in types):
        problems.append(f"{topic}: message {number} is a key frame without parameter sets")
    for unit in slices:
        bits = "".join(f"{byte:08b}" for byte in unit[1:9])

        def golomb(bits):
            zeros = bits.index("1")
            return int(bits[zeros : 2 * zeros + 1], 2) - 1, bits[2 * zeros + 1 :]

        _, rest = golomb(bits)
        kind, _ = golomb(rest)
        if kind % 5 == 1:
            problems.append(f"{topic}: message {number} is a B frame")
    return problems


if __name__ == "__main__":
    if sys.argv[1] == "import":
        print(json.dumps(check_import(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    elif sys.argv[1] == "fixtures":
        write_fixtures(sys.argv[2])
    else:
        print(json.dumps(read_mcap(sys.argv[2])))
