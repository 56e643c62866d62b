# SPDX-License-Identifier: Apache-2.0
"""Reads pprof profiles, and the bundles of a directory store, with nothing but the standard library.

The fields are those of google/pprof's proto/profile.proto; nothing here is shared with the product.
"""

import gzip
import pathlib
import zipfile
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Frame:
    name: str  # "" where the location has no line.
    address: int
    module: str  # File name of its mapping, "" without one.
    build_id: str
    file: str = ""  # The source, with the line; 0 where it is not known.
    line: int = 0

    @property
    def is_named(self):
        return bool(self.name) and not self.name.startswith("[") and not self.name.startswith("0x")


@dataclass
class Sample:
    stack: list  # Frames, root first.
    values: list
    labels: dict

    @property
    def names(self):
        return [frame.name for frame in self.stack]


@dataclass
class Profile:
    types: list = field(default_factory=list)  # (type, unit) of each value.
    samples: list = field(default_factory=list)
    comments: list = field(default_factory=list)
    time_nanos: int = 0
    duration_nanos: int = 0
    period: int = 0

    def value_index(self, kind):
        return [name for name, _ in self.types].index(kind)

    def total(self, kind):
        index = self.value_index(kind)
        return sum(sample.values[index] for sample in self.samples)


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data):
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
        elif key & 7 == 2:
            size, at = _varint(data, at)
            value = data[at:at + size]
            if len(value) != size:
                raise ValueError("a field runs past the end")
            at += size
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            raise ValueError(f"wire type {key & 7} has no place in a pprof")
        yield key >> 3, value


def _numbers(value):
    """A repeated integer, packed or not."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(number)
    return found


def _record(data):
    record = {}
    for number, value in _fields(data):
        record.setdefault(number, []).append(value)
    return record


def _first(record, number, otherwise=0):
    return record.get(number, [otherwise])[0]


def parse(data):
    """A Profile out of pprof bytes, gzipped or not."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    top = _record(data)
    text = [entry.decode() for entry in top.get(6, [])]
    if not text or text[0] != "":
        raise ValueError("a pprof's string table begins with the empty string")
    mappings = {}
    for entry in map(_record, top.get(3, [])):
        mappings[_first(entry, 1)] = (text[_first(entry, 5)], text[_first(entry, 6)])
    functions = {}
    for entry in map(_record, top.get(5, [])):
        functions[_first(entry, 1)] = (text[_first(entry, 2)], text[_first(entry, 4)])
    locations = {}
    for entry in map(_record, top.get(4, [])):
        module, build_id = mappings.get(_first(entry, 2), ("", ""))
        # The lines of one location: the innermost inlined function first.
        lines = [(*functions[_first(line, 1)], _first(line, 2)) for line in map(_record, entry.get(4, []))]
        locations[_first(entry, 1)] = [
            Frame(name, _first(entry, 3), module, build_id, file, line)
            for name, file, line in reversed(lines or [("", "", 0)])]
    profile = Profile(
        types=[(text[_first(e, 1)], text[_first(e, 2)]) for e in map(_record, top.get(1, []))],
        comments=[text[i] for value in top.get(13, []) for i in _numbers(value)],
        time_nanos=_first(top, 9), duration_nanos=_first(top, 10), period=_first(top, 12))
    for entry in map(_record, top.get(2, [])):
        ids = [i for value in entry.get(1, []) for i in _numbers(value)]
        labels = {}
        for label in map(_record, entry.get(3, [])):
            value = text[_first(label, 2)] if 2 in label else _first(label, 3)
            labels[text[_first(label, 1)]] = value
        profile.samples.append(Sample(
            stack=[frame for i in reversed(ids) for frame in locations[i]],
            values=[v for value in entry.get(2, []) for v in _numbers(value)], labels=labels))
    return profile


def profile_names(bundle):
    """The entries of an open bundle that are profiles: those beside them say when samples were taken."""
    return [name for name in bundle.namelist() if name.endswith(".pb.gz")]


def bundles(store):
    return sorted(pathlib.Path(store).rglob("*.zip"))


def read_store(store):
    """Each profile of every bundle: (namespace, pod, container, Profile), labels from the entry's name."""
    for path in bundles(store):
        with zipfile.ZipFile(path) as bundle:
            for name in bundle.namelist():
                parts = name.split("/")
                if name.endswith(".pb.gz") and len(parts) == 4:
                    yield parts[0], parts[1], parts[2], parse(bundle.read(name))
