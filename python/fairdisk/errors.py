"""What goes wrong, as exceptions that programs can tell apart."""

from __future__ import annotations


class FairdiskError(Exception):
    """Something that Fairdisk says is wrong. The message has the place, the fault and the remedy.

    Attributes:
        file: The file that is wrong, if it is one.
        line: The line of the file, counted from 1.
        key: The key, option or argument.
        remedy: What to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.key = key
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        """Lets a process that runs a part of a sweep send it home."""
        parts = (self.file, self.line, self.key, self.remedy)
        return _again, (type(self), str(self), parts)


class SpecError(FairdiskError, ValueError):
    """A load, a setting or an argument is wrong. Nothing was run."""


class RunError(FairdiskError, RuntimeError):
    """A run failed, or its results could not be kept."""


def _again(
    kind: type[FairdiskError],
    message: str,
    parts: tuple[str | None, int | None, str | None, str | None],
) -> FairdiskError:
    file, line, key, remedy = parts
    return kind(message, file=file, line=line, key=key, remedy=remedy)


def wrong(argument: str, value: object, expected: str) -> SpecError:
    """An argument that is not as it should be."""
    remedy = f"expected {expected}"
    return SpecError(f"`{argument}`: {remedy}, not {value!r}", key=argument, remedy=remedy)
