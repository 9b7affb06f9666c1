#!/usr/bin/env python3
"""Verifies a Sallyport ledger by docs/ledger.md alone, with nothing of Sallyport's and Python's standard library only.

usage: python3 verify_ledger.py FOLDER [ANCHOR]      FOLDER holds the segments and the file "key"; ANCHOR one printed line
Prints what does not hold, then ok, mended, torn or broken; exits with 0, 21, 20 or 20. Of an anchor it compares the
segments and the seal, not the pins and budgets.
"""
import hashlib
import json
import os
import re
import sys

SEGMENT = re.compile(r"\d{8}T\d{9}Z-[0-9a-f]{16}\.jsonl", re.ASCII)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}")
SAFE = 2**53 - 1

# ---- what stands in a line: the members in order, "?" where one may be missing, the type behind ":"

NAME = "segment head:head torn?:torn"
OPENED = "type format:one segment time:time run part:count pid:count key first:count names:names"
CLOSED = "type time:time more:bool"
WHO = "client server"
ASKED = "from:side client server method name? digest? text?"
APPROVAL = "id client server method name? digest rule channel?:channel parents?:texts"
EVENTS = {
    "session": WHO + " command:texts loosened:texts",
    "call": ASKED + " pin? rule? epoch?:int",
    "refuse": ASKED + " reason rule?",
    "repeated": "from:side client server reason count:int",
    "outcome": "of:int was:was digest? text? code?:int",
    "checked": "of:int server did:did id? found:texts",
    "released": "server id parents:texts",
    "held": "server items:items",
    "withheld": "server items:items",
    "trusted": "server items:items",
    "observed": "server items:items",
    "accepted": "server how:how items:plain parents:texts",
    "rejected": "server items:plain parents:texts",
    "forgotten": "server items:plain parents:texts",
    "approval-asked": APPROVAL,
    "approval-given": APPROVAL,
    "approval-denied": APPROVAL,
    "approval-expired": APPROVAL,
    "approval-withdrawn": APPROVAL,
    "policy": "server file digest? was? why?",
    "judged": WHO + " method name? observed:observed fault?",
    "dropped": "server reason count:int",
    "repaired": "server repair count:int",
    "bridged": "server host:era strict:bool",
    "lowered": "server what count:int",
    "ended": "server how",
    "clock": "back:count",
    "fault": "why",
    "mended": "segments:texts",
    "rekeyed": "segments:wholes",
    "archived": "segments:archived",
    "omitted": "count:count",
}


def is_text(value):
    return isinstance(value, str)


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= SAFE


def is_count(value):
    return is_int(value) and value >= 0


def one_of(*values):
    return lambda value: is_text(value) and value in values


def fits(pattern):
    return lambda value: is_text(value) and pattern.fullmatch(value) is not None


def each(check):
    return lambda value: isinstance(value, list) and all(check(one) for one in value)


def shaped(spec):
    return lambda value: isinstance(value, dict) and follows(value, spec)


KINDS = {
    "text": is_text,
    "int": is_int,
    "count": is_count,
    "era": one_of("legacy", "modern"),
    "bool": lambda value: isinstance(value, bool),
    "one": lambda value: is_int(value) and value == 1,
    "time": fits(TIME),
    "digest": fits(DIGEST),
    "head": lambda value: value == "" or fits(DIGEST)(value),
    "side": one_of("host", "server"),
    "was": one_of("result", "tool-error", "error", "cancelled", "lost", "unsent"),
    "did": one_of("marked", "quarantined"),
    "how": one_of("terminal", "digest", "unseen", "import"),
    "channel": one_of("host", "terminal"),
    "texts": each(is_text),
    "torn": shaped("bytes:count digest:digest"),
    "names": each(shaped(NAME)),
    "items": each(shaped("kind name digest why?")),
    "plain": each(shaped("kind name digest")),
    "observed": each(shaped("rule action:action")),
    "action": one_of("allow", "ask", "deny"),
    "wholes": each(shaped("segment bytes:count digest:digest")),
    "archived": each(shaped("segment bytes:count digest:digest run last:count")),
}


def follows(value, spec):
    """Whether an object has these members, in this order, and no other."""
    left = list(value)
    for part in spec.split():
        name, _, kind = part.partition(":")
        kind = kind or "text"
        optional = name.endswith("?")
        name = name.rstrip("?")
        if left[:1] != [name]:
            if optional:
                continue
            return False
        if not KINDS[kind](value[name]):
            return False
        left.pop(0)
    return not left


def read_line(text):
    """The line, as (what, members, seal or None); raises ValueError where it is none."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep")
    if not isinstance(value, dict) or json.dumps(value, separators=(",", ":")) != text:
        raise ValueError("it is not spelled as the ledger spells it")
    seal = None
    if "prev" in value or "seal" in value:
        if list(value)[-2:] != ["prev", "seal"] or not KINDS["head"](value["prev"]) or not fits(DIGEST)(value["seal"]):
            raise ValueError("its seal has not the form of one")
        seal = (value.pop("prev"), value.pop("seal"))
    what = value.get("type")
    if what == "opened" or what == "closed":
        good = follows(value, OPENED if what == "opened" else CLOSED)
    else:
        good = is_text(what) and what in EVENTS and follows(value, "seq:count time:time type " + EVENTS[what])
        good = good and value["seq"] >= 1
        what = "entry"
    if not good:
        raise ValueError("it has not the members that its type has")
    return what, value, seal


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Segment:
    def __init__(self, name, data, chain, number):
        self.name, self.data, self.problem = name, data, None
        self.opened, self.seals, self.head, self.last = None, [], "", 0
        self.torn, self.foreign, self.rekeyed, self.archived = None, False, [], []
        try:
            self.read(chain, number)
        except ValueError as error:
            self.problem = str(error)

    def read(self, chain, number):
        self.data.decode("utf-8")
        start, at, following, closing, recorded = 0, 0, 0, False, []
        for line in self.data.split(b"\n")[:-1]:
            what, value, seal = read_line(line.decode("utf-8"))
            at += len(line) + 1
            if closing:
                raise ValueError("the segment was closed before this line")
            if self.opened is None:
                if what != "opened" or value["segment"] != self.name:
                    raise ValueError("it does not begin with the opening line of this segment")
                self.opened, self.foreign = value, value["key"] != number
                following, self.last = value["first"], value["first"] - 1
            elif what == "opened":
                raise ValueError("it is opened a second time")
            elif what == "closed":
                closing = True
            elif value["seq"] != following:
                raise ValueError("entry %d stands where %d is due" % (value["seq"], following))
            else:
                following += value["count"] if value["type"] == "omitted" else 1
                recorded.append(value)
            if seal is None:
                continue
            end = at - len(',"seal":"') - 64 - len('"}\n')
            if not self.foreign and sha256(chain + self.data[start:end] + chain) != seal[1]:
                raise ValueError("a seal does not fit: something was changed")
            if seal[0] != self.head:
                raise ValueError("a group does not follow the one before: something was removed or moved")
            self.head, self.last, start = seal[1], following - 1, at
            self.seals.append(self.head)
            for value in recorded:
                self.rekeyed += value["segments"] if value["type"] == "rekeyed" else []
                self.archived += value["segments"] if value["type"] == "archived" else []
            recorded = []
        tail = self.data[start:]
        if tail and closing and start == at:
            raise ValueError("the segment was closed before its end")
        if tail:
            self.torn = {"bytes": len(tail), "digest": sha256(tail)}

    def is_whole(self, known):
        return known is not None and (len(self.data), sha256(self.data)) == (known["bytes"], known["digest"])


def compare(segments, anchored):
    """What the segments say of each other: what does not hold, and which torn ends are recorded."""
    found = {segment.name: segment for segment in segments}
    problems = ["%s: %s" % (segment.name, segment.problem) for segment in segments if segment.problem]
    sound = [segment for segment in segments if not segment.problem and segment.seals]
    rekeyed = {one["segment"]: one for segment in sound if not segment.foreign for one in segment.rekeyed}
    trusted = [segment for segment in sound if not segment.foreign or segment.is_whole(rekeyed.get(segment.name))]
    archived = {one["segment"]: one for segment in trusted for one in segment.archived}
    for segment in segments:
        if segment.foreign and not segment.problem and segment.name not in rekeyed:
            problems.append(segment.name + ": it was sealed with another key")
    for name, known in rekeyed.items():
        there = found.get(name)
        if there is None:
            if name not in archived:
                problems.append(name + ": the segment of a lost key is gone")
        elif not there.foreign or not there.is_whole(known):
            problems.append(name + ": the segment of a lost key is no longer as it was")
    for name, known in archived.items():
        there = found.get(name)
        if there is None or there.problem:
            continue
        if (len(there.data), there.last, there.opened and there.opened["run"]) != (known["bytes"], known["last"], known["run"]):
            problems.append(name + ": it is no longer as it was when it was archived")
    recorded = set(rekeyed)
    saying = [(segment.name, name) for segment in sound for name in segment.opened["names"]]
    for by, name in saying + [("anchor", name) for name in anchored]:
        there = found.get(name["segment"])
        if there is None:
            if name["head"] and name["segment"] not in archived:
                problems.append("%s: it names %s, which is gone" % (by, name["segment"]))
        elif not there.problem:
            if name["head"] and name["head"] not in there.seals:
                problems.append("%s: it names a seal of %s that is not there" % (by, name["segment"]))
            elif "torn" in name and there.head == name["head"]:
                if name["torn"] == there.torn:
                    recorded.add(name["segment"])
                else:
                    problems.append("%s: the torn end of %s is another one" % (by, name["segment"]))
    reached = {}
    for one in archived.values():
        reached[one["run"]] = max(reached.get(one["run"], 0), one["last"])
    for segment in sorted(sound, key=lambda segment: segment.opened["part"]):
        run, before = segment.opened["run"], reached.get(segment.opened["run"], 0)
        if segment.opened["first"] > before + 1:
            problems.append("%s: entries before number %d are nowhere" % (segment.name, segment.opened["first"]))
        reached[run] = max(before, segment.last)
    return problems, recorded


def main(folder, anchor=None):
    names = sorted(name for name in os.listdir(folder) if SEGMENT.fullmatch(name))
    key = ""
    if names or anchor:
        with open(os.path.join(folder, "key"), encoding="ascii") as file:
            key = file.read().strip()
    derived = {use: sha256(("sallyport/ledger/%s\n%s" % (use, key)).encode()) for use in ("id", "chain", "anchor")}
    segments = []
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            segments.append(Segment(name, file.read(), derived["chain"].encode(), derived["id"][:16]))
    anchored, problems = [], []
    if anchor:
        with open(anchor, encoding="ascii") as file:
            line = file.read().strip()
        body, mac = line[: -len(',"mac":""}') - 64], json.loads(line)["mac"]
        anchored = json.loads(line)["segments"]
        if sha256((derived["anchor"] + body + "}" + derived["anchor"]).encode()) != mac:
            problems.append("anchor: its own seal does not fit")
    more, recorded = compare(segments, anchored)
    problems += more
    torn = [segment for segment in segments if segment.torn and not segment.problem]
    if problems:
        status, code = "broken", 20
    elif any(segment.name not in recorded for segment in torn):
        status, code = "torn", 20
    elif torn or any(segment.foreign for segment in segments):
        status, code = "mended", 21
    else:
        status, code = "ok", 0
    print("\n".join(problems + [status]))
    return code


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
