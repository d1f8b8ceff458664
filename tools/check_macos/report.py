"""The report of one check: machine, runs, tables and everything that was wrong."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

TAIL = 60  # lines of a run's output


@dataclass
class Report:
    """Kept in ``folder`` as report.md and report.json, written anew with each finding.

    Rows are dataclasses with a ``problem``, None or a sentence.
    """

    folder: Path
    machine: dict[str, str]
    runs: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    finished: bool = False

    def add_run(self, title: str, commands: Iterable[list[str]]) -> None:
        """Run commands up to the first that fails, and keep the end of what they say."""
        print(f"== {title}", flush=True)
        said: list[str] = []
        for command in commands:
            with subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",  # what a crash leaves may be cut within a character
            ) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    print(line, end="", flush=True)
                    said.append(line)
            if process.returncode:
                self.problems.append(f"{title}: {command[0]} exited {process.returncode}")
                break
        self.runs[title] = "".join(said[-TAIL:])
        self._write()

    def add_row(self, title: str, row: Any) -> None:
        print("  ".join(_cells(row)), flush=True)
        self.tables.setdefault(title, []).append(row)
        if row.problem is not None:
            self.problems.append(row.problem)
        self._write()

    def add_problem(self, title: str, text: str) -> None:
        print(text, flush=True)
        self.problems.append(f"{title}: {text}")
        self._write()

    def finish(self) -> None:
        """Say that nothing is left: what is cut short by a crash does not say so."""
        self.finished = True
        self._write()

    def _write(self) -> None:
        everything = asdict(self)
        del everything["folder"]
        (self.folder / "report.json").write_text(json.dumps(everything, indent=1), encoding="utf-8")
        (self.folder / "report.md").write_text(self._markdown(), encoding="utf-8")

    def _markdown(self) -> str:
        machine = [f"{name}: {value}" for name, value in self.machine.items()]
        machine.append("finished" if self.finished else "NOT FINISHED")
        parts = ["# twinvox on a Mac", _fenced("\n".join(machine))]
        parts += ["## Wrong", *map(_fenced, self.problems or ["nothing"])]
        for title, rows in self.tables.items():
            names = list(asdict(rows[0]))
            lines = [names, ["---"] * len(names), *map(_cells, rows)]
            parts += [f"## {title}", "\n".join(f"| {' | '.join(line)} |" for line in lines)]
        for title, said in self.runs.items():
            parts += [f"## {title}", _fenced(said)]
        return "\n\n".join(parts) + "\n"


def _cells(row: Any) -> list[str]:
    return [_cell(value) for value in asdict(row).values()]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items())
    return str(value).replace("|", "/").replace("\n", " ")


def _fenced(text: str) -> str:
    return f"```\n{text.rstrip()}\n```"
