"""Names and comments that C accepts, whatever texts they come from."""

from __future__ import annotations

import re

from tauforge.errors import ModelError

# words of C99, those that later versions added, and those of C++, because the header serves both
WORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await co_return co_yield
    compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend
    module mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid typename
    typeof using virtual wchar_t xor xor_eq main errno"""
KEYWORDS = frozenset(WORDS.split())
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LONGEST = 40  # C99 promises 31 significant characters of names that other files see, compilers many more
OURS = re.compile(r"[vsc]\d+|tf_.*|work|poison")  # names that the generated code uses itself


def check_prefix(prefix: object) -> str:
    """The prefix, if files and functions of C can begin with it."""
    if not isinstance(prefix, str) or not IDENTIFIER.fullmatch(prefix) or "__" in prefix:
        raise ModelError(
            f"expected letters, digits and single underscores, a letter first, got {prefix!r}",
            field="prefix",
            remedy="Give a name such as 'my_arm'",
        )
    if prefix.lower() in KEYWORDS:
        raise ModelError(f"{prefix!r} is a word of C or C++", field="prefix", remedy="Give another name")
    if OURS.fullmatch(prefix):
        raise ModelError(f"{prefix!r} is used inside the generated code", field="prefix", remedy="Give another name")
    if len(prefix) > LONGEST:
        raise ModelError(f"expected at most {LONGEST} characters, got {len(prefix)}", field="prefix")
    return prefix


def prefix_of(name: str) -> str:
    """A prefix from a robot's name, such as puma560_armstrong from puma560-armstrong."""
    words = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", name)).strip("_")[:LONGEST].rstrip("_")
    if not words or not words[0].isalpha() or words.lower() in KEYWORDS or OURS.fullmatch(words):
        words = f"robot_{words}"[:LONGEST].rstrip("_")
    return words


def parameter(name: str) -> str:
    """The argument's name, or with an underscore after it where C or our own code has another use for the word."""
    plain = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", name)).strip("_") or "x"
    return f"{plain}_" if not plain[0].isalpha() or plain in KEYWORDS or OURS.fullmatch(plain) else plain


def comment_text(text: str) -> str:
    """A text in one line that cannot end a comment, join lines or be anything but ASCII: names come from files."""
    shown = "".join(c if 32 <= ord(c) < 127 else ("?" if ord(c) > 126 else " ") for c in text)
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").rstrip("\\ ")
