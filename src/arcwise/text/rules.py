"""The general rules: what is one token in any language, as one regular expression."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from arcwise.text.characters import DIGIT, EMOJI, JOINER, LETTER, LOWER, MARK, PLAIN, UPPER

# The expression reads the `plain` bytes of the text, see Characters.


def _bytes(*kinds: int) -> bytes:
    return b"".join(b"\\x%02x" % (PLAIN + kind) for kind in kinds)


_MARKS = _bytes(MARK) + b"\\x%02x" % JOINER
_LETTERS = b"A-Za-z" + _bytes(UPPER, LOWER, LETTER) + _MARKS
_WORD = b"0-9" + _bytes(DIGIT) + _LETTERS
_IN_ADDRESS = rb"[^ <>\"]"
_ENDS_ADDRESS = rb"[^ <>\".,;:!?')\]}*]"
_TITLES = rb"Mr|Mrs|Ms|Dr|Prof|Sen|Rep|Gov|Gen|Col|Lt|Sgt|Capt|Rev|Hon|St|Jr|Sr|Messrs|Mmes|Mme|Mlle"
# Abbreviations before what cannot begin a sentence.
_ABBREVIATED = (
    rb"etc|vs|cf|approx|dept|est|ext|figs?|inc|ltd|corp|bros|vol|pp|eds?|tel|ave|blvd|tsp|tbsp|oz|lbs?|min|hrs?|secs?|sect"
    rb"|arts?|paras?|chap|et\ al|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues?|Wed|Thu|Thurs|Fri|Sat|Sun"
)
_DOMAINS = rb"com|org|net|edu|gov|mil|int|info|biz|io|co\.uk|org\.uk|ac\.uk|de|fr|eu|ca|au|jp"

_TOKEN = re.compile(
    rb"""
      [ ]+
    | (?: (?i:https?|ftp|file):// | (?i:www)\.(?=[\w]) ) %(in_address)s* %(ends_address)s
    | (?:mailto:)? [\w.+-]{1,64}+ @ [\w-]{1,63}+ (?:\.[\w-]{1,63}+){1,8}
    | [\w-]{1,63}+ (?:\.[\w-]{1,63}+){0,8}? \. (?i:%(domains)s) (?![%(word)s@]) (?: / (?:%(in_address)s*%(ends_address)s)? )?
    | [:;=][-o^']? (?: [)(\]\[}{|*/\\]+ | [DPpOoSs3] ) (?![%(word)s/]) | </?3+ (?![%(word)s]) | \^[_.-]?\^ | -_+-
    | [xX]D+ (?![%(word)s])
    | [#@] [%(letters)s_] [%(word)s_]*
    | (?:[A-Z\x82]\.)+ (?![%(word)s]) | (?:[%(letters)s]\.){2,} (?![%(word)s])
    | (?:%(titles)s) \. (?=[ ]+[^ ]) | (?i:%(abbreviated)s) \. (?=[ ]+[a-z0-9(]|[,;:)]) | (?i:nos?) \. (?=[ ]+[0-9])
    | (?i:c\+\+|c\#) (?![%(word)s]) | '(?i:tis|twas|em|cause|n'|[0-9]0s) (?![%(word)s])
    | [0-9]+ (?:[.,:/][0-9]+)+ [%(letters)s]* | [0-9]+ (?:'[0-9]+)+
    | [.]{2,} | [!?]+ | -{2,} | _{2,} | ={2,} | [*]{2,} | ~{2,} | \#{2,} | \+{2,}
    | [%(word)s_]+ (?: (?:'|[.](?=[a-z][%(word)s])|[-\x8d&](?=[%(letters)s])) [%(word)s_]+ )* (?:'(?=[ ]))?+
    | \xfe\xfe [%(marks)s]*
    | %(emoji)s [%(marks)s]* (?: (?<=\xff) %(emoji)s [%(marks)s]* )*
    | . [%(marks)s]*
    """
    % {
        b"in_address": _IN_ADDRESS,
        b"ends_address": _ENDS_ADDRESS,
        b"domains": _DOMAINS,
        b"titles": _TITLES,
        b"abbreviated": _ABBREVIATED,
        b"letters": _LETTERS,
        b"word": _WORD,
        b"marks": _MARKS,
        b"emoji": _bytes(EMOJI),
    },
    re.VERBOSE | re.DOTALL,
)


def rule_tokens(plain: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where the general rules end a token or a gap, ascending; the last is the end of the text. About linear time.

    >>> text = b"Mail a.b@c.de: 3,14 :-)"
    >>> ends = [0, *rule_tokens(np.frombuffer(text, np.uint8)).tolist()]
    >>> [text[i:j].decode() for i, j in zip(ends, ends[1:])]
    ['Mail', ' ', 'a.b@c.de', ':', ' ', '3,14', ' ', ':-)']
    """
    pieces = _TOKEN.findall(plain.tobytes())
    return np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)))
