"""A hub on localhost: the requests that huggingface_hub makes, and faults on demand."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import huggingface_hub.constants
import pytest

LFS_BYTES = 1000  # files of this size and more are declared as LFS, with a SHA-256

Fault = Callable[["Handler", bytes], None]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_sha1(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def etag(content: bytes) -> str:
    return sha256(content) if len(content) >= LFS_BYTES else git_sha1(content)


@dataclass
class Hub:
    """Repositories by name and revision, the requests seen, and faults by "METHOD path".

    A fault answers instead of the hub; ``times`` says how often before all is well again.
    """

    url: str = ""
    cdn: str = ""
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[tuple[str, str], str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    ranges: list[str] = field(default_factory=list)
    served_bytes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def publish(self, repository: str, files: dict[str, bytes]) -> str:
        """Commit ``files`` to main; returns the commit."""
        content = b"".join(path.encode() + b"\0" + data for path, data in sorted(files.items()))
        commit = hashlib.sha1(content).hexdigest()
        self.commits[commit] = dict(files)
        self.branches[repository, "main"] = commit
        return commit

    def fail(self, request: str, fault: Fault, times: int = 1) -> None:
        """Answer ``request``, as "GET tokens.txt" or "GET /api", with ``fault``."""
        self.faults.setdefault(request, []).extend([fault] * times)

    def gets(self, path: str) -> list[str]:
        return [seen for seen in self.requests if seen.startswith("GET") and path in seen]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path == "/api/agent-harnesses":  # huggingface_hub's own, once a day
            self.send(404, b"")
            return
        with self.hub.lock:
            self.hub.requests.append(f"{self.command} {path}")
            self.hub.ranges.extend(self.headers.get_all("Range", []))
            found = next((key for key in self.hub.faults if self._is(key, path)), None)
            queue = self.hub.faults.get(found or "", [])
            fault = queue.pop(0) if queue else None
        body, headers, status = self._resolve(path)
        if fault is not None:
            fault(self, body)
            return
        start = self._range_start(len(body))
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            status, body = 206, body[start:]
        self.send(status, body, headers)

    def _is(self, key: str, path: str) -> bool:
        method, _, part = key.partition(" ")
        return method == self.command and part in path and bool(self.hub.faults[key])

    def _range_start(self, size: int) -> int:
        asked = self.headers.get("Range", "bytes=0-").removeprefix("bytes=")
        return min(int(asked.split("-")[0]), size)

    def _resolve(self, path: str) -> tuple[bytes, dict[str, str], int]:
        """Body, headers and status of a path on a day without faults."""
        match path.strip("/").split("/"):
            case ["api", "models", owner, name, "revision", revision]:
                return self._info(f"{owner}/{name}", revision)
            case ["api", "models", _, _, "tree", commit]:
                return self._tree(commit)
            case ["cdn", commit, *file]:
                return self.hub.commits[commit]["/".join(file)], {}, 200
            case [owner, name, "resolve", revision, *file] | [
                "datasets",
                owner,
                name,
                "resolve",
                revision,
                *file,
            ]:
                return self._file(self._commit(f"{owner}/{name}", revision), "/".join(file))
            case _:
                return b"", {}, 404

    def _file(self, commit: str, path: str) -> tuple[bytes, dict[str, str], int]:
        content = self.hub.commits.get(commit, {}).get(path)
        headers = {"X-Repo-Commit": commit}
        if content is None:
            return b"", headers | {"X-Error-Code": "EntryNotFound"}, 404
        headers["ETag"] = f'"{etag(content)}"'
        if len(content) < LFS_BYTES:
            return content, headers, 200
        # Large files lie on another host, to which the client's token must not be sent.
        headers["Location"] = f"{self.hub.cdn}/cdn/{commit}/{quote(path)}"
        headers["X-Linked-Etag"] = headers["ETag"]
        headers["X-Linked-Size"] = str(len(content))
        return b"", headers, 302

    def _commit(self, repository: str, revision: str) -> str:
        return self.hub.branches.get((repository, revision), revision)

    def _info(self, repository: str, revision: str) -> tuple[bytes, dict[str, str], int]:
        if (repository, "main") not in self.hub.branches:
            return b"", {"X-Error-Code": "RepoNotFound"}, 404
        commit = self._commit(repository, revision)
        if commit not in self.hub.commits:
            return b"", {"X-Error-Code": "RevisionNotFound"}, 404
        siblings = [self._sibling(*item) for item in self.hub.commits[commit].items()]
        info = {"_id": "1", "id": repository, "sha": commit, "siblings": siblings}
        return json.dumps(info).encode(), {"Content-Type": "application/json"}, 200

    def _tree(self, commit: str) -> tuple[bytes, dict[str, str], int]:
        rows = []
        for path, content in self.hub.commits[commit].items():
            row = {"type": "file", "path": path, "size": len(content), "oid": git_sha1(content)}
            if len(content) >= LFS_BYTES:
                row["lfs"] = {"oid": sha256(content), "size": len(content), "pointerSize": 130}
            rows.append(row)
        return json.dumps(rows).encode(), {"Content-Type": "application/json"}, 200

    @staticmethod
    def _sibling(path: str, content: bytes) -> dict[str, object]:
        entry: dict[str, object] = {
            "rfilename": path, "size": len(content), "blobId": git_sha1(content),
        }  # fmt: skip
        if len(content) >= LFS_BYTES:
            lfs = {"size": len(content), "sha256": sha256(content), "pointerSize": 130}
            entry["lfs"] = lfs
        return entry

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send a whole answer; of a HEAD request only the head."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
            with self.hub.lock:
                self.hub.served_bytes += len(body)

    def own_headers(self) -> dict[str, str]:
        return self._resolve(unquote(urlsplit(self.path).path))[1]


def status(code: int, **headers: str) -> Fault:
    """Answer with an error status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, _: handler.send(code, b"", named)


def html(handler: Handler, _: bytes) -> None:
    """A login page in place of what was asked for."""
    page = b"<!DOCTYPE html><html><body>Log in to the network</body></html>"
    handler.send(200, page, {"Content-Type": "text/html"})


def html_of_right_size(handler: Handler, body: bytes) -> None:
    page = b"<!DOCTYPE html>".ljust(len(body), b" ")
    handler.send(200, page, {"Content-Type": "text/html"})


def flipped(handler: Handler, body: bytes) -> None:
    handler.send(200, body[:-1] + bytes([body[-1] ^ 1]), handler.own_headers())


def short(handler: Handler, body: bytes) -> None:
    """Fewer bytes than were declared, sent as if they were all."""
    handler.send(200, body[: len(body) // 2], handler.own_headers())


def drop(handler: Handler, body: bytes) -> None:
    """The connection breaks in the middle of the body."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.close_connection = True


def wrong_range(handler: Handler, body: bytes) -> None:
    """Other bytes than the range that was asked for."""
    start = handler._range_start(len(body))
    part = body[: len(body) - start]
    content_range = f"bytes {start}-{len(body) - 1}/{len(body)}"
    handler.send(206, part, {"Content-Range": content_range})


def other_commit(handler: Handler, body: bytes) -> None:
    handler.send(200, body, handler.own_headers() | {"X-Repo-Commit": "f" * 40})


@contextmanager
def connected(patch: pytest.MonkeyPatch, home: Path) -> Iterator[Hub]:
    """Run a hub that this process and its children talk to, with an empty cache in ``home``.

    The waits between retries are cut out.
    """
    with serve() as hub:
        patch.setenv("HF_ENDPOINT", hub.url)
        patch.setenv("HF_HOME", str(home / "hf"))
        patch.setenv("NO_PROXY", "127.0.0.1,localhost")
        patch.delenv("HF_HUB_OFFLINE")
        patch.setattr(time, "sleep", lambda _: None)
        # huggingface_hub reads its environment once, when it is imported.
        for name, value in {
            "HF_HUB_OFFLINE": False,
            "ENDPOINT": hub.url,
            "HUGGINGFACE_CO_URL_TEMPLATE": hub.url + "/{repo_id}/resolve/{revision}/{filename}",
            "DOWNLOAD_CHUNK_SIZE": 1024,
        }.items():
            patch.setattr(huggingface_hub.constants, name, value)
        yield hub


@contextmanager
def serve() -> Iterator[Hub]:
    """Run a hub until the block ends."""
    hub = Hub()
    handler = type("BoundHandler", (Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    port = server.server_address[1]
    hub.url, hub.cdn = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
